// Table functions whose rows are asked of the service while they are bound.
#pragma once

#include "index_service.hpp"

#include "duckdb/function/table_function.hpp"

namespace moraine {

//! What one call asks. The answer belongs to the transaction that asked: a plan that another one runs asks again.
class AskedRows : public duckdb::TableFunctionData {
public:
	//! Asks, for the transaction of this context. Null where there are no rows.
	virtual duckdb::shared_ptr<AnsweredRows> Ask(duckdb::ClientContext &context) const = 0;
	//! What EXPLAIN shows; no values.
	virtual void Describe(duckdb::InsertionOrderPreservingMap<std::string> &into) const = 0;

	//! Asks and keeps the answer.
	void Resolve(duckdb::ClientContext &context);
	//! The answer for the transaction of this context.
	duckdb::shared_ptr<AnsweredRows> Rows(duckdb::ClientContext &context) const;
	//! Of the answer that is kept.
	duckdb::idx_t Count() const;

	//! A prepared statement binds again, and so asks again, each time that it is executed.
	bool SupportStatementCache() const override {
		return false;
	}
	bool Equals(const duckdb::FunctionData &other) const override;

private:
	duckdb::transaction_t transaction = 0;
	duckdb::shared_ptr<AnsweredRows> rows;
};

//! Sets what all of these functions share.
duckdb::TableFunction AskedRowsFunction(const std::string &name, duckdb::vector<duckdb::LogicalType> arguments,
                                        duckdb::table_function_bind_t bind);
//! A positional argument that names something. Throws BinderException where it is NULL.
std::string NameArgument(const duckdb::TableFunctionBindInput &input, duckdb::idx_t position, const char *what);

} // namespace moraine
