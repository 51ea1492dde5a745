#include "environment.h"

#include "values.h"

#include <memory>

namespace moraine {

Environment *Environment::Create(napi_env env) {
	auto *environment = new Environment;
	napi_value name = nullptr;
	if (napi_create_string_utf8(env, "moraine-store", NAPI_AUTO_LENGTH, &name) != napi_ok ||
	    napi_create_threadsafe_function(env, nullptr, nullptr, name, 0, 1, nullptr, nullptr, nullptr, OnReported,
	                                    &environment->reports) != napi_ok) {
		delete environment;
		return nullptr;
	}
	napi_unref_threadsafe_function(env, environment->reports);
	napi_add_env_cleanup_hook(env, OnEnd, environment);
	return environment;
}

napi_value Environment::Promise(napi_env env, Operation &operation) {
	napi_value promise = nullptr;
	operation.promised = true;
	if (napi_create_promise(env, &operation.deferred, &promise) != napi_ok) {
		// A worker that is being terminated: no JavaScript will run that could wait for it.
		operation.deferred = nullptr;
		promise = nullptr;
	}
	if (pending++ == 0) {
		napi_ref_threadsafe_function(env, reports);
	}
	return promise;
}

void Environment::Report(Operation *operation) {
	bool delivered = false;
	{
		std::lock_guard<std::mutex> guard(mutex);
		delivered = !ended && napi_call_threadsafe_function(reports, operation, napi_tsfn_nonblocking) == napi_ok;
	}
	if (!delivered) {
		delete operation;
	}
}

void Environment::OnReported(napi_env env, napi_value, void *, void *data) {
	auto *operation = static_cast<Operation *>(data);
	if (env) {
		operation->environment.Settle(env, operation);
	} else {
		// The environment ends with the report still in its queue.
		delete operation;
	}
}

static void SettlePromise(napi_env env, Operation &operation) {
	if (operation.failure.Set()) {
		napi_reject_deferred(env, operation.deferred, MakeError(env, operation.failure));
		return;
	}
	napi_value result = operation.Result(env);
	if (result) {
		napi_resolve_deferred(env, operation.deferred, result);
		return;
	}
	napi_value thrown = nullptr;
	bool is_thrown = false;
	napi_is_exception_pending(env, &is_thrown);
	if (!is_thrown || napi_get_and_clear_last_exception(env, &thrown) != napi_ok) {
		thrown = MakeError(env, {"Limit", "", "memory"});
	}
	napi_reject_deferred(env, operation.deferred, thrown);
}

void Environment::Settle(napi_env env, Operation *reported) {
	std::unique_ptr<Operation> operation(reported);
	if (!operation->promised) {
		// Given up before anybody was promised anything.
		return;
	}
	if (operation->deferred) {
		SettlePromise(env, *operation);
	}
	if (--pending == 0) {
		napi_unref_threadsafe_function(env, reports);
	}
}

void Environment::OnEnd(void *self) {
	auto *environment = static_cast<Environment *>(self);
	{
		std::lock_guard<std::mutex> guard(environment->mutex);
		environment->ended = true;
	}
	napi_release_threadsafe_function(environment->reports, napi_tsfn_abort);
	environment->DropReference();
}

void Environment::AddReference() {
	references.fetch_add(1, std::memory_order_relaxed);
}

void Environment::DropReference() {
	if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
		delete this;
	}
}

} // namespace moraine
