#include "column_type.hpp"

#include "wire.hpp"

#include "duckdb/common/enum_util.hpp"
#include "duckdb/common/types/geometry_crs.hpp"

namespace moraine {

using namespace duckdb;

//! Levels of nesting: far above what tables have, far below what the stack holds.
static constexpr idx_t MAX_NESTING = 100;
//! Values of nested arrays in one row: a chunk allocates them for all of its rows.
static constexpr idx_t MAX_ARRAY_VALUES = 1u << 20;
static constexpr uint8_t MAX_DECIMAL_WIDTH = 38;

//! Types without parameters, whose text is their name.
static const LogicalTypeId PLAIN_TYPES[] = {
    LogicalTypeId::BOOLEAN,      LogicalTypeId::TINYINT,       LogicalTypeId::SMALLINT,     LogicalTypeId::INTEGER,
    LogicalTypeId::BIGINT,       LogicalTypeId::UTINYINT,      LogicalTypeId::USMALLINT,    LogicalTypeId::UINTEGER,
    LogicalTypeId::UBIGINT,      LogicalTypeId::HUGEINT,       LogicalTypeId::UHUGEINT,     LogicalTypeId::FLOAT,
    LogicalTypeId::DOUBLE,       LogicalTypeId::DATE,          LogicalTypeId::TIME,         LogicalTypeId::TIME_NS,
    LogicalTypeId::TIME_TZ,      LogicalTypeId::TIMESTAMP_SEC, LogicalTypeId::TIMESTAMP_MS, LogicalTypeId::TIMESTAMP,
    LogicalTypeId::TIMESTAMP_NS, LogicalTypeId::TIMESTAMP_TZ,  LogicalTypeId::INTERVAL,     LogicalTypeId::UUID,
    LogicalTypeId::VARCHAR,      LogicalTypeId::BLOB,          LogicalTypeId::BIT,          LogicalTypeId::BIGNUM,
};

Layout LayoutOf(const LogicalType &type) {
	switch (type.id()) {
	case LogicalTypeId::SQLNULL:
		return Layout::NOTHING;
	case LogicalTypeId::BOOLEAN:
		return Layout::BITS;
	case LogicalTypeId::TINYINT:
	case LogicalTypeId::SMALLINT:
	case LogicalTypeId::INTEGER:
	case LogicalTypeId::BIGINT:
	case LogicalTypeId::UTINYINT:
	case LogicalTypeId::USMALLINT:
	case LogicalTypeId::UINTEGER:
	case LogicalTypeId::UBIGINT:
	case LogicalTypeId::HUGEINT:
	case LogicalTypeId::UHUGEINT:
	case LogicalTypeId::FLOAT:
	case LogicalTypeId::DOUBLE:
	case LogicalTypeId::DATE:
	case LogicalTypeId::TIME:
	case LogicalTypeId::TIME_NS:
	case LogicalTypeId::TIME_TZ:
	case LogicalTypeId::TIMESTAMP_SEC:
	case LogicalTypeId::TIMESTAMP_MS:
	case LogicalTypeId::TIMESTAMP:
	case LogicalTypeId::TIMESTAMP_NS:
	case LogicalTypeId::TIMESTAMP_TZ:
	case LogicalTypeId::INTERVAL:
		return Layout::FIXED;
	case LogicalTypeId::UUID:
		return Layout::UUID;
	case LogicalTypeId::DECIMAL:
		return Layout::DECIMAL;
	case LogicalTypeId::VARCHAR:
	case LogicalTypeId::BLOB:
	case LogicalTypeId::BIT:
	case LogicalTypeId::BIGNUM:
	case LogicalTypeId::GEOMETRY:
		return Layout::STRING;
	case LogicalTypeId::LIST:
	case LogicalTypeId::MAP:
		return Layout::LIST;
	case LogicalTypeId::ARRAY:
		return Layout::ARRAY;
	case LogicalTypeId::STRUCT:
	case LogicalTypeId::VARIANT:
		return Layout::STRUCT;
	default:
		throw NotImplementedException("moraine does not store columns of type %s: cast them to another type",
		                              EnumUtil::ToString(type.id()));
	}
}

idx_t FixedWidth(const LogicalType &type) {
	return GetTypeIdSize(type.InternalType());
}

std::string TypeText(const LogicalType &type) {
	if (type.HasAlias() && !type.IsJSONType()) {
		throw NotImplementedException("moraine does not store columns of the named type %s: cast them to its base type",
		                              type.GetAlias());
	}
	switch (LayoutOf(type)) {
	case Layout::LIST:
		if (type.id() == LogicalTypeId::MAP) {
			return "MAP(" + TypeText(MapType::KeyType(type)) + ", " + TypeText(MapType::ValueType(type)) + ")";
		}
		return TypeText(ListType::GetChildType(type)) + "[]";
	case Layout::ARRAY:
		return TypeText(ArrayType::GetChildType(type)) + "[" + std::to_string(ArrayType::GetSize(type)) + "]";
	case Layout::STRUCT: {
		if (type.id() == LogicalTypeId::VARIANT) {
			return "VARIANT";
		}
		auto is_unnamed = StructType::IsUnnamed(type);
		std::string text = "STRUCT(";
		for (auto &field : StructType::GetChildTypes(type)) {
			text += text.back() == '(' ? "" : ", ";
			text += is_unnamed ? "" : StringUtil::Format("%s ", SQLIdentifier(field.first));
			text += TypeText(field.second);
		}
		return text + ")";
	}
	default:
		return type.ToString();
	}
}

namespace {

class TypeParser {
public:
	explicit TypeParser(const std::string &text) : text(text) {
	}

	LogicalType Whole() {
		auto type = Type(0, 1);
		if (at != text.size()) {
			Fail();
		}
		return type;
	}

private:
	[[noreturn]] void Fail() const {
		throw WireException("a column type that cannot be read, at character " + std::to_string(at) + " of " +
		                    std::to_string(text.size()));
	}

	char Peek() const {
		return at < text.size() ? text[at] : '\0';
	}
	bool Skip(const char *token) {
		auto length = strlen(token);
		if (text.compare(at, length, token) != 0) {
			return false;
		}
		at += length;
		return true;
	}
	void Expect(const char *token) {
		if (!Skip(token)) {
			Fail();
		}
	}

	idx_t Number(idx_t largest) {
		auto start = at;
		idx_t number = 0;
		while (isdigit(static_cast<unsigned char>(Peek()))) {
			number = number * 10 + static_cast<idx_t>(text[at++] - '0');
			if (number > largest) {
				Fail();
			}
		}
		if (at == start) {
			Fail();
		}
		return number;
	}

	std::string Quoted(char quote) {
		std::string result;
		for (at++; at < text.size(); at++) {
			if (text[at] == quote) {
				if (at + 1 >= text.size() || text[at + 1] != quote) {
					at++;
					return result;
				}
				at++;
			}
			result += text[at];
		}
		Fail();
	}

	std::string FieldName() {
		if (Peek() == '"') {
			return Quoted('"');
		}
		auto start = at;
		while (at < text.size() && text[at] != ' ') {
			at++;
		}
		return text.substr(start, at - start);
	}

	//! Whether the fields that begin here have types alone. A name is followed by a space, a type by one in two cases
	//! only.
	bool IsUnnamed() const {
		for (auto spaced : {"TIMESTAMP WITH TIME ZONE", "TIME WITH TIME ZONE"}) {
			if (text.compare(at, strlen(spaced), spaced) == 0) {
				return true;
			}
		}
		if (Peek() == '"') {
			return text.compare(at, 7, "\"NULL\",") == 0 || text.compare(at, 7, "\"NULL\")") == 0 ||
			       text.compare(at, 7, "\"NULL\"[") == 0;
		}
		auto word_end = text.find_first_of(" ,()[", at);
		return word_end == std::string::npos || text[word_end] != ' ';
	}

	LogicalType Fields(idx_t level) {
		child_list_t<LogicalType> fields;
		case_insensitive_set_t names;
		auto is_unnamed = IsUnnamed();
		do {
			std::string name;
			if (!is_unnamed) {
				name = FieldName();
				if (name.empty() || !names.insert(name).second) {
					Fail();
				}
				Expect(" ");
			}
			fields.emplace_back(std::move(name), Type(level, 1));
		} while (Skip(", "));
		Expect(")");
		return LogicalType::STRUCT(std::move(fields));
	}

	LogicalType Plain() {
		auto start = at;
		while (at < text.size() && !strchr(",()[]", text[at])) {
			at++;
		}
		auto name = text.substr(start, at - start);
		for (auto id : PLAIN_TYPES) {
			if (name == EnumUtil::ToChars(id)) {
				return LogicalType(id);
			}
		}
		at = start;
		Fail();
	}

	LogicalType Base(idx_t level) {
		if (Skip("STRUCT(")) {
			return Fields(level);
		}
		if (Skip("MAP(")) {
			auto key = Type(level, 1);
			Expect(", ");
			auto value = Type(level, 1);
			Expect(")");
			return LogicalType::MAP(std::move(key), std::move(value));
		}
		if (Skip("DECIMAL(")) {
			auto width = Number(MAX_DECIMAL_WIDTH);
			Expect(",");
			auto scale = Number(width);
			Expect(")");
			if (width == 0) {
				Fail();
			}
			return LogicalType::DECIMAL(static_cast<uint8_t>(width), static_cast<uint8_t>(scale));
		}
		if (Skip("GEOMETRY('")) {
			at--;
			auto system = Quoted('\'');
			Expect(")");
			return LogicalType::GEOMETRY(system);
		}
		if (Skip("GEOMETRY")) {
			return LogicalType::GEOMETRY();
		}
		if (Skip("VARIANT")) {
			return LogicalType::VARIANT();
		}
		if (Skip("JSON")) {
			return LogicalType::JSON();
		}
		if (Skip("\"NULL\"")) {
			return LogicalType::SQLNULL;
		}
		return Plain();
	}

	//! `arrays` is how many values the arrays around this type hold in one row.
	LogicalType Type(idx_t level, idx_t arrays) {
		if (level > MAX_NESTING) {
			Fail();
		}
		auto type = Base(level + 1);
		while (Skip("[")) {
			if (++level > MAX_NESTING) {
				Fail();
			}
			if (Skip("]")) {
				type = LogicalType::LIST(std::move(type));
				continue;
			}
			auto size = Number(ArrayType::MAX_ARRAY_SIZE);
			Expect("]");
			arrays *= size;
			if (size == 0 || arrays > MAX_ARRAY_VALUES) {
				Fail();
			}
			type = LogicalType::ARRAY(std::move(type), size);
		}
		return type;
	}

	const std::string &text;
	size_t at = 0;
};

} // namespace

LogicalType ParseType(const std::string &text) {
	return TypeParser(text).Whole();
}

} // namespace moraine
