#include "values.h"

#include "held_snapshot.h"

#include <cstdio>

namespace moraine {

//! From here on an ArrayBuffer takes the memory over. Below, what its finalizer costs is more than a copy.
static constexpr size_t HANDED_OVER_BYTES = 64 * 1024;

Arguments::Arguments(napi_env env_p, napi_callback_info info, const char *function_p)
    : env(env_p), function(function_p) {
	void *data = nullptr;
	if (napi_get_cb_info(env, info, &count, values, nullptr, &data) != napi_ok) {
		count = 0;
	}
	environment = static_cast<Environment *>(data);
}

bool Arguments::Refuse(size_t at, const char *expected) const {
	char message[160];
	snprintf(message, sizeof(message), "%s: argument %zu is not %s", function, at + 1, expected);
	napi_throw_type_error(env, "MORAINE_NATIVE_ARGUMENT", message);
	return false;
}

bool Arguments::Bytes(size_t at, ByteView &view) const {
	napi_typedarray_type type = napi_int8_array;
	void *data = nullptr;
	if (at >= count ||
	    napi_get_typedarray_info(env, values[at], &type, &view.length, &data, nullptr, nullptr) != napi_ok ||
	    type != napi_uint8_array) {
		return Refuse(at, "a Uint8Array");
	}
	view.data = static_cast<const uint8_t *>(data);
	return true;
}

bool Arguments::Words(size_t at, WordView &view) const {
	napi_typedarray_type type = napi_int8_array;
	void *data = nullptr;
	if (at >= count ||
	    napi_get_typedarray_info(env, values[at], &type, &view.length, &data, nullptr, nullptr) != napi_ok ||
	    type != napi_uint32_array) {
		return Refuse(at, "a Uint32Array");
	}
	view.data = static_cast<const uint32_t *>(data);
	return true;
}

bool Arguments::Number(size_t at, uint32_t &number) const {
	double value;
	if (at >= count || napi_get_value_double(env, values[at], &value) != napi_ok || !(value >= 0) ||
	    value > static_cast<double>(UINT32_MAX) || value != static_cast<double>(static_cast<uint32_t>(value))) {
		return Refuse(at, "a whole number of 32 bits");
	}
	number = static_cast<uint32_t>(value);
	return true;
}

bool Arguments::Source(size_t at, Readable &kind, uint64_t &handle) const {
	uint32_t number = 0;
	if (!Number(at, number)) {
		return false;
	}
	if (number >= READABLE_COUNT) {
		return Refuse(at, "a kind of readable");
	}
	kind = static_cast<Readable>(number);
	if (kind != Readable::SNAPSHOT) {
		return Handle(at + 1, handle);
	}
	void *pointer = nullptr;
	if (!Own(at + 1, SNAPSHOT_TAG, &pointer)) {
		return false;
	}
	handle = static_cast<HeldSnapshot *>(pointer)->Handle();
	return handle != 0 || Refuse(at + 1, "a snapshot that has not been released");
}

bool Arguments::Handle(size_t at, uint64_t &handle) const {
	napi_valuetype type = napi_undefined;
	handle = 0;
	if (at < count && napi_typeof(env, values[at], &type) == napi_ok) {
		if (type == napi_bigint) {
			bool lossless = false;
			if (napi_get_value_bigint_uint64(env, values[at], &handle, &lossless) != napi_ok || !lossless) {
				handle = 0;
			}
		} else if (type == napi_external) {
			void *pointer = nullptr;
			if (napi_get_value_external(env, values[at], &pointer) == napi_ok) {
				handle = reinterpret_cast<uint64_t>(pointer);
			}
		}
	}
	return handle != 0 || Refuse(at, "a handle");
}

bool Arguments::Own(size_t at, const napi_type_tag &tag, void **pointer) const {
	bool is_ours = false;
	napi_valuetype type = napi_undefined;
	if (at >= count || napi_typeof(env, values[at], &type) != napi_ok || type != napi_external ||
	    napi_check_object_type_tag(env, values[at], &tag, &is_ours) != napi_ok || !is_ours ||
	    napi_get_value_external(env, values[at], pointer) != napi_ok) {
		return Refuse(at, "an object of this addon");
	}
	return true;
}

static void SetText(napi_env env, napi_value object, const char *name, const std::string &text) {
	napi_value value = nullptr;
	if (napi_create_string_utf8(env, text.data(), text.size(), &value) == napi_ok) {
		napi_set_named_property(env, object, name, value);
	}
}

napi_value MakeError(napi_env env, const Failure &failure) {
	napi_value message = nullptr;
	napi_value error = nullptr;
	if (napi_create_string_utf8(env, failure.message.data(), failure.message.size(), &message) != napi_ok ||
	    napi_create_error(env, nullptr, message, &error) != napi_ok) {
		return nullptr;
	}
	SetText(env, error, "tag", failure.tag);
	SetText(env, error, "reason", failure.reason);
	return error;
}

static void FreeHandedOver(napi_env, void *data, void *) {
	free(data);
}

napi_value TakeBuffer(napi_env env, Arena &arena) {
	const size_t size = arena.Size();
	napi_value buffer = nullptr;
	if (size >= HANDED_OVER_BYTES) {
		uint8_t *bytes = arena.Data();
		const napi_status status = napi_create_external_arraybuffer(env, bytes, size, FreeHandedOver, nullptr, &buffer);
		if (status == napi_ok) {
			arena.Release();
			return buffer;
		}
		if (status != napi_no_external_buffers_allowed) {
			// Refused before it was looked at, where no JavaScript may run any more: the memory is still ours. Where
			// it was taken and could not be made an object of, the finalizer frees it.
			if (status != napi_pending_exception) {
				arena.Release();
			}
			return nullptr;
		}
		// A runtime that keeps all of its memory in one place takes no memory of ours.
	}
	void *copy = nullptr;
	if (napi_create_arraybuffer(env, size, &copy, &buffer) != napi_ok) {
		return nullptr;
	}
	if (size > 0) {
		memcpy(copy, arena.Data(), size);
	}
	return buffer;
}

} // namespace moraine
