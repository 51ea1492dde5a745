// The JavaScript environment (main thread or worker) that an operation belongs to, and the way back to it.
#pragma once

#include "operation.h"

#include <node_api.h>

#include <atomic>
#include <mutex>

namespace moraine {

//! Outlives its JavaScript environment until the last operation is gone: one whose environment has ended is dropped
//! when it finishes.
class Environment {
public:
	//! Made when the addon is loaded into an environment; ends with it.
	static Environment *Create(napi_env env);

	//! A promise for the operation, which is under way or about to be queued; null where the environment ends. The
	//! process stays alive until it is settled.
	napi_value Promise(napi_env env, Operation &operation);
	//! Hands a finished operation to the JavaScript thread; any thread.
	void Report(Operation *operation);

	void AddReference();
	void DropReference();

private:
	Environment() = default;
	static void OnReported(napi_env env, napi_value callback, void *context, void *data);
	static void OnEnd(void *self);
	void Settle(napi_env env, Operation *operation);

	std::mutex mutex;
	bool ended = false;
	napi_threadsafe_function reports = nullptr;
	//! JavaScript thread only.
	uint32_t pending = 0;
	std::atomic<uint32_t> references {1};
};

} // namespace moraine
