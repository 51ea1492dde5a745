// The private members of DuckDB 1.5.5 that this extension uses, all of them and nowhere else. They are reached by
// explicit instantiation, where the language does not check access: no header of DuckDB is changed, and a member that
// has another name or type in another version does not compile.
#pragma once

#include "duckdb/execution/executor.hpp"
#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/client_context.hpp"
#include "duckdb/parallel/task.hpp"
#include "duckdb/storage/storage_manager.hpp"
#include "duckdb/transaction/duck_transaction.hpp"
#include "duckdb/transaction/local_storage.hpp"
#include "duckdb/transaction/undo_buffer.hpp"

namespace moraine {
namespace internals {

template <class MEMBER, typename MEMBER::Pointer POINTER> struct Grant {
	friend typename MEMBER::Pointer PointerTo(MEMBER) {
		return POINTER;
	}
};

//! What a transaction did to committed rows and to the catalog. Nothing public tells before the commit.
struct TransactionUndo {
	using Pointer = duckdb::UndoBuffer duckdb::DuckTransaction::*;
	friend Pointer PointerTo(TransactionUndo);
};
template struct Grant<TransactionUndo, &duckdb::DuckTransaction::undo_buffer>;

//! The entries of an undo buffer: its iterators are private templates, instantiated inside DuckDB only.
struct UndoEntries {
	using Pointer = duckdb::UndoBufferAllocator duckdb::UndoBuffer::*;
	friend Pointer PointerTo(UndoEntries);
};
template struct Grant<UndoEntries, &duckdb::UndoBuffer::allocator>;

//! Rows that a transaction inserted: the public way has to name each table, and no list of them is public.
struct LocalTables {
	using Pointer = duckdb::LocalTableManager duckdb::LocalStorage::*;
	friend Pointer PointerTo(LocalTables);
};
template struct Grant<LocalTables, &duckdb::LocalStorage::table_manager>;

using LocalTableMap = duckdb::reference_map_t<duckdb::DataTable, duckdb::shared_ptr<duckdb::LocalTableStorage>>;
struct LocalTableStorages {
	using Pointer = LocalTableMap duckdb::LocalTableManager::*;
	friend Pointer PointerTo(LocalTableStorages);
};
template struct Grant<LocalTableStorages, &duckdb::LocalTableManager::table_storage>;

//! Where a database says that it lies. It is read inline, so that no subclass can answer in its place.
struct StoragePath {
	using Pointer = duckdb::string duckdb::StorageManager::*;
	friend Pointer PointerTo(StoragePath);
};
template struct Grant<StoragePath, &duckdb::StorageManager::path>;

//! Whether a database is read-only. There is a public way to make it so, and none back.
struct DatabaseType {
	using Pointer = duckdb::AttachedDatabaseType duckdb::AttachedDatabase::*;
	friend Pointer PointerTo(DatabaseType);
};
template struct Grant<DatabaseType, &duckdb::AttachedDatabase::type>;

//! Whether a statement runs. The public ways to what it consists of take for granted that one does.
struct ActiveQuery {
	using Pointer = duckdb::unique_ptr<duckdb::ActiveQueryContext> duckdb::ClientContext::*;
	friend Pointer PointerTo(ActiveQuery);
};
template struct Grant<ActiveQuery, &duckdb::ClientContext::active_query>;

//! Tasks of a statement that are blocked. The public way to take one out schedules it.
struct ExecutorLock {
	using Pointer = duckdb::mutex duckdb::Executor::*;
	friend Pointer PointerTo(ExecutorLock);
};
template struct Grant<ExecutorLock, &duckdb::Executor::executor_lock>;

struct BlockedTasks {
	using Pointer = duckdb::unordered_map<duckdb::Task *, duckdb::shared_ptr<duckdb::Task>> duckdb::Executor::*;
	friend Pointer PointerTo(BlockedTasks);
};
template struct Grant<BlockedTasks, &duckdb::Executor::to_be_rescheduled_tasks>;

struct TaskRescheduled {
	using Pointer = std::condition_variable duckdb::Executor::*;
	friend Pointer PointerTo(TaskRescheduled);
};
template struct Grant<TaskRescheduled, &duckdb::Executor::task_reschedule>;

} // namespace internals

inline bool IsInStatement(duckdb::ClientContext &context) {
	return (context.*PointerTo(internals::ActiveQuery())).get() != nullptr;
}

//! Takes a blocked task out, where it still is, and wakes who waits for it.
inline void TakeBlockedTask(duckdb::Executor &executor, duckdb::Task *task) {
	duckdb::lock_guard<duckdb::mutex> guard(executor.*PointerTo(internals::ExecutorLock()));
	(executor.*PointerTo(internals::BlockedTasks())).erase(task);
	(executor.*PointerTo(internals::TaskRescheduled())).notify_all();
}

inline void SetReadWriteDatabase(duckdb::AttachedDatabase &database) {
	database.*PointerTo(internals::DatabaseType()) = duckdb::AttachedDatabaseType::READ_WRITE_DATABASE;
}

inline duckdb::UndoBufferAllocator &UndoEntriesOf(duckdb::DuckTransaction &transaction) {
	return (transaction.*PointerTo(internals::TransactionUndo())).*PointerTo(internals::UndoEntries());
}

inline duckdb::string &StoragePathOf(duckdb::StorageManager &storage) {
	return storage.*PointerTo(internals::StoragePath());
}

//! To be read while no statement of the transaction runs.
inline internals::LocalTableMap &LocalTablesOf(duckdb::DuckTransaction &transaction) {
	auto &tables = transaction.GetLocalStorage().*PointerTo(internals::LocalTables());
	return tables.*PointerTo(internals::LocalTableStorages());
}

//! Layouts that are read out of an undo buffer's bytes, as 1.5.5 writes them.
static_assert(sizeof(duckdb::UndoFlags) == sizeof(uint32_t), "an entry begins with its kind and its length");
static_assert(sizeof(duckdb::UndoBufferEntry *) == sizeof(uint64_t), "made for 64 bits");

} // namespace moraine
