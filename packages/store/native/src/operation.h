// One call of a loop, from its arguments to its result, and the thread that runs it.
//
// A call begins on the JavaScript thread, which may poll its first futures itself ("inline"), and goes on on one
// executor thread; from then on its state belongs to that thread until it is reported back. So no state of a call needs
// a lock, but for what JavaScript still adds to a write that is under way.
#pragma once

#include "failure.h"
#include "uniffi.h"

#include <node_api.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace moraine {

class Environment;
class Executor;
class Operation;

//! Who is told when a future that waits can be polled again.
enum class Waker : uint8_t { EXECUTOR, SPINNING_THREAD, WOKEN };

//! A future in flight. It lies inside of its operation and keeps its place until it is completed.
struct Slot {
	Operation *operation = nullptr;
	uint64_t future = 0;
	uint32_t item = 0;
	std::atomic<Waker> waker {Waker::EXECUTOR};
};

enum class Poll { READY, PENDING };

//! Polls until the future is ready or waits. After PENDING the slot belongs to whoever takes it from the executor's
//! queue; it may lie there already.
Poll PollSlot(Slot &slot, const FutureApi &type);

//! Like `PollSlot`, but stays with a future that waits for so many microseconds: what a cached block costs is less than
//! a change of threads.
Poll PollSlotSpinning(Slot &slot, const FutureApi &type, uint32_t spin_microseconds);

class Operation {
public:
	Operation(Environment &environment_p, Executor &executor_p);
	Operation(const Operation &) = delete;
	Operation &operator=(const Operation &) = delete;
	virtual ~Operation();

	//! Does a bounded amount of work; called by the executor.
	virtual void Run() = 0;
	//! A slot that waited can be polled again; called by the executor.
	virtual void Resume(Slot &slot) = 0;
	//! The value that the call's promise is resolved with, or null where it cannot be made. JavaScript thread.
	virtual napi_value Result(napi_env env) = 0;

	//! Queues the operation for (another) slice of work.
	void Queue();

	Executor &executor;
	Environment &environment;
	Failure failure;
	//! JavaScript thread only: whether `Environment::Promise` was called, and the promise; null where nobody can be
	//! told.
	bool promised = false;
	napi_deferred deferred = nullptr;

protected:
	//! Reports the operation, once nothing of it is in flight. It may be gone when this returns.
	void Finish();
	void Fail(Failure what);

	bool queued = false;
	bool finished = false;

	friend class Executor;
};

//! A thread with a queue of operations to run and of slots to resume. It is never joined: the process may end at any
//! time.
class Executor {
public:
	//! One of the process's executors, in turn.
	static Executor &Next();

	void Push(Operation *operation, Slot *slot);

private:
	struct Entry {
		Operation *operation;
		Slot *slot;
	};

	void Loop();
	static void Step(const Entry &entry);

	std::mutex mutex;
	std::condition_variable filled;
	std::deque<Entry> queue;
};

} // namespace moraine
