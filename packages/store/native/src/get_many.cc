// getMany: the values of packed keys, so many gets in flight at a time.
#include "loops.h"

#include "arena.h"
#include "environment.h"
#include "operation.h"
#include "reference.h"
#include "rust_buffer.h"
#include "values.h"

#include <memory>
#include <new>
#include <utility>
#include <vector>

namespace moraine {

static constexpr uint32_t ABSENT = 0xffffffff;
//! Offsets are of 32 bits, and the largest of them stands for "absent". Index and values together are bounded, since an
//! ArrayBuffer of more bytes is refused.
static constexpr size_t MOST_RESULT_BYTES = 0xfffffff0;
//! Gets that are begun in one slice of work, so that operations beside this one get theirs.
static constexpr uint32_t GETS_A_SLICE = 256;
static constexpr uint32_t GETS_A_RESUME = 64;

class GetMany : public Operation {
public:
	//! Keeps a reference of its own to what it reads.
	GetMany(Environment &environment, Readable kind, uint64_t handle, std::vector<uint8_t> keys,
	        std::vector<uint32_t> ends, uint32_t window);

	//! Gets on the calling thread until one has to wait. Returns whether all are done; otherwise the rest goes to the
	//! executor.
	bool RunInline(uint32_t most_keys, uint32_t spin_microseconds);
	void Run() override;
	void Resume(Slot &slot) override;
	napi_value Result(napi_env env) override;

private:
	void Continue(uint32_t most);
	Slot &Begin();
	void Complete(Slot &slot);
	void Keep(uint32_t key, const RustBuffer &value);
	uint32_t *Index();
	uint32_t Count() const {
		return static_cast<uint32_t>(key_ends.size());
	}
	bool Done() const {
		return failure.Set() || next_key == Count();
	}

	const Reference self;
	const std::vector<uint8_t> key_bytes;
	const std::vector<uint32_t> key_ends;
	std::vector<Slot> slots;
	std::vector<Slot *> idle;
	uint32_t next_key = 0;
	uint32_t in_flight = 0;
	//! Offset of each value, then length of each, in 32 bits; then the values.
	Arena result;
};

GetMany::GetMany(Environment &environment_p, Readable kind, uint64_t handle, std::vector<uint8_t> keys,
                 std::vector<uint32_t> ends, uint32_t window)
    : Operation(environment_p, Executor::Next()), self(kind, handle), key_bytes(std::move(keys)),
      key_ends(std::move(ends)), slots(window) {
	idle.reserve(window);
	for (Slot &slot : slots) {
		slot.operation = this;
		idle.push_back(&slot);
	}
	result.Grow(key_ends.size() * 2 * sizeof(uint32_t));
}

uint32_t *GetMany::Index() {
	return reinterpret_cast<uint32_t *>(result.Data());
}

Slot &GetMany::Begin() {
	Slot &slot = *idle.back();
	idle.pop_back();
	const uint32_t key = next_key++;
	const uint32_t start = key == 0 ? 0 : key_ends[key - 1];
	slot.item = key;
	slot.future = api.get[self.Kind()](self.Clone(), LowerBytes(key_bytes.data() + start, key_ends[key] - start));
	in_flight++;
	return slot;
}

void GetMany::Complete(Slot &slot) {
	RustCallStatus status;
	RustBuffer value = api.complete_buffer(slot.future, &status);
	FreeFuture(api.buffer_future, slot.future);
	in_flight--;
	idle.push_back(&slot);
	if (status.code != 0) {
		Fail(TakeFailure(status));
		return;
	}
	Keep(slot.item, value);
	FreeBuffer(value);
}

//! The result of a get is an optional byte string.
void GetMany::Keep(uint32_t key, const RustBuffer &value) {
	const uint32_t count = Count();
	if (value.data[0] == 0) {
		Index()[key] = 0;
		Index()[count + key] = ABSENT;
		return;
	}
	const size_t before = result.Size() - static_cast<size_t>(count) * 2 * sizeof(uint32_t);
	const uint32_t length = ReadU32(value.data + 1);
	if (result.Size() + length > MOST_RESULT_BYTES) {
		Fail({"Limit", "", "values"});
		return;
	}
	try {
		result.Add(value.data + 5, length);
	} catch (const std::bad_alloc &) {
		Fail({"Limit", "", "memory"});
		return;
	}
	Index()[key] = static_cast<uint32_t>(before);
	Index()[count + key] = length;
}

bool GetMany::RunInline(uint32_t most_keys, uint32_t spin_microseconds) {
	// Until `Run` says that it is no longer queued, the executor cannot finish the operation, whatever it resumes.
	queued = true;
	bool waits = Count() > most_keys;
	while (!waits && !Done()) {
		Slot &slot = Begin();
		// From the moment in which it waits everything of this operation is the executor's.
		waits = PollSlotSpinning(slot, api.buffer_future, spin_microseconds) == Poll::PENDING;
		if (!waits) {
			Complete(slot);
		}
	}
	if (waits) {
		executor.Push(this, nullptr);
	}
	return !waits;
}

void GetMany::Run() {
	Continue(GETS_A_SLICE);
}

void GetMany::Resume(Slot &slot) {
	if (PollSlot(slot, api.buffer_future) == Poll::READY) {
		Complete(slot);
		Continue(GETS_A_RESUME);
	}
}

void GetMany::Continue(uint32_t most) {
	for (uint32_t begun = 0; !Done() && !idle.empty(); begun++) {
		if (begun == most) {
			Queue();
			return;
		}
		Slot &slot = Begin();
		if (PollSlot(slot, api.buffer_future) == Poll::READY) {
			Complete(slot);
		}
	}
	if (Done() && in_flight == 0 && !queued) {
		Finish();
	}
}

napi_value GetMany::Result(napi_env env) {
	return TakeBuffer(env, result);
}

static bool KeysFit(const std::vector<uint8_t> &keys, const std::vector<uint32_t> &ends) {
	uint32_t start = 0;
	for (const uint32_t end : ends) {
		if (end < start) {
			return false;
		}
		start = end;
	}
	return start <= keys.size() && ends.size() <= UINT32_MAX / 16;
}

//! getMany(kind, handle, keys: Uint8Array, ends: Uint32Array, window, inlineKeys, spinMicroseconds): ArrayBuffer, or a
//! promise of one where something has to be waited for.
napi_value GetManyCall(napi_env env, napi_callback_info info) {
	Arguments arguments(env, info, "getMany");
	Readable kind;
	uint64_t handle;
	ByteView keys;
	WordView ends;
	uint32_t window;
	uint32_t inline_keys;
	uint32_t spin_microseconds;
	if (!arguments.Source(0, kind, handle) || !arguments.Bytes(2, keys) || !arguments.Words(3, ends) ||
	    !arguments.Number(4, window) || !arguments.Number(5, inline_keys) || !arguments.Number(6, spin_microseconds)) {
		return nullptr;
	}
	// Copied before they are checked: another thread may change what lies in shared memory.
	std::vector<uint8_t> key_bytes = keys.Copy();
	std::vector<uint32_t> key_ends = ends.Copy();
	if (!KeysFit(key_bytes, key_ends)) {
		arguments.Refuse(3, "a list of ends that fit the keys");
		return nullptr;
	}
	const auto count = static_cast<uint32_t>(key_ends.size());
	const uint32_t slots = count < window ? count : window;
	auto operation = std::make_unique<GetMany>(*arguments.environment, kind, handle, std::move(key_bytes),
	                                           std::move(key_ends), slots > 0 ? slots : 1);
	if (!operation->RunInline(inline_keys, spin_microseconds)) {
		return arguments.environment->Promise(env, *operation.release());
	}
	if (operation->failure.Set()) {
		napi_throw(env, MakeError(env, operation->failure));
		return nullptr;
	}
	return operation->Result(env);
}

} // namespace moraine
