#include "index_keys.hpp"

#include "duckdb/common/string_util.hpp"
#include "duckdb/common/vector_operations/vector_operations.hpp"

using namespace duckdb;

namespace moraine {

KeyMaker::KeyMaker(ClientContext &context, string function, string index, const IndexShape &shape)
    : context(context), function(std::move(function)), index(std::move(index)), shape(shape) {
}

void KeyMaker::Refuse(const string &what) const {
	throw BinderException("%s: %s", function, what);
}

string KeyMaker::Width() const {
	return StringUtil::Format("%llu value%s (%s)", shape.columns.size(), shape.columns.size() == 1 ? "" : "s",
	                          StringUtil::Join(shape.columns, ", "));
}

void KeyMaker::RefuseNull(const vector<Value> &values) const {
	for (idx_t column = 0; column < values.size(); column++) {
		if (values[column].IsNull()) {
			Refuse(StringUtil::Format("the value for column \"%s\" of index \"%s\" is NULL, which equals nothing; rows "
			                          "that are NULL there are read by moraine_index_nulls",
			                          shape.columns[column], index));
		}
	}
}

unique_ptr<DataChunk> KeyMaker::Complete(const vector<Value> &values) const {
	if (values.size() != shape.columns.size()) {
		Refuse(StringUtil::Format("index \"%s\" takes %s, not %llu", index, Width(), values.size()));
	}
	RefuseNull(values);
	return Cast({values});
}

const vector<Value> &KeyMaker::Fields(const Value &row) const {
	auto &type = row.type();
	if (!StructType::IsUnnamed(type)) {
		auto &names = StructType::GetChildTypes(type);
		for (idx_t field = 0; field < names.size() && field < shape.columns.size(); field++) {
			if (!StringUtil::CIEquals(names[field].first, shape.columns[field])) {
				Refuse(
				    StringUtil::Format("a field is named \"%s\" where index \"%s\" has column \"%s\"; write row(...) "
				                       "with the values in the order of the index: %s",
				                       names[field].first, index, shape.columns[field], Width()));
			}
		}
	}
	return StructValue::GetChildren(row);
}

static const vector<Value> *Elements(const Value &list) {
	switch (list.type().id()) {
	case LogicalTypeId::LIST:
		return &ListValue::GetChildren(list);
	case LogicalTypeId::ARRAY:
		return &ArrayValue::GetChildren(list);
	default:
		return nullptr;
	}
}

unique_ptr<DataChunk> KeyMaker::List(const Value &list) const {
	if (list.IsNull()) {
		return nullptr;
	}
	auto elements = Elements(list);
	if (!elements) {
		Refuse(StringUtil::Format("the keys of index \"%s\" come as one list, such as %s", index,
		                          shape.columns.size() == 1 ? "[1, 2]" : "[row(1, 2), row(3, 4)]"));
	}
	vector<vector<Value>> rows;
	for (auto &element : *elements) {
		if (element.IsNull()) {
			continue;
		}
		if (shape.columns.size() == 1) {
			rows.push_back({element});
			continue;
		}
		if (element.type().id() != LogicalTypeId::STRUCT || Fields(element).size() != shape.columns.size()) {
			Refuse(StringUtil::Format("each key of index \"%s\" is a row(...) of %s", index, Width()));
		}
		auto &fields = Fields(element);
		bool has_null = false;
		for (auto &field : fields) {
			has_null = has_null || field.IsNull();
		}
		if (!has_null) {
			rows.push_back(fields);
		}
	}
	return rows.empty() ? nullptr : Cast(rows);
}

unique_ptr<DataChunk> KeyMaker::Bound(const string &side, const Value &bound) const {
	if (bound.IsNull()) {
		auto open = make_uniq<DataChunk>();
		open->SetCardinality(1);
		return open;
	}
	auto is_tuple = bound.type().id() == LogicalTypeId::STRUCT;
	auto values = is_tuple ? Fields(bound) : vector<Value> {bound};
	if (values.empty() || values.size() > shape.columns.size()) {
		Refuse(StringUtil::Format("the %s bound of index \"%s\" has %llu values, but the index has %s", side, index,
		                          values.size(), Width()));
	}
	RefuseNull(values);
	return Cast({std::move(values)});
}

unique_ptr<DataChunk> KeyMaker::Prefix(const vector<Value> &values) const {
	if (values.empty() || values.size() > shape.columns.size()) {
		Refuse(
		    StringUtil::Format("index \"%s\" takes the values of one or more of its leading columns, at most %s, not "
		                       "%llu; NULL asks for rows that are NULL",
		                       index, Width(), values.size()));
	}
	return Cast({values});
}

unique_ptr<DataChunk> KeyMaker::Cast(const vector<vector<Value>> &rows) const {
	auto width = rows.front().size();
	auto keys = make_uniq<DataChunk>();
	keys->Initialize(context, vector<LogicalType>(shape.types.begin(), shape.types.begin() + width), rows.size());
	for (idx_t column = 0; column < width; column++) {
		CastColumn(rows, column, keys->data[column]);
	}
	keys->SetCardinality(rows.size());
	return keys;
}

//! DuckDB rounds 1.5 to the integer 2 when it casts: a key that is another value than the one asked for. Text is read
//! as DuckDB reads it, and DOUBLE is rounded to FLOAT as everywhere in DuckDB.
static bool MayLoseValue(const LogicalType &from, const LogicalType &to) {
	return (from.IsNumeric() || from.IsTemporal()) && from != to && to.id() != LogicalTypeId::FLOAT;
}

//! Whether every value but NULL has a value of the other type. `result` is flat then.
static bool TryCastColumn(ClientContext &context, Vector &source, Vector &result, idx_t count) {
	try {
		string error;
		if (!VectorOperations::TryCast(context, source, result, count, &error)) {
			return false;
		}
	} catch (const std::exception &ex) {
		// a pair of types without a cast throws in place of saying false; the message may hold the value
		ErrorData error(ex);
		switch (error.Type()) {
		case ExceptionType::INTERRUPT:
		case ExceptionType::OUT_OF_MEMORY:
		case ExceptionType::INTERNAL:
		case ExceptionType::FATAL:
			throw;
		default:
			return false;
		}
	}
	// casts of an ENUM say that they succeeded whatever became of the values
	result.Flatten(count);
	auto &given = FlatVector::Validity(source);
	auto &cast = FlatVector::Validity(result);
	for (idx_t row = 0; row < count; row++) {
		if (given.RowIsValid(row) && !cast.RowIsValid(row)) {
			return false;
		}
	}
	return true;
}

void KeyMaker::CastColumn(const vector<vector<Value>> &rows, idx_t column, Vector &result) const {
	auto &target = shape.types[column];
	auto &given = rows.front()[column].type();
	Vector source(given, rows.size());
	for (idx_t row = 0; row < rows.size(); row++) {
		source.SetValue(row, rows[row][column]);
	}
	// without what a type carries: an ENUM's type names its values
	auto given_name = EnumUtil::ToString(given.id());
	if (!TryCastColumn(context, source, result, rows.size())) {
		Refuse(StringUtil::Format("the value for column \"%s\" of index \"%s\" cannot be cast from %s to %s",
		                          shape.columns[column], index, given_name, target.ToString()));
	}
	if (!MayLoseValue(given, target)) {
		return;
	}
	Vector back(given, rows.size());
	SelectionVector changed(rows.size());
	if (!TryCastColumn(context, result, back, rows.size()) ||
	    VectorOperations::DistinctFrom(source, back, nullptr, rows.size(), &changed, nullptr) > 0) {
		Refuse(StringUtil::Format("the value for column \"%s\" of index \"%s\" is a %s that %s does not hold exactly; "
		                          "cast it to %s where that is meant",
		                          shape.columns[column], index, given_name, target.ToString(), target.ToString()));
	}
}

} // namespace moraine
