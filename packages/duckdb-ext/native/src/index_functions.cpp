#include "index_functions.hpp"

#include "index_keys.hpp"
#include "index_lake.hpp"
#include "index_rows.hpp"

#include "duckdb/common/string_util.hpp"

using namespace duckdb;

namespace moraine {

namespace {

//! The arguments that name an index come first; those of the read follow.
constexpr idx_t NAME_ARGUMENTS = 4;

IndexName NamedIndex(const TableFunctionBindInput &input) {
	return {NameArgument(input, 1, "schema"), NameArgument(input, 2, "table"), NameArgument(input, 3, "index")};
}

//! One call of a function that reads an index.
class AskedIndexRead : public AskedRows {
public:
	AskedIndexRead(IndexReadKind kind, const TableFunctionBindInput &input)
	    : kind(kind), function(input.table_function.name), catalog(NameArgument(input, 0, "catalog")),
	      name(NamedIndex(input)), arguments(input.inputs.begin() + NAME_ARGUMENTS, input.inputs.end()) {
		for (auto &parameter : input.named_parameters) {
			reverse = Flag(parameter.first, parameter.second);
		}
	}

	shared_ptr<AnsweredRows> Ask(ClientContext &context) const override {
		auto lake = RequireLake(context, function, catalog);
		auto snapshot = PinnedSnapshot(context, lake);
		auto shape = DescribeIndex(context, lake, snapshot, name);
		IndexRead read;
		read.kind = kind;
		read.reverse = reverse;
		AddKeys(KeyMaker(context, function, name.index, shape), read);
		// a list without a key that could match anything
		if (read.keys.empty()) {
			return nullptr;
		}
		return ReadIndex(context, lake.service, snapshot, shape.id, read);
	}

	void Describe(InsertionOrderPreservingMap<string> &into) const override {
		into["Index"] = name.index;
		into["Table"] = StringUtil::Format("%s.%s.%s", catalog, name.schema, name.table);
	}

	unique_ptr<FunctionData> Copy() const override {
		return make_uniq<AskedIndexRead>(*this);
	}

private:
	bool Flag(const string &what, const Value &value) const {
		if (value.IsNull()) {
			throw BinderException("%s: %s is NULL; say true or false", function, what);
		}
		return BooleanValue::Get(value);
	}

	void AddKeys(const KeyMaker &keys, IndexRead &read) const {
		switch (kind) {
		case IndexReadKind::LOOKUP:
			read.keys.push_back(keys.Complete(arguments));
			break;
		case IndexReadKind::IN:
			if (auto list = keys.List(arguments[0])) {
				read.keys.push_back(std::move(list));
			}
			break;
		case IndexReadKind::RANGE:
			read.keys.push_back(keys.Bound("lower", arguments[0]));
			read.keys.push_back(keys.Bound("upper", arguments[1]));
			read.lower_inclusive = Flag("lower_inclusive", arguments[2]);
			read.upper_inclusive = Flag("upper_inclusive", arguments[3]);
			break;
		case IndexReadKind::NULLS:
			read.keys.push_back(keys.Prefix(arguments));
			break;
		}
	}

	IndexReadKind kind;
	string function;
	string catalog;
	IndexName name;
	vector<Value> arguments;
	bool reverse = false;
};

template <IndexReadKind KIND>
unique_ptr<FunctionData> BindRead(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
                                  vector<string> &names) {
	types = RowIdTypes();
	names = {"row_id", "data_file_id"};
	auto asked = make_uniq<AskedIndexRead>(KIND, input);
	asked->Resolve(context);
	return std::move(asked);
}

//! One call of moraine_indexes.
class AskedIndexList : public AskedRows {
public:
	explicit AskedIndexList(const TableFunctionBindInput &input)
	    : catalog(NameArgument(input, 0, "catalog")), schema(NameArgument(input, 1, "schema")),
	      table(NameArgument(input, 2, "table")) {
	}

	shared_ptr<AnsweredRows> Ask(ClientContext &context) const override {
		auto lake = RequireLake(context, "moraine_indexes", catalog);
		return ListIndexes(context, lake.service, PinnedSnapshot(context, lake), schema, table);
	}

	void Describe(InsertionOrderPreservingMap<string> &into) const override {
		into["Table"] = StringUtil::Format("%s.%s.%s", catalog, schema, table);
	}

	unique_ptr<FunctionData> Copy() const override {
		return make_uniq<AskedIndexList>(*this);
	}

private:
	string catalog;
	string schema;
	string table;
};

unique_ptr<FunctionData> BindList(ClientContext &context, TableFunctionBindInput &input, vector<LogicalType> &types,
                                  vector<string> &names) {
	types = IndexListTypes();
	names = {"index_id", "index_name", "is_unique", "is_building", "state", "certified_at"};
	auto asked = make_uniq<AskedIndexList>(input);
	asked->Resolve(context);
	return std::move(asked);
}

} // namespace

void RegisterIndexFunctions(ExtensionLoader &loader) {
	vector<LogicalType> table(3, LogicalType::VARCHAR);
	vector<LogicalType> index(NAME_ARGUMENTS, LogicalType::VARCHAR);
	auto with = [&](std::initializer_list<LogicalType> more) {
		auto arguments = index;
		arguments.insert(arguments.end(), more);
		return arguments;
	};

	loader.RegisterFunction(AskedRowsFunction("moraine_indexes", table, BindList));

	auto lookup = AskedRowsFunction("moraine_index_lookup", index, BindRead<IndexReadKind::LOOKUP>);
	lookup.varargs = LogicalType::ANY;
	loader.RegisterFunction(lookup);

	auto in = AskedRowsFunction("moraine_index_in", with({LogicalType::ANY}), BindRead<IndexReadKind::IN>);
	loader.RegisterFunction(in);

	auto range = AskedRowsFunction(
	    "moraine_index_range", with({LogicalType::ANY, LogicalType::ANY, LogicalType::BOOLEAN, LogicalType::BOOLEAN}),
	    BindRead<IndexReadKind::RANGE>);
	range.named_parameters["reverse"] = LogicalType::BOOLEAN;
	loader.RegisterFunction(range);

	auto nulls = AskedRowsFunction("moraine_index_nulls", index, BindRead<IndexReadKind::NULLS>);
	nulls.varargs = LogicalType::ANY;
	nulls.named_parameters["reverse"] = LogicalType::BOOLEAN;
	loader.RegisterFunction(nulls);
}

} // namespace moraine
