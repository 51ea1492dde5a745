// What a transaction is about to commit, as the protocol's `changes`.
#pragma once

#include "wire.hpp"

#include "duckdb/transaction/duck_transaction.hpp"

namespace moraine {

//! Adds `changes` to a Commit frame. Checks all that could make DuckDB's own commit fail afterwards, and throws what it
//! would throw: ConstraintException for keys that came to be there, TransactionException for tables that went.
//! Returns false, with nothing added, where the transaction changed nothing.
bool CaptureChanges(duckdb::ClientContext &context, duckdb::DuckTransaction &transaction, FrameWriter &frame);

} // namespace moraine
