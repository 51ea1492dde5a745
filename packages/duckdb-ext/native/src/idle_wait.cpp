#include "idle_wait.hpp"

#include "duckdb_internals.hpp"

namespace moraine {

using namespace duckdb;

namespace {

//! Stands for the task that waits. It is never scheduled.
class BlockedTask : public Task {
public:
	TaskExecutionResult Execute(TaskExecutionMode) override {
		return TaskExecutionResult::TASK_FINISHED;
	}

	string TaskType() const override {
		return "MoraineIdleWait";
	}
};

//! The executor of the statement that a context runs. Between statements there is none, nor while one is planned: what
//! commits by itself, or begins a transaction, does so then, on the only thread that is at work.
optional_ptr<Executor> RunningExecutor(ClientContext &context) {
	if (!IsInStatement(context)) {
		return nullptr;
	}
	try {
		return &context.GetExecutor();
	} catch (const InternalException &) {
		return nullptr;
	}
}

} // namespace

IdleWait::IdleWait(optional_ptr<ClientContext> context) {
	executor = context ? RunningExecutor(*context) : nullptr;
	if (executor) {
		shared_ptr<Task> task = make_shared_ptr<BlockedTask>();
		mark = task.get();
		executor->AddToBeRescheduled(task);
	}
}

IdleWait::~IdleWait() {
	if (executor) {
		TakeBlockedTask(*executor, mark);
	}
}

} // namespace moraine
