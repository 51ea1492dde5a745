#include "operation.h"

#include "environment.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace moraine {

//! Most executor threads of a process. One keeps up with a JavaScript thread that awaits a call at a time; more serve
//! calls side by side, and several workers.
static constexpr unsigned MOST_EXECUTORS = 4;

//! The slot that this thread polls at this moment, and what its continuation was called with meanwhile.
static thread_local const Slot *polled_slot = nullptr;
static thread_local int polled_outcome = -1;

//! Called on any thread, and with the future's own lock held: it may record or enqueue, never poll, complete or free.
//! The library's frames are below it, so no exception may leave it.
static void Continue(uint64_t data, int8_t outcome) noexcept {
	Slot *slot = reinterpret_cast<Slot *>(data);
	if (slot == polled_slot) {
		polled_outcome = outcome;
		return;
	}
	Waker spinning = Waker::SPINNING_THREAD;
	if (slot->waker.compare_exchange_strong(spinning, Waker::WOKEN, std::memory_order_acq_rel)) {
		return;
	}
	slot->operation->executor.Push(slot->operation, slot);
}

Poll PollSlot(Slot &slot, const FutureApi &type) {
	do {
		polled_slot = &slot;
		polled_outcome = -1;
		type.poll(slot.future, Continue, reinterpret_cast<uint64_t>(&slot));
		polled_slot = nullptr;
	} while (polled_outcome == 1);
	return polled_outcome == 0 ? Poll::READY : Poll::PENDING;
}

Poll PollSlotSpinning(Slot &slot, const FutureApi &type, uint32_t spin_microseconds) {
	using Clock = std::chrono::steady_clock;
	const auto end = Clock::now() + std::chrono::microseconds(spin_microseconds);
	for (;;) {
		slot.waker.store(Waker::SPINNING_THREAD, std::memory_order_release);
		if (PollSlot(slot, type) == Poll::READY) {
			return Poll::READY;
		}
		while (slot.waker.load(std::memory_order_acquire) == Waker::SPINNING_THREAD) {
			if (Clock::now() < end) {
				continue;
			}
			Waker spinning = Waker::SPINNING_THREAD;
			if (slot.waker.compare_exchange_strong(spinning, Waker::EXECUTOR, std::memory_order_acq_rel)) {
				return Poll::PENDING;
			}
		}
	}
}

Operation::Operation(Environment &environment_p, Executor &executor_p)
    : executor(executor_p), environment(environment_p) {
	environment.AddReference();
}

Operation::~Operation() {
	environment.DropReference();
}

void Operation::Queue() {
	if (!queued) {
		queued = true;
		executor.Push(this, nullptr);
	}
}

void Operation::Fail(Failure what) {
	// The first error is the one to report; those of futures that were in flight with it follow from it.
	if (!failure.Set()) {
		failure = std::move(what);
	}
}

void Operation::Finish() {
	if (!finished) {
		finished = true;
		environment.Report(this);
	}
}

Executor &Executor::Next() {
	// Never destroyed: the threads run until the process ends.
	static auto *executors = [] {
		const unsigned cores = std::thread::hardware_concurrency();
		const unsigned count = std::min(MOST_EXECUTORS, cores > 1 ? cores : 1);
		auto *made = new std::vector<Executor *>;
		for (unsigned i = 0; i < count; i++) {
			auto *executor = new Executor;
			std::thread([executor] { executor->Loop(); }).detach();
			made->push_back(executor);
		}
		return made;
	}();
	static std::atomic<uint32_t> turn {0};
	return *(*executors)[turn.fetch_add(1, std::memory_order_relaxed) % executors->size()];
}

void Executor::Push(Operation *operation, Slot *slot) {
	{
		std::lock_guard<std::mutex> guard(mutex);
		queue.push_back({operation, slot});
	}
	filled.notify_one();
}

void Executor::Loop() {
	std::deque<Entry> taken;
	for (;;) {
		{
			std::unique_lock<std::mutex> guard(mutex);
			filled.wait(guard, [this] { return !queue.empty(); });
			taken.swap(queue);
		}
		for (const Entry &entry : taken) {
			Step(entry);
		}
		taken.clear();
	}
}

void Executor::Step(const Entry &entry) {
	if (entry.slot) {
		entry.operation->Resume(*entry.slot);
	} else {
		entry.operation->queued = false;
		entry.operation->Run();
	}
}

} // namespace moraine
