// write: applies a batch of packed entries. Batches of one database are applied in the order of their calls.
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

//! Entries of a batch, copied from JavaScript.
struct Chunk {
	std::vector<uint8_t> data;
	//! End of each key and each value, counted from `base`.
	std::vector<uint32_t> ends;
	uint32_t base;
};

//! A batch comes in chunks: the first are put into the library's batch while JavaScript still copies the next, and no
//! copy keeps the JavaScript thread for long.
class Write : public Operation {
public:
	//! Keeps a reference of its own to the database.
	Write(Environment &environment, uint64_t handle);
	~Write() override;

	//! JavaScript thread: begins, gives the next chunk, and says that there is none any more.
	void Start();
	void Append(Chunk chunk);
	void End();
	//! In place of `End`: nothing of the batch is to be applied.
	void Abort(const char *reason);

	void Run() override;
	void Resume(Slot &slot) override;
	napi_value Result(napi_env env) override;

	//! Whether it has everything but its turn. Guarded by the order's mutex.
	bool parked = false;

private:
	enum class Input { CHUNK, NONE_YET, ENDED };

	//! Fails the write where it has been aborted. The caller holds the input's mutex.
	void FailIfAborted();
	Input Take();
	//! Puts so many entries of the chunk into the library's batch. Returns whether all of them are there.
	bool Fill(uint32_t most);
	template <class CHANGE> void Give(CHANGE change);
	void Issue();
	void Complete();
	void Leave();

	const Reference db;
	//! Consumed when the batch is written.
	uint64_t batch;

	//! What JavaScript has given and the executor has not taken yet.
	std::mutex input_mutex;
	std::deque<Chunk> input;
	bool input_ended = false;
	bool starved = false;
	Failure input_failure;

	Chunk chunk;
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

Write::Write(Environment &environment_p, uint64_t handle)
    : Operation(environment_p, Executor::Next()), db(Readable::DB, handle), batch(NewBatch()) {
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

void Write::Append(Chunk next) {
	Give([&] { input.push_back(std::move(next)); });
}

void Write::End() {
	Give([&] { input_ended = true; });
}

void Write::Abort(const char *reason) {
	Give([&] {
		input_failure = {"Invalid", "", reason};
		input_ended = true;
		input.clear();
	});
}

//! Changes the input, and queues the operation where it waited for that; it may be gone when this returns.
template <class CHANGE> void Write::Give(CHANGE change) {
	bool was_starved;
	{
		std::lock_guard<std::mutex> guard(input_mutex);
		change();
		was_starved = starved;
		starved = false;
	}
	if (was_starved) {
		Queue();
	}
}

void Write::FailIfAborted() {
	if (input_failure.Set()) {
		Fail(input_failure);
	}
}

Write::Input Write::Take() {
	std::lock_guard<std::mutex> guard(input_mutex);
	FailIfAborted();
	if (!input.empty()) {
		chunk = std::move(input.front());
		input.pop_front();
		next_entry = 0;
		position = 0;
		return Input::CHUNK;
	}
	if (input_ended) {
		return Input::ENDED;
	}
	starved = true;
	return Input::NONE_YET;
}

bool Write::Fill(uint32_t most) {
	const size_t count = chunk.ends.size() / 2;
	const uint8_t *data = chunk.data.data();
	for (uint32_t put = 0; next_entry < count && put < most && !failure.Set(); put++, next_entry++) {
		const uint32_t key_end = chunk.ends[2 * next_entry] - chunk.base;
		const uint32_t value_end = chunk.ends[2 * next_entry + 1];
		RustCallStatus status;
		const uint64_t self = api.clone_batch(batch, &status);
		RustBuffer key = LowerBytes(data + position, key_end - position);
		if (value_end == DELETED) {
			api.batch_delete(self, key, &status);
			position = key_end;
		} else {
			api.batch_put(self, key, LowerBytes(data + key_end, value_end - chunk.base - key_end), &status);
			position = value_end - chunk.base;
		}
		if (status.code != 0) {
			Fail(TakeFailure(status));
		}
	}
	return next_entry == count || failure.Set();
}

void Write::Run() {
	{
		// Before each slice: nobody wants what is put into the batch of a write that was given up.
		std::lock_guard<std::mutex> guard(input_mutex);
		FailIfAborted();
	}
	if (!Fill(ENTRIES_A_SLICE)) {
		Queue();
		return;
	}
	switch (Take()) {
	case Input::CHUNK:
		Queue();
		break;
	case Input::NONE_YET:
		break;
	case Input::ENDED:
		chunk = Chunk();
		next_entry = 0;
		if (WriteOrder::Get().IsTurn(db.Handle(), this)) {
			Issue();
		}
		break;
	}
}

void Write::Issue() {
	if (failure.Set()) {
		Leave();
		return;
	}
	// One flag: whether to wait for durability, which a flush does for many writes.
	const std::string options(1, '\0');
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

static constexpr napi_type_tag INPUT_TAG = {0x6d6f7261696e6520, 0x7772697465000001};

//! The way to a batch for as long as JavaScript adds to it. The operation itself belongs to the executor.
struct BatchInput {
	Write *write = nullptr;
};

static void InputForgotten(napi_env, void *data, void *) {
	auto *input = static_cast<BatchInput *>(data);
	if (input->write) {
		input->write->Abort("the batch was not completed");
	}
	delete input;
}

//! Whether the chunk's ends lie in order and inside of its data.
static bool EntriesFit(const Chunk &chunk) {
	if (chunk.ends.size() % 2 != 0) {
		return false;
	}
	uint64_t position = chunk.base;
	for (size_t i = 0; i < chunk.ends.size(); i += 2) {
		const uint32_t key_end = chunk.ends[i];
		const uint32_t value_end = chunk.ends[i + 1];
		if (key_end < position || (value_end != DELETED && value_end < key_end)) {
			return false;
		}
		position = value_end == DELETED ? key_end : value_end;
	}
	return position - chunk.base <= chunk.data.size();
}

//! The input of a batch that is still open, or null with an error thrown.
static BatchInput *OpenInput(const Arguments &arguments) {
	void *pointer;
	if (!arguments.Own(0, INPUT_TAG, &pointer)) {
		return nullptr;
	}
	auto *input = static_cast<BatchInput *>(pointer);
	if (!input->write) {
		arguments.Refuse(0, "a batch that is still open");
		return nullptr;
	}
	return input;
}

//! writeBegin(db): the input of a batch, which takes its place behind the earlier ones of the same
//! database now.
napi_value WriteBeginCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "writeBegin");
	uint64_t handle;
	if (!arguments.Handle(0, handle)) {
		return nullptr;
	}
	auto write = std::make_unique<Write>(*arguments.environment, handle);
	auto input = std::make_unique<BatchInput>();
	napi_value external = nullptr;
	if (napi_create_external(env, input.get(), InputForgotten, nullptr, &external) != napi_ok) {
		return nullptr;
	}
	napi_type_tag_object(env, external, &INPUT_TAG);
	input.release()->write = write.get();
	write.release()->Start();
	return external;
}

//! writeAppend(input, data: Uint8Array, ends: Uint32Array, base): copies entries. Entry i has its key up to ends[2i]
//! and its value up to ends[2i + 1], which is 0xffffffff where the key is deleted; ends count from `base`, where the
//! data begins.
napi_value WriteAppendCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "writeAppend");
	ByteView data;
	WordView ends;
	uint32_t base;
	BatchInput *input = OpenInput(arguments);
	if (!input || !arguments.Bytes(1, data) || !arguments.Words(2, ends) || !arguments.Number(3, base)) {
		return nullptr;
	}
	// Copied before they are checked: another thread may change what lies in shared memory.
	Chunk chunk;
	chunk.data = data.Copy();
	chunk.ends = ends.Copy();
	chunk.base = base;
	if (!EntriesFit(chunk)) {
		arguments.Refuse(2, "a list of ends that fit the data");
		return nullptr;
	}
	input->write->Append(std::move(chunk));
	return nullptr;
}

//! writeEnd(input): a promise of the batch's sequence number.
napi_value WriteEndCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "writeEnd");
	BatchInput *input = OpenInput(arguments);
	if (!input) {
		return nullptr;
	}
	napi_value promise = arguments.environment->Promise(env, *input->write);
	input->write->End();
	input->write = nullptr;
	return promise;
}

//! writeAbort(input): nothing of the batch is applied.
napi_value WriteAbortCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "writeAbort");
	BatchInput *input = OpenInput(arguments);
	if (input) {
		input->write->Abort("the batch was given up");
		input->write = nullptr;
	}
	return nullptr;
}

} // namespace moraine
