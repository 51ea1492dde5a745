#include "transaction_manager.hpp"

#include "apply.hpp"
#include "capture.hpp"
#include "catalog.hpp"
#include "channel.hpp"
#include "idle_wait.hpp"

#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/transaction/duck_transaction.hpp"

#include <chrono>

namespace moraine {

using namespace duckdb;

//! How often changes that a running transaction is in the way of are asked for again, before the copy is filled anew.
static constexpr int MAX_BLOCKED_FOLLOWS = 3;
//! How long a running transaction that is in the way is waited for, each time.
static constexpr auto BLOCKED_WAIT = std::chrono::milliseconds(100);
static constexpr uint8_t FOLLOW_RETRY = 1;
//! Everything as of an older revision will do: it is followed on from there before anybody reads.
static constexpr uint8_t FOLLOW_MAY_BE_OLDER = 2;

//! Changes of the store that the tables here did not take.
struct ApplyFailure {
	ErrorData error;
};

//! Takes errors of the tables apart from those of the connection that the changes come from.
template <class STEP> static void Apply(STEP &&step) {
	try {
		step();
	} catch (const std::exception &exception) {
		throw ApplyFailure {ErrorData(exception)};
	}
}

FollowingTransactionManager::FollowingTransactionManager(AttachedDatabase &database, Attachment &attachment)
    : DuckTransactionManager(database), attachment(attachment) {
}

void FollowingTransactionManager::Load(optional_ptr<ClientContext> context) {
	IdleWait wait(context);
	CatchUp(context, FOLLOW_MAY_BE_OLDER);
}

optional_idx FollowingTransactionManager::Revision() {
	std::lock_guard<std::mutex> guard(state_lock);
	return revision;
}

void FollowingTransactionManager::HidePath() {
	db.GetCatalog().Cast<MoraineCatalog>().HidePath();
}

void FollowingTransactionManager::Detach() {
	{
		std::lock_guard<std::mutex> guard(state_lock);
		if (!running.empty()) {
			return;
		}
	}
	attachment.Detach();
}

Transaction &FollowingTransactionManager::StartTransaction(ClientContext &context) {
	if (IsOurs(context)) {
		return DuckTransactionManager::StartTransaction(context);
	}
	bool is_retry;
	{
		std::lock_guard<std::mutex> guard(state_lock);
		is_retry = refused.erase(&context) > 0;
	}
	CatchUp(context, is_retry ? FOLLOW_RETRY : 0);
	std::lock_guard<std::mutex> guard(state_lock);
	auto &transaction = DuckTransactionManager::StartTransaction(context);
	running[&transaction] = revision;
	if (is_retry) {
		retries.insert(&transaction);
	}
	return transaction;
}

void FollowingTransactionManager::CatchUp(optional_ptr<ClientContext> context, uint8_t flags) {
	auto guard = attachment.Lock(follow_lock, context);
	for (int blocked = 0; blocked <= MAX_BLOCKED_FOLLOWS;) {
		auto ended_before = EndedTransactions();
		try {
			if (FollowOnce(context, flags, false)) {
				return;
			}
		} catch (const ApplyFailure &failure) {
			// A row that a running transaction has changed cannot be changed here before that one ends. If it does not
			// end, or if the tables are not what they were taken for, tables made anew are in nobody's way.
			if (failure.error.Type() != ExceptionType::TRANSACTION) {
				break;
			}
			blocked++;
			AwaitEnd(ended_before);
		}
	}
	try {
		while (!FollowOnce(context, static_cast<uint8_t>(flags & ~FOLLOW_MAY_BE_OLDER), true)) {
		}
	} catch (const ApplyFailure &failure) {
		failure.error.Throw("moraine: the metadata tables cannot be brought up to date: ");
	}
}

bool FollowingTransactionManager::FollowOnce(optional_ptr<ClientContext> context, uint8_t flags, bool everything) {
	auto frame = FrameWriter::ForAttachment(FrameKind::FOLLOW);
	optional_idx known;
	{
		std::lock_guard<std::mutex> guard(state_lock);
		known = revision;
		optional_idx oldest;
		for (auto &entry : running) {
			if (entry.second.IsValid() && (!oldest.IsValid() || entry.second.GetIndex() < oldest.GetIndex())) {
				oldest = entry.second;
			}
		}
		frame.OptionU64(everything ? optional_idx() : known);
		frame.OptionU64(oldest);
		frame.U8(flags);
	}
	std::unique_ptr<FrameReader> first;
	auto exchange = attachment.Open(context, frame, Repeat::ASK_AGAIN, first);
	if (first->Kind() == FrameKind::UNCHANGED) {
		first->End();
		exchange.Finish();
		return true;
	}
	if (first->Kind() == FrameKind::FAILED) {
		exchange.Finish();
		ServiceFailure(*first).Throw();
	}
	if (first->Kind() != FrameKind::CHANGES_BEGIN) {
		throw WireException("an answer to Follow of kind " + std::to_string(static_cast<int>(first->Kind())));
	}
	auto full = first->Bool();
	first->End();
	{
		std::unique_lock<std::mutex> guard(state_lock);
		while (!changed.wait_for(guard, std::chrono::milliseconds(SILENCE_MS), [&] { return !is_committing; })) {
			guard.unlock();
			attachment.CheckLife(context);
			guard.lock();
		}
		if (revision != known) {
			// A commit of our own came in between: these changes hold it already.
			return false;
		}
		is_applying = true;
	}
	try {
		ApplyChanges(exchange, full, known);
	} catch (...) {
		std::lock_guard<std::mutex> guard(state_lock);
		is_applying = false;
		changed.notify_all();
		throw;
	}
	return true;
}

void FollowingTransactionManager::ApplyChanges(Exchange &exchange, bool full, optional_idx known) {
	Applier applier(db, applying_context);
	if (full) {
		Apply([&] { applier.DropAll(); });
	}
	while (true) {
		auto frame = exchange.Next();
		if (frame.Kind() == FrameKind::STATEMENTS) {
			auto sql = frame.Text();
			frame.End();
			Apply([&] { applier.Statements(sql, full); });
		} else if (frame.Kind() == FrameKind::ROWS) {
			Apply([&] { applier.Rows(frame); });
		} else if (frame.Kind() == FrameKind::CHANGES_END) {
			auto reached = frame.U64();
			frame.End();
			exchange.Finish();
			// Revisions of a store never go back: below the one that was known it is another store.
			if (full && known.IsValid() && reached >= known.GetIndex()) {
				Apply([&] { applier.KeepInlinedTables(); });
			}
			std::lock_guard<std::mutex> guard(state_lock);
			Apply([&] { applier.Commit(); });
			revision = optional_idx(reached);
			attachment.NoteLake();
			is_applying = false;
			changed.notify_all();
			return;
		} else {
			throw WireException("changes of kind " + std::to_string(static_cast<int>(frame.Kind())));
		}
	}
}

uint64_t FollowingTransactionManager::EndedTransactions() {
	std::lock_guard<std::mutex> guard(state_lock);
	return ended_transactions;
}

void FollowingTransactionManager::AwaitEnd(uint64_t ended_before) {
	std::unique_lock<std::mutex> guard(state_lock);
	changed.wait_for(guard, BLOCKED_WAIT, [&] { return ended_transactions != ended_before; });
}

void FollowingTransactionManager::Forget(Transaction &transaction) {
	bool was_retry;
	{
		std::lock_guard<std::mutex> guard(state_lock);
		running.erase(&transaction);
		was_retry = retries.erase(&transaction) > 0;
		ended_transactions++;
		changed.notify_all();
	}
	if (was_retry) {
		attachment.LetOthersGo();
	}
}

void FollowingTransactionManager::Checkpoint(ClientContext &context, bool force) {
	HidePath();
	DuckTransactionManager::Checkpoint(context, force);
}

void FollowingTransactionManager::RollbackTransaction(Transaction &transaction) {
	HidePath();
	DuckTransactionManager::RollbackTransaction(transaction);
	// Only then are its rows free.
	Forget(transaction);
}

void FollowingTransactionManager::GiveUp(Transaction &transaction, ErrorData &error) {
	try {
		DuckTransactionManager::RollbackTransaction(transaction);
	} catch (const std::exception &exception) {
		error.Merge(ErrorData(exception));
	}
}

ErrorData FollowingTransactionManager::CommitTransaction(ClientContext &context, Transaction &transaction) {
	HidePath();
	auto &duck_transaction = transaction.Cast<DuckTransaction>();
	if (IsOurs(context)) {
		return DuckTransactionManager::CommitTransaction(context, transaction);
	}
	if (!duck_transaction.ChangesMade()) {
		auto error = DuckTransactionManager::CommitTransaction(context, transaction);
		Forget(transaction);
		return error;
	}
	ErrorData error;
	std::unique_lock<std::timed_mutex> committer;
	try {
		committer = attachment.Lock(commit_lock, &context);
	} catch (const std::exception &exception) {
		error = ErrorData(exception);
		GiveUp(transaction, error);
		Forget(transaction);
		return error;
	}
	{
		std::unique_lock<std::mutex> guard(state_lock);
		changed.wait(guard, [&] { return !is_applying; });
		is_committing = true;
	}
	uint64_t landed = 0;
	bool sent = false;
	try {
		sent = CommitToStore(context, duck_transaction, landed);
	} catch (const std::exception &exception) {
		error = ErrorData(exception);
	}
	if (error.HasError()) {
		GiveUp(transaction, error);
	}
	std::lock_guard<std::mutex> guard(state_lock);
	if (!error.HasError()) {
		error = DuckTransactionManager::CommitTransaction(context, transaction);
		if (sent) {
			attachment.NoteLake();
			// It has landed, whatever became of it here: a copy that lacks it is filled anew.
			revision = error.HasError() ? optional_idx() : optional_idx(landed);
			error = ErrorData();
		}
	}
	running.erase(&transaction);
	retries.erase(&transaction);
	ended_transactions++;
	is_committing = false;
	changed.notify_all();
	return error;
}

bool FollowingTransactionManager::CommitToStore(ClientContext &context, DuckTransaction &transaction,
                                                uint64_t &landed) {
	optional_idx base;
	bool is_behind;
	{
		std::lock_guard<std::mutex> guard(state_lock);
		base = running[&transaction];
		is_behind = base != revision;
	}
	auto frame = FrameWriter::ForAttachment(FrameKind::COMMIT);
	frame.OptionU64(base);
	auto flags_offset = frame.Size();
	frame.U8(0);
	if (!CaptureChanges(context, transaction, frame)) {
		return false;
	}
	if (attachment.Options().read_only) {
		throw InvalidInputException("moraine: the store is attached read-only: attach it without READ_ONLY to write");
	}
	std::unique_ptr<ServiceFailure> failure;
	if (is_behind) {
		// What the store would say, without asking it.
		std::lock_guard<std::mutex> guard(state_lock);
		refused.insert(&context);
		throw TransactionException("moraine: write conflict: another transaction committed first");
	}
	bool has_landed;
	{
		IdleWait wait(&context);
		has_landed = attachment.Commit(context, frame, flags_offset, landed, failure);
	}
	if (!has_landed) {
		if (failure->code == "commit_conflict") {
			std::lock_guard<std::mutex> guard(state_lock);
			refused.insert(&context);
		}
		failure->Throw();
	}
	return true;
}

} // namespace moraine
