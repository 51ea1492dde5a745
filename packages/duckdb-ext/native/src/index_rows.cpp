#include "index_rows.hpp"

#include "duckdb/storage/statistics/node_statistics.hpp"
#include "duckdb/transaction/meta_transaction.hpp"

using namespace duckdb;

namespace moraine {

void AskedRows::Resolve(ClientContext &context) {
	rows = Ask(context);
	transaction = MetaTransaction::Get(context).global_transaction_id;
}

shared_ptr<AnsweredRows> AskedRows::Rows(ClientContext &context) const {
	return transaction == MetaTransaction::Get(context).global_transaction_id ? rows : Ask(context);
}

idx_t AskedRows::Count() const {
	return rows ? rows->Count() : 0;
}

bool AskedRows::Equals(const FunctionData &other) const {
	return this == &other;
}

namespace {

struct RowsState : public GlobalTableFunctionState {
	explicit RowsState(shared_ptr<AnsweredRows> rows) : rows(std::move(rows)) {
	}

	shared_ptr<AnsweredRows> rows;
	idx_t next = 0;
};

unique_ptr<GlobalTableFunctionState> Init(ClientContext &context, TableFunctionInitInput &input) {
	return make_uniq<RowsState>(input.bind_data->Cast<AskedRows>().Rows(context));
}

void Scan(ClientContext &, TableFunctionInput &input, DataChunk &output) {
	auto &state = input.global_state->Cast<RowsState>();
	if (state.rows) {
		state.next += state.rows->Read(state.next, output);
	}
}

unique_ptr<NodeStatistics> Cardinality(ClientContext &, const FunctionData *data) {
	auto count = data->Cast<AskedRows>().Count();
	return make_uniq<NodeStatistics>(count, count);
}

InsertionOrderPreservingMap<string> Explain(TableFunctionToStringInput &input) {
	InsertionOrderPreservingMap<string> result;
	auto &asked = input.bind_data->Cast<AskedRows>();
	asked.Describe(result);
	result["Rows"] = to_string(asked.Count());
	return result;
}

} // namespace

TableFunction AskedRowsFunction(const string &name, vector<LogicalType> arguments, table_function_bind_t bind) {
	TableFunction function(name, arguments, Scan, bind, Init);
	function.cardinality = Cardinality;
	function.to_string = Explain;
	return function;
}

string NameArgument(const TableFunctionBindInput &input, idx_t position, const char *what) {
	auto &value = input.inputs[position];
	if (value.IsNull()) {
		throw BinderException("%s: the %s is NULL; name it", input.table_function.name, what);
	}
	return StringValue::Get(value);
}

} // namespace moraine
