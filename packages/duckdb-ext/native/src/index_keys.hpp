// Values as a statement gives them, as keys of an index.
#pragma once

#include "index_service.hpp"

namespace moraine {

//! Makes keys for one index. Errors are BinderExceptions that name the function, the index, columns and types, and hold
//! no value.
class KeyMaker {
public:
	KeyMaker(duckdb::ClientContext &context, std::string function, std::string index, const IndexShape &shape);

	//! One value for each column, none of them NULL.
	duckdb::unique_ptr<duckdb::DataChunk> Complete(const duckdb::vector<duckdb::Value> &values) const;
	//! The keys of a list of values, or of row(...) where the index has several columns. Those that hold a NULL are
	//! left out. Null where none is left.
	duckdb::unique_ptr<duckdb::DataChunk> List(const duckdb::Value &list) const;
	//! A value, or row(...) over the leading columns. NULL is an open side: a batch without columns.
	duckdb::unique_ptr<duckdb::DataChunk> Bound(const std::string &side, const duckdb::Value &bound) const;
	//! A value or NULL for each of the leading columns.
	duckdb::unique_ptr<duckdb::DataChunk> Prefix(const duckdb::vector<duckdb::Value> &values) const;

private:
	//! Rows of values, by row, as columns of the index's types.
	duckdb::unique_ptr<duckdb::DataChunk> Cast(const duckdb::vector<duckdb::vector<duckdb::Value>> &rows) const;
	void CastColumn(const duckdb::vector<duckdb::vector<duckdb::Value>> &rows, duckdb::idx_t column,
	                duckdb::Vector &result) const;
	void RefuseNull(const duckdb::vector<duckdb::Value> &values) const;
	//! The fields of a row(...), which the columns of the index have to fit.
	const duckdb::vector<duckdb::Value> &Fields(const duckdb::Value &row) const;
	//! "2 values (a, b)"
	std::string Width() const;
	[[noreturn]] void Refuse(const std::string &what) const;

	duckdb::ClientContext &context;
	std::string function;
	std::string index;
	const IndexShape &shape;
};

} // namespace moraine
