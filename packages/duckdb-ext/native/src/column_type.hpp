// Types of columns that cross the wire: their text, and how their values lie in a batch.
#pragma once

#include "duckdb/common/types.hpp"

#include <cstdint>
#include <string>

namespace moraine {

//! How the values of a type are written. Nested types have their parts as children.
enum class Layout : uint8_t {
	NOTHING,
	BITS,
	//! `FixedWidth` bytes a value, as DuckDB has them in memory.
	FIXED,
	//! 16 bytes in the order in which they are written.
	UUID,
	//! 16 bytes, two's complement, whatever the width in memory.
	DECIMAL,
	//! Offsets, a length, the bytes.
	STRING,
	//! Offsets and one child.
	LIST,
	//! One child of rows * size.
	ARRAY,
	//! One child a field.
	STRUCT,
};

//! Throws NotImplementedException for a type that the protocol does not list.
Layout LayoutOf(const duckdb::LogicalType &type);

//! Bytes of a value of Layout::FIXED.
duckdb::idx_t FixedWidth(const duckdb::LogicalType &type);

//! The type in DuckDB's own words. Throws NotImplementedException for one that holds a type that does not cross the
//! wire.
std::string TypeText(const duckdb::LogicalType &type);

//! Reads what `TypeText` writes; throws WireException for everything else.
duckdb::LogicalType ParseType(const std::string &text);

} // namespace moraine
