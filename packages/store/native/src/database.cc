// Calls of a whole database. flush, snapshot and status come with every commit, so that they must neither leak nor cost
// the main thread much; moving memory to tables and shutting down take long, and a worker may end meanwhile.
#include "loops.h"

#include "environment.h"
#include "held_snapshot.h"
#include "operation.h"
#include "reference.h"
#include "rust_buffer.h"
#include "values.h"

#include <memory>
#include <string>

namespace moraine {

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

//! A call that gives nothing but its end.
class VoidCall final : public SingleCall {
public:
	//! Consumes the reference.
	using BeginFunction = uint64_t (*)(uint64_t self);

	VoidCall(Environment &environment_p, Readable kind, uint64_t handle, BeginFunction begin_p)
	    : SingleCall(environment_p, api.void_future), self(kind, handle), begin(begin_p) {
	}
	napi_value Result(napi_env env) override {
		napi_value undefined = nullptr;
		napi_get_undefined(env, &undefined);
		return undefined;
	}

private:
	uint64_t Begin() override {
		return begin(self.Release());
	}
	void Complete(uint64_t future, RustCallStatus &status) override {
		api.complete_void(future, &status);
	}

	Reference self;
	const BeginFunction begin;
};

static void SnapshotForgotten(napi_env, void *data, void *) {
	delete static_cast<HeldSnapshot *>(data);
}

class TakeSnapshot final : public SingleCall {
public:
	TakeSnapshot(Environment &environment_p, uint64_t handle)
	    : SingleCall(environment_p, api.handle_future), db(Readable::DB, handle),
	      snapshot(std::make_unique<HeldSnapshot>()) {
	}
	napi_value Result(napi_env env) override {
		napi_value external = nullptr;
		if (napi_create_external(env, snapshot.get(), SnapshotForgotten, nullptr, &external) != napi_ok) {
			return nullptr;
		}
		snapshot.release();
		// One without its tag is refused by the other functions, and released as one that is forgotten.
		napi_type_tag_object(env, external, &SNAPSHOT_TAG);
		return external;
	}

private:
	uint64_t Begin() override {
		return api.db_snapshot(db.Release());
	}
	void Complete(uint64_t future, RustCallStatus &status) override {
		const uint64_t handle = api.complete_handle(future, &status);
		if (status.code == 0) {
			snapshot->Hold(handle);
		}
	}

	//! Consumed by the call.
	Reference db;
	//! Nobody's but ours until it is handed to JavaScript.
	std::unique_ptr<HeldSnapshot> snapshot;
};

static napi_value Start(napi_env env, std::unique_ptr<Operation> operation) {
	napi_value promise = operation->environment.Promise(env, *operation);
	operation.release()->Queue();
	return promise;
}

static napi_value StartOfDb(napi_env env, napi_callback_info info, const char *name, VoidCall::BeginFunction begin) {
	Arguments arguments(env, info, name);
	uint64_t handle;
	if (!arguments.Handle(0, handle)) {
		return nullptr;
	}
	return Start(env, std::make_unique<VoidCall>(*arguments.environment, Readable::DB, handle, begin));
}

//! flush(db): a promise that is settled when what was written before is durable.
napi_value FlushCall(napi_env env, napi_callback_info info) {
	return StartOfDb(env, info, "flush", api.db_flush);
}

//! moveToTables(db): a promise that is settled when what is in memory lies in tables.
napi_value MoveToTablesCall(napi_env env, napi_callback_info info) {
	return StartOfDb(env, info, "moveToTables", [](uint64_t db) {
		// Options are one number of 32 bits, the type of the flush.
		return api.db_flush_with_options(db, LowerRecord(std::string("\0\0\0\1", 4)));
	});
}

//! shutdown(kind, handle): a promise that is settled when the database or the reader has ended. Not of a snapshot.
napi_value ShutdownCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "shutdown");
	Readable kind;
	uint64_t handle;
	if (!arguments.Source(0, kind, handle)) {
		return nullptr;
	}
	if (kind == Readable::SNAPSHOT) {
		arguments.Refuse(0, "a kind that can be shut down");
		return nullptr;
	}
	return Start(env, std::make_unique<VoidCall>(*arguments.environment, kind, handle,
	                                             kind == Readable::DB ? api.db_shutdown : api.reader_shutdown));
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

//! snapshot(db): a promise of a snapshot, which `releaseSnapshot` ends; forgetting it does too, late.
napi_value SnapshotCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "snapshot");
	uint64_t handle;
	if (!arguments.Handle(0, handle)) {
		return nullptr;
	}
	return Start(env, std::make_unique<TakeSnapshot>(*arguments.environment, handle));
}

//! releaseSnapshot(snapshot). Calls that read from it go on; releasing it again does nothing.
napi_value ReleaseSnapshotCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "releaseSnapshot");
	void *pointer;
	if (arguments.Own(0, SNAPSHOT_TAG, &pointer)) {
		static_cast<HeldSnapshot *>(pointer)->Release();
	}
	return nullptr;
}

} // namespace moraine
