// The addon: binds to the SlateDB library that the official binding has loaded, and exports the loops.
#define NAPI_VERSION 8

#include "environment.h"
#include "loops.h"
#include "uniffi.h"
#include "values.h"

#include <node_api.h>

#include <exception>
#include <string>

namespace moraine {

static bool TextArgument(napi_env env, napi_value value, std::string &text) {
	size_t length = 0;
	if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok) {
		return false;
	}
	text.resize(length);
	return napi_get_value_string_utf8(env, value, &text[0], length + 1, &length) == napi_ok;
}

static napi_value MakeText(napi_env env, const std::string &text) {
	napi_value value = nullptr;
	napi_create_string_utf8(env, text.data(), text.size(), &value);
	return value;
}

//! load(path of the library, name of a function that must be there too?): { loaded, futuresLeak } or
//! { loaded: false, reason, details }. Never throws for a library that does not fit.
static napi_value LoadCall(napi_env env, napi_callback_info info) {
	size_t count = 2;
	napi_value arguments[2];
	napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr);
	std::string path;
	if (count < 1 || !TextArgument(env, arguments[0], path)) {
		napi_throw_type_error(env, "MORAINE_NATIVE_ARGUMENT", "load: argument 1 is not a path");
		return nullptr;
	}
	napi_valuetype extra_type = napi_undefined;
	if (count > 1) {
		napi_typeof(env, arguments[1], &extra_type);
	}
	std::string extra;
	const bool has_extra = extra_type != napi_undefined;
	if (has_extra && !TextArgument(env, arguments[1], extra)) {
		napi_throw_type_error(env, "MORAINE_NATIVE_ARGUMENT", "load: argument 2 is not a name");
		return nullptr;
	}
	const LoadResult result = LoadApi(path.c_str(), has_extra ? extra.c_str() : nullptr);
	napi_value object = nullptr;
	napi_value value = nullptr;
	napi_create_object(env, &object);
	napi_get_boolean(env, result.ok, &value);
	napi_set_named_property(env, object, "loaded", value);
	if (result.ok) {
		napi_get_boolean(env, api.futures_leak, &value);
		napi_set_named_property(env, object, "futuresLeak", value);
		return object;
	}
	napi_set_named_property(env, object, "reason", MakeText(env, result.reason));
	napi_value details = nullptr;
	napi_create_array_with_length(env, result.details.size(), &details);
	for (size_t i = 0; i < result.details.size(); i++) {
		napi_set_element(env, details, static_cast<uint32_t>(i), MakeText(env, result.details[i]));
	}
	napi_set_named_property(env, object, "details", details);
	return object;
}

//! A function whose C++ exceptions (no memory for a copy of its arguments, no thread) become JavaScript's: what calls
//! it is C.
template <napi_callback FUNCTION> static napi_value Guarded(napi_env env, napi_callback_info info) {
	try {
		return FUNCTION(env, info);
	} catch (const std::exception &error) {
		napi_throw(env, MakeError(env, {"Limit", "", error.what()}));
		return nullptr;
	}
}

//! A loop, refused until the library is bound.
template <napi_callback LOOP> static napi_value Loop(napi_env env, napi_callback_info info) {
	if (!ApiLoaded()) {
		napi_throw_error(env, "MORAINE_NATIVE_NOT_LOADED", "load has not succeeded");
		return nullptr;
	}
	return Guarded<LOOP>(env, info);
}

} // namespace moraine

NAPI_MODULE_INIT() {
	using namespace moraine;
	Environment *environment = Environment::Create(env);
	if (!environment) {
		napi_throw_error(env, nullptr, "the addon could not be set up");
		return nullptr;
	}
	const struct {
		const char *name;
		napi_callback function;
	} functions[] = {
	    {"load", Guarded<LoadCall>},
	    {"getMany", Loop<GetManyCall>},
	    {"scan", Loop<ScanCall>},
	    {"scanNext", Loop<ScanNextCall>},
	    {"scanClose", Loop<ScanCloseCall>},
	    {"writeBegin", Loop<WriteBeginCall>},
	    {"writeAppend", Loop<WriteAppendCall>},
	    {"writeEnd", Loop<WriteEndCall>},
	    {"writeAbort", Loop<WriteAbortCall>},
	    {"flush", Loop<FlushCall>},
	    {"moveToTables", Loop<MoveToTablesCall>},
	    {"durableSequence", Loop<DurableSequenceCall>},
	    {"snapshot", Loop<SnapshotCall>},
	    {"releaseSnapshot", Loop<ReleaseSnapshotCall>},
	    {"shutdown", Loop<ShutdownCall>},
	    {"openFolder", Loop<OpenFolderCall>},
	    {"closeFolder", Loop<CloseFolderCall>},
	};
	for (const auto &each : functions) {
		napi_value function = nullptr;
		napi_create_function(env, each.name, NAPI_AUTO_LENGTH, each.function, environment, &function);
		napi_set_named_property(env, exports, each.name, function);
	}
	return exports;
}
