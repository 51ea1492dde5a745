// A wait for the service that leaves the processor to it.
#pragma once

#include "duckdb/execution/executor.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parallel/task.hpp"

namespace moraine {

//! While one of its threads runs a statement's only task, the thread that wants the result asks for further tasks without
//! a pause. Where the task does nothing but wait for the service, that takes a core away from the very process that is
//! waited for. For as long as an object of this class lives, the statement has a task that is said to be blocked, for
//! which DuckDB waits.
class IdleWait {
public:
	//! `context`: of the statement whose task this thread runs, if it runs one.
	explicit IdleWait(duckdb::optional_ptr<duckdb::ClientContext> context);
	~IdleWait();
	IdleWait(const IdleWait &) = delete;
	IdleWait &operator=(const IdleWait &) = delete;

private:
	duckdb::optional_ptr<duckdb::Executor> executor;
	duckdb::Task *mark = nullptr;
};

} // namespace moraine
