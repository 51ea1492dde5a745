// Transactions on a copy of the metadata tables: they begin with what others committed, and end in the store.
#pragma once

#include "client.hpp"

#include "duckdb/main/attached_database.hpp"
#include "duckdb/transaction/duck_transaction_manager.hpp"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace moraine {

//! The store decides about the order of commits; the copy here follows. Two rules keep it equal to the store:
//!  - changes of others are applied while no commit of our own is on its way: they could hold that very commit;
//!  - a commit of our own is applied as soon as it has landed, before anything else.
//! Transactions that only begin wait for neither, unless there is something to apply.
class FollowingTransactionManager : public duckdb::DuckTransactionManager {
public:
	FollowingTransactionManager(duckdb::AttachedDatabase &database, Attachment &attachment);

	//! Fills the empty copy. Before anybody else can use it.
	void Load(duckdb::optional_ptr<duckdb::ClientContext> context);
	//! Ends the attachment, unless transactions still need it: then it ends with the last connection.
	void Detach();

	//! What the copy stands at; absent before the lake exists.
	duckdb::optional_idx Revision();

	//! Throws what the service says when the store cannot be followed: stale tables are not read as if they were fresh.
	duckdb::Transaction &StartTransaction(duckdb::ClientContext &context) override;
	duckdb::ErrorData CommitTransaction(duckdb::ClientContext &context, duckdb::Transaction &transaction) override;
	void RollbackTransaction(duckdb::Transaction &transaction) override;
	void Checkpoint(duckdb::ClientContext &context, bool force) override;

	//! Whether it is the connection that applies what the store has changed.
	bool IsOurs(duckdb::ClientContext &context) const {
		return applying_context == &context;
	}

private:
	void HidePath();
	//! Brings the tables up to the head, or to what `flags` of the Follow allow.
	void CatchUp(duckdb::optional_ptr<duckdb::ClientContext> context, uint8_t flags);
	//! One question and what it is answered. False where it has to be asked anew.
	bool FollowOnce(duckdb::optional_ptr<duckdb::ClientContext> context, uint8_t flags, bool everything);
	void ApplyChanges(Exchange &exchange, bool full, duckdb::optional_idx known);
	//! How many transactions have ended.
	uint64_t EndedTransactions();
	//! Waits until one more has ended, if one does within the limit.
	void AwaitEnd(uint64_t ended_before);
	bool CommitToStore(duckdb::ClientContext &context, duckdb::DuckTransaction &transaction, uint64_t &revision);
	//! Rolls a transaction back that cannot be committed.
	void GiveUp(duckdb::Transaction &transaction, duckdb::ErrorData &error);
	//! Takes the transaction, which commits nothing, out of those that run.
	void Forget(duckdb::Transaction &transaction);

	Attachment &attachment;
	std::atomic<duckdb::ClientContext *> applying_context {nullptr};
	//! One at a time asks what is new, and one at a time commits.
	std::timed_mutex follow_lock;
	std::timed_mutex commit_lock;

	//! Guards what follows; held for as long as the tables and the revision that they stand at do not agree.
	std::mutex state_lock;
	std::condition_variable changed;
	//! Absent before the lake exists, and when the copy has to be filled anew.
	duckdb::optional_idx revision;
	bool is_committing = false;
	bool is_applying = false;
	uint64_t ended_transactions = 0;
	std::unordered_map<duckdb::Transaction *, duckdb::optional_idx> running;
	//! Those of them that repeat a refused commit: others wait for what becomes of it.
	std::unordered_set<duckdb::Transaction *> retries;
	//! Whose last commit lost against another one: their next transaction says so.
	std::unordered_set<duckdb::ClientContext *> refused;
};

} // namespace moraine
