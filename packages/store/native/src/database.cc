// flush, snapshot and status: calls that come with every commit, so that they must neither leak nor cost the main
// thread much.
#include "loops.h"

#include "environment.h"
#include "operation.h"
#include "reference.h"
#include "rust_buffer.h"
#include "values.h"

#include <memory>

namespace moraine {

static constexpr uint32_t SNAPSHOT = static_cast<uint32_t>(Readable::SNAPSHOT);

//! A call of one future.
class SingleCall : public Operation {
public:
	SingleCall(Environment &environment_p, const FutureApi &type_p)
	    : Operation(environment_p, Executor::Next()), type(type_p) {
		slot.operation = this;
	}

	void Run() override {
		slot.future = Begin();
		Resume(slot);
	}
	void Resume(Slot &) override {
		if (PollSlot(slot, type) == Poll::READY) {
			RustCallStatus status;
			Complete(slot.future, status);
			FreeFuture(type, slot.future);
			if (status.code != 0) {
				Fail(TakeFailure(status));
			}
			Finish();
		}
	}

private:
	virtual uint64_t Begin() = 0;
	virtual void Complete(uint64_t future, RustCallStatus &status) = 0;

	const FutureApi &type;
	Slot slot;
};

class Flush final : public SingleCall {
public:
	Flush(Environment &environment_p, uint64_t handle)
	    : SingleCall(environment_p, api.void_future), db(Readable::DB, handle) {
	}
	napi_value Result(napi_env env) override {
		napi_value undefined = nullptr;
		napi_get_undefined(env, &undefined);
		return undefined;
	}

private:
	uint64_t Begin() override {
		return api.db_flush(db.Release());
	}
	void Complete(uint64_t future, RustCallStatus &status) override {
		api.complete_void(future, &status);
	}

	//! Consumed by the call.
	Reference db;
};

class TakeSnapshot final : public SingleCall {
public:
	TakeSnapshot(Environment &environment_p, uint64_t handle)
	    : SingleCall(environment_p, api.handle_future), db(Readable::DB, handle) {
	}
	~TakeSnapshot() override {
		if (snapshot != 0) {
			RustCallStatus status;
			api.free[SNAPSHOT](snapshot, &status);
		}
	}
	napi_value Result(napi_env env) override {
		napi_value handle = nullptr;
		if (napi_create_bigint_uint64(env, snapshot, &handle) == napi_ok) {
			snapshot = 0;
		}
		return handle;
	}

private:
	uint64_t Begin() override {
		return api.db_snapshot(db.Release());
	}
	void Complete(uint64_t future, RustCallStatus &status) override {
		snapshot = api.complete_handle(future, &status);
	}

	//! Consumed by the call.
	Reference db;
	//! Nobody's but ours until it is handed to JavaScript.
	uint64_t snapshot = 0;
};

template <class CALL> static napi_value StartCall(napi_env env, napi_callback_info info, const char *name) {
	Arguments arguments(env, info, name);
	uint64_t handle;
	if (!arguments.Handle(0, handle)) {
		return nullptr;
	}
	auto operation = std::make_unique<CALL>(*arguments.environment, handle);
	napi_value promise = arguments.environment->Promise(env, *operation);
	operation.release()->Queue();
	return promise;
}

//! flush(db): a promise that is settled when what was written before is durable.
napi_value FlushCall(napi_env env, napi_callback_info info) {
	return StartCall<Flush>(env, info, "flush");
}

//! durableSequence(db): the sequence number up to which everything is durable. The library's status has it first.
napi_value DurableSequenceCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "durableSequence");
	uint64_t handle;
	if (!arguments.Handle(0, handle)) {
		return nullptr;
	}
	Reference db(Readable::DB, handle);
	RustCallStatus status;
	RustBuffer record = api.db_status(db.Release(), &status);
	if (status.code != 0) {
		napi_throw(env, MakeError(env, TakeFailure(status)));
		return nullptr;
	}
	const uint64_t sequence = ReadU64(record.data);
	FreeBuffer(record);
	napi_value result = nullptr;
	napi_create_bigint_uint64(env, sequence, &result);
	return result;
}

//! snapshot(db): a promise of the handle of a snapshot. Give it back with `releaseSnapshot`, once.
napi_value SnapshotCall(napi_env env, napi_callback_info info) {
	return StartCall<TakeSnapshot>(env, info, "snapshot");
}

//! releaseSnapshot(handle). Calls that read from it go on.
napi_value ReleaseSnapshotCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "releaseSnapshot");
	uint64_t handle;
	if (arguments.Handle(0, handle)) {
		RustCallStatus status;
		api.free[SNAPSHOT](handle, &status);
	}
	return nullptr;
}

} // namespace moraine
