// write: applies a packed batch. Batches of one database are applied in the order of their calls.
#include "loops.h"

#include "environment.h"
#include "operation.h"
#include "reference.h"
#include "rust_buffer.h"
#include "values.h"

#include <deque>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace moraine {

//! In place of the end of a value: the key is deleted.
static constexpr uint32_t DELETED = 0xffffffff;
//! Entries that are put into the library's batch in one slice of work, so that operations beside this one get theirs.
static constexpr uint32_t ENTRIES_A_SLICE = 1024;

class Write;

//! The writes of each database in the order of their calls. One is given to the library when the one before it has been
//! applied or has failed.
class WriteOrder {
public:
	static WriteOrder &Get() {
		// Never destroyed: operations may end after the process has begun to.
		static auto *order = new WriteOrder;
		return *order;
	}

	//! Takes the place behind the writes of the same database that there are.
	void Enter(uint64_t db, Write *write);
	//! Whether it is the write's turn. If not, the write is queued once when it is.
	bool IsTurn(uint64_t db, Write *write);
	//! Gives up the place of the write whose turn it is.
	void Leave(uint64_t db);

private:
	std::mutex mutex;
	std::unordered_map<uint64_t, std::deque<Write *>> writes;
};

class Write : public Operation {
public:
	//! Keeps a reference of its own to the database.
	Write(Environment &environment, uint64_t handle, std::vector<uint8_t> data, std::vector<uint32_t> ends,
	      bool await_durable);
	~Write() override;

	void Start();
	void Run() override;
	void Resume(Slot &slot) override;
	napi_value Result(napi_env env) override;

	//! Whether it has everything but its turn. Guarded by the order's mutex.
	bool parked = false;

private:
	//! Puts so many entries into the library's batch. Returns whether all of them are there.
	bool Fill(uint32_t most);
	void Issue();
	void Complete();
	void Leave();

	const Reference db;
	const bool await_durable;
	const std::vector<uint8_t> data;
	const std::vector<uint32_t> ends;
	//! Consumed when the batch is written.
	uint64_t batch;
	size_t next_entry = 0;
	uint32_t position = 0;
	Slot slot;
	uint64_t sequence = 0;
};

void WriteOrder::Enter(uint64_t db, Write *write) {
	std::lock_guard<std::mutex> guard(mutex);
	writes[db].push_back(write);
}

bool WriteOrder::IsTurn(uint64_t db, Write *write) {
	std::lock_guard<std::mutex> guard(mutex);
	write->parked = writes[db].front() != write;
	return !write->parked;
}

void WriteOrder::Leave(uint64_t db) {
	std::lock_guard<std::mutex> guard(mutex);
	auto found = writes.find(db);
	found->second.pop_front();
	if (found->second.empty()) {
		writes.erase(found);
		return;
	}
	Write *next = found->second.front();
	if (next->parked) {
		next->parked = false;
		next->Queue();
	}
}

static uint64_t NewBatch() {
	RustCallStatus status;
	return api.batch_new(&status);
}

Write::Write(Environment &environment_p, uint64_t handle, std::vector<uint8_t> data_p, std::vector<uint32_t> ends_p,
             bool await_durable_p)
    : Operation(environment_p, Executor::Next()), db(Readable::DB, handle), await_durable(await_durable_p),
      data(std::move(data_p)), ends(std::move(ends_p)), batch(NewBatch()) {
	slot.operation = this;
}

Write::~Write() {
	if (batch != 0) {
		RustCallStatus status;
		api.free_batch(batch, &status);
	}
}

void Write::Start() {
	WriteOrder::Get().Enter(db.Handle(), this);
	Queue();
}

bool Write::Fill(uint32_t most) {
	const size_t count = ends.size() / 2;
	for (uint32_t put = 0; next_entry < count && put < most && !failure.Set(); put++, next_entry++) {
		const uint32_t key_end = ends[2 * next_entry];
		const uint32_t value_end = ends[2 * next_entry + 1];
		RustCallStatus status;
		const uint64_t self = api.clone_batch(batch, &status);
		RustBuffer key = LowerBytes(data.data() + position, key_end - position);
		if (value_end == DELETED) {
			api.batch_delete(self, key, &status);
			position = key_end;
		} else {
			api.batch_put(self, key, LowerBytes(data.data() + key_end, value_end - key_end), &status);
			position = value_end;
		}
		if (status.code != 0) {
			Fail(TakeFailure(status));
		}
	}
	return next_entry == count || failure.Set();
}

void Write::Run() {
	if (!Fill(ENTRIES_A_SLICE)) {
		Queue();
	} else if (WriteOrder::Get().IsTurn(db.Handle(), this)) {
		Issue();
	}
}

void Write::Issue() {
	if (failure.Set()) {
		Leave();
		return;
	}
	const std::string options(1, await_durable ? '\1' : '\0');
	slot.future = api.db_write(db.Clone(), batch, LowerRecord(options));
	batch = 0; // consumed
	if (PollSlot(slot, api.buffer_future) == Poll::READY) {
		Complete();
	}
}

void Write::Resume(Slot &) {
	if (PollSlot(slot, api.buffer_future) == Poll::READY) {
		Complete();
	}
}

//! A write gives its sequence number, and its time.
void Write::Complete() {
	RustCallStatus status;
	RustBuffer written = api.complete_buffer(slot.future, &status);
	FreeFuture(api.buffer_future, slot.future);
	if (status.code != 0) {
		Fail(TakeFailure(status));
	} else {
		sequence = ReadU64(written.data);
		FreeBuffer(written);
	}
	Leave();
}

void Write::Leave() {
	WriteOrder::Get().Leave(db.Handle());
	Finish();
}

napi_value Write::Result(napi_env env) {
	napi_value result = nullptr;
	napi_create_bigint_uint64(env, sequence, &result);
	return result;
}

static bool EntriesFit(const std::vector<uint8_t> &data, const std::vector<uint32_t> &ends) {
	if (ends.empty() || ends.size() % 2 != 0) {
		return false;
	}
	uint32_t position = 0;
	for (size_t i = 0; i < ends.size(); i += 2) {
		const uint32_t key_end = ends[i];
		const uint32_t value_end = ends[i + 1];
		if (key_end < position || (value_end != DELETED && value_end < key_end)) {
			return false;
		}
		position = value_end == DELETED ? key_end : value_end;
	}
	return position <= data.size();
}

//! write(db, data: Uint8Array, ends: Uint32Array, awaitDurable): a promise of the batch's sequence number. Entry i has
//! its key up to ends[2i] and its value up to ends[2i + 1], which is 0xffffffff where the key is deleted.
napi_value WriteCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "write");
	uint64_t handle;
	ByteView data;
	WordView ends;
	bool await_durable;
	if (!arguments.Handle(0, handle) || !arguments.Bytes(1, data) || !arguments.Words(2, ends) ||
	    !arguments.Flag(3, await_durable)) {
		return nullptr;
	}
	// Copied before they are checked: another thread may change what lies in shared memory.
	std::vector<uint8_t> entry_bytes = data.Copy();
	std::vector<uint32_t> entry_ends = ends.Copy();
	if (!EntriesFit(entry_bytes, entry_ends)) {
		arguments.Refuse(2, "a list of ends that fit the data");
		return nullptr;
	}
	auto operation = std::make_unique<Write>(*arguments.environment, handle, std::move(entry_bytes),
	                                         std::move(entry_ends), await_durable);
	napi_value promise = arguments.environment->Promise(env, *operation);
	operation.release()->Start();
	return promise;
}

} // namespace moraine
