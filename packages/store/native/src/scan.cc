// scan: the rows of a key range in blocks. A cursor holds the library's iterator from block to block.
#include "loops.h"

#include "arena.h"
#include "environment.h"
#include "operation.h"
#include "reference.h"
#include "rust_buffer.h"
#include "values.h"

#include <atomic>
#include <memory>
#include <new>
#include <string>
#include <vector>

namespace moraine {

//! Rows that are read in one slice of work, so that operations beside this one get theirs.
static constexpr uint32_t ROWS_A_SLICE = 256;
static constexpr uint32_t ROWS_A_RESUME = 64;
//! Ends are of 32 bits, and an ArrayBuffer of more bytes is refused.
static constexpr size_t MOST_BLOCK_BYTES = 0xfffffff0;

//! Padding and three numbers.
static constexpr size_t TRAILER_BYTES = 4 * sizeof(uint32_t);

static constexpr napi_type_tag CURSOR_TAG = {0x6d6f7261696e6520, 0x637572736f720001};

//! A scan between two blocks. Shared by JavaScript, which closes it or forgets it, and the block that is being read.
class Cursor {
public:
	Cursor(Readable kind, uint64_t handle, const ByteView &range_p, const ByteView &options_p)
	    : range(reinterpret_cast<const char *>(range_p.data), range_p.length),
	      options(reinterpret_cast<const char *>(options_p.data), options_p.length), self(kind, handle) {
	}

	//! The future of the library's iterator; consumes the reference to what is read.
	uint64_t Open() {
		return api.scan[self.Kind()](self.Release(), LowerRecord(range), LowerRecord(options));
	}

	uint64_t Next() const {
		RustCallStatus status;
		return api.iterator_next(api.clone_iterator(iterator, &status));
	}

	void AddReference() {
		references.fetch_add(1, std::memory_order_relaxed);
	}
	void DropReference() {
		if (references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
			delete this;
		}
	}

	//! Ends the scan as soon as no block is being read. JavaScript thread, like `busy` and `closed`.
	void Close() {
		closed = true;
		if (!busy) {
			FreeIterator();
		}
	}
	//! A scan that has failed cannot go on.
	void BlockRead(bool failed) {
		busy = false;
		closed = closed || failed;
		if (closed) {
			FreeIterator();
		}
	}

	//! Set by the first block, which opens the scan.
	uint64_t iterator = 0;
	//! A block is being read.
	bool busy = false;
	bool closed = false;

private:
	~Cursor() {
		FreeIterator();
	}

	void FreeIterator() {
		self.Free();
		if (iterator != 0) {
			RustCallStatus status;
			api.free_iterator(iterator, &status);
			iterator = 0;
		}
	}

	const std::string range;
	const std::string options;
	//! Consumed when the scan is opened.
	Reference self;
	std::atomic<uint32_t> references {1};
};

//! Reads one block of a scan.
class ReadBlock : public Operation {
public:
	ReadBlock(Environment &environment, Cursor &cursor, uint32_t most_rows, uint32_t most_bytes);
	~ReadBlock() override;

	//! Reads on the calling thread until it has to wait or has read so many rows. Returns whether the block is
	//! complete; otherwise the rest goes to the executor.
	bool RunInline(uint32_t rows);
	void Run() override;
	void Resume(Slot &slot) override;
	napi_value Result(napi_env env) override;

private:
	enum class Step { MORE, COMPLETE, WAITS };

	//! Polls the next future once.
	Step Advance();
	void Continue(uint32_t most);
	void Complete();
	void Opened();
	void KeepRow();
	void Keep(const uint8_t *key, uint32_t key_length, const uint8_t *value, uint32_t value_length);
	bool BlockFull() const;
	//! Appends the ends of keys and values, their count and whether the scan has ended.
	void Seal();

	Cursor &cursor;
	const uint32_t most_rows;
	const uint32_t most_bytes;
	Slot slot;
	bool opening = false;
	bool ended = false;
	std::vector<uint32_t> ends;
	Arena result;
};

ReadBlock::ReadBlock(Environment &environment_p, Cursor &cursor_p, uint32_t most_rows_p, uint32_t most_bytes_p)
    : Operation(environment_p, Executor::Next()), cursor(cursor_p), most_rows(most_rows_p), most_bytes(most_bytes_p) {
	slot.operation = this;
	cursor.AddReference();
	cursor.busy = true;
}

//! On the JavaScript thread, unless that has ended; then nobody else looks at the cursor any more.
ReadBlock::~ReadBlock() {
	cursor.BlockRead(failure.Set());
	cursor.DropReference();
}

bool ReadBlock::BlockFull() const {
	return failure.Set() || ended ||
	       (cursor.iterator != 0 && (ends.size() / 2 >= most_rows || result.Size() >= most_bytes));
}

ReadBlock::Step ReadBlock::Advance() {
	if (BlockFull()) {
		return Step::COMPLETE;
	}
	opening = cursor.iterator == 0;
	slot.future = opening ? cursor.Open() : cursor.Next();
	if (PollSlot(slot, opening ? api.handle_future : api.buffer_future) == Poll::PENDING) {
		return Step::WAITS;
	}
	Complete();
	return Step::MORE;
}

void ReadBlock::Complete() {
	if (opening) {
		Opened();
	} else {
		KeepRow();
	}
}

void ReadBlock::Opened() {
	RustCallStatus status;
	const uint64_t iterator = api.complete_handle(slot.future, &status);
	FreeFuture(api.handle_future, slot.future);
	if (status.code != 0) {
		Fail(TakeFailure(status));
		return;
	}
	cursor.iterator = iterator;
}

//! A row is an optional record of key and value, with the sequence number and times after them.
void ReadBlock::KeepRow() {
	RustCallStatus status;
	RustBuffer row = api.complete_buffer(slot.future, &status);
	FreeFuture(api.buffer_future, slot.future);
	if (status.code != 0) {
		Fail(TakeFailure(status));
		return;
	}
	if (row.data[0] == 0) {
		ended = true;
	} else {
		const uint32_t key_length = ReadU32(row.data + 1);
		const uint8_t *value = row.data + 5 + key_length;
		const uint32_t value_length = ReadU32(value);
		Keep(row.data + 5, key_length, value + 4, value_length);
	}
	FreeBuffer(row);
}

void ReadBlock::Keep(const uint8_t *key, uint32_t key_length, const uint8_t *value, uint32_t value_length) {
	const size_t index = (ends.size() + 2) * sizeof(uint32_t) + TRAILER_BYTES;
	if (result.Size() + key_length + value_length + index > MOST_BLOCK_BYTES) {
		Fail({"Limit", "", "rows"});
		return;
	}
	try {
		result.Add(key, key_length);
		ends.push_back(static_cast<uint32_t>(result.Size()));
		result.Add(value, value_length);
		ends.push_back(static_cast<uint32_t>(result.Size()));
	} catch (const std::bad_alloc &) {
		Fail({"Limit", "", "memory"});
	}
}

bool ReadBlock::RunInline(uint32_t rows) {
	// One more for opening the scan, and one for its end.
	for (uint64_t polled = 0; polled < static_cast<uint64_t>(rows) + 2; polled++) {
		const Step step = Advance();
		if (step == Step::COMPLETE) {
			Seal();
			return true;
		}
		if (step == Step::WAITS) {
			// From this moment on everything of this operation is the executor's.
			return false;
		}
	}
	Queue();
	return false;
}

void ReadBlock::Run() {
	Continue(ROWS_A_SLICE);
}

void ReadBlock::Resume(Slot &) {
	if (PollSlot(slot, opening ? api.handle_future : api.buffer_future) == Poll::READY) {
		Complete();
		Continue(ROWS_A_RESUME);
	}
}

void ReadBlock::Continue(uint32_t most) {
	for (uint32_t read = 0; read < most; read++) {
		const Step step = Advance();
		if (step == Step::WAITS) {
			return;
		}
		if (step == Step::COMPLETE) {
			Seal();
			Finish();
			return;
		}
	}
	Queue();
}

void ReadBlock::Seal() {
	if (failure.Set()) {
		return;
	}
	try {
		const size_t bytes = result.Size();
		const uint32_t trailer[] = {static_cast<uint32_t>(bytes), static_cast<uint32_t>(ends.size() / 2),
		                            ended ? 1u : 0u};
		result.Grow((sizeof(uint32_t) - bytes % sizeof(uint32_t)) % sizeof(uint32_t));
		result.Add(reinterpret_cast<const uint8_t *>(ends.data()), ends.size() * sizeof(uint32_t));
		result.Add(reinterpret_cast<const uint8_t *>(trailer), sizeof(trailer));
	} catch (const std::bad_alloc &) {
		Fail({"Limit", "", "memory"});
	}
}

napi_value ReadBlock::Result(napi_env env) {
	return TakeBuffer(env, result);
}

static void CursorForgotten(napi_env, void *data, void *) {
	static_cast<Cursor *>(data)->DropReference();
}

//! scan(kind, handle, range: Uint8Array, options: Uint8Array): a cursor. Range and options are the library's own
//! records.
napi_value ScanCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "scan");
	Readable kind;
	uint64_t handle;
	ByteView range;
	ByteView options;
	if (!arguments.Source(0, kind, handle) || !arguments.Bytes(2, range) || !arguments.Bytes(3, options)) {
		return nullptr;
	}
	auto *cursor = new Cursor(kind, handle, range, options);
	napi_value external = nullptr;
	if (napi_create_external(env, cursor, CursorForgotten, nullptr, &external) != napi_ok) {
		cursor->DropReference();
		return nullptr;
	}
	// One without its tag is refused by the other functions, and dropped as one that is forgotten.
	napi_type_tag_object(env, external, &CURSOR_TAG);
	return external;
}

//! scanNext(cursor, mostRows, mostBytes, inlineRows): an ArrayBuffer, or a promise of one where something has to be
//! waited for. It holds keys and values back to back, padding to 4 bytes, the end of each key and value, then three
//! numbers: how many bytes there are before the padding, how many rows, and 1 where the scan has ended. Numbers are of
//! 32 bits, in the machine's order.
napi_value ScanNextCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "scanNext");
	void *pointer;
	uint32_t most_rows;
	uint32_t most_bytes;
	uint32_t inline_rows;
	if (!arguments.Own(0, CURSOR_TAG, &pointer) || !arguments.Number(1, most_rows) ||
	    !arguments.Number(2, most_bytes) || !arguments.Number(3, inline_rows)) {
		return nullptr;
	}
	auto *cursor = static_cast<Cursor *>(pointer);
	if (cursor->closed || cursor->busy) {
		arguments.Refuse(0, "a cursor that can be read now");
		return nullptr;
	}
	auto operation = std::make_unique<ReadBlock>(*arguments.environment, *cursor, most_rows, most_bytes);
	if (!operation->RunInline(inline_rows)) {
		return arguments.environment->Promise(env, *operation.release());
	}
	if (operation->failure.Set()) {
		napi_throw(env, MakeError(env, operation->failure));
		return nullptr;
	}
	return operation->Result(env);
}

//! scanClose(cursor): no further block is wanted. One that is being read still comes.
napi_value ScanCloseCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "scanClose");
	void *pointer;
	if (arguments.Own(0, CURSOR_TAG, &pointer)) {
		static_cast<Cursor *>(pointer)->Close();
	}
	return nullptr;
}

} // namespace moraine
