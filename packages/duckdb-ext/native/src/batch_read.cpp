// Batches of the protocol as chunks of DuckDB. Everything is checked before anything is allocated for it.
#include "column_type.hpp"
#include "wire.hpp"

#include "duckdb/common/types/uuid.hpp"

namespace moraine {

using namespace duckdb;

static constexpr uint64_t MAX_ROWS = UINT32_MAX;

static uint32_t OffsetAt(const uint8_t *offsets, uint64_t row) {
	uint32_t offset;
	memcpy(&offset, offsets + row * sizeof(offset), sizeof(offset));
	return offset;
}

static bool BitAt(const uint8_t *bits, uint64_t row) {
	return ((bits[row >> 3] >> (row & 7)) & 1) != 0;
}

//! Takes `rows` times `width` bytes. `rows` is below 2^32 and `width` at most 16, so that the product is one.
static const uint8_t *TakeRows(FrameReader &frame, uint64_t rows, uint64_t width) {
	return frame.Take(rows * width);
}

static const uint8_t *TakeOffsets(FrameReader &frame, uint64_t rows) {
	auto offsets = TakeRows(frame, rows + 1, sizeof(uint32_t));
	uint32_t last = OffsetAt(offsets, 0);
	if (last != 0) {
		throw WireException("offsets that do not begin at 0");
	}
	for (uint64_t row = 1; row <= rows; row++) {
		auto offset = OffsetAt(offsets, row);
		if (offset < last) {
			throw WireException("offsets that descend at row " + std::to_string(row));
		}
		last = offset;
	}
	return offsets;
}

static void CheckText(const ColumnView &column) {
	for (uint64_t row = 0; row < column.rows; row++) {
		auto start = OffsetAt(column.offsets, row);
		auto size = OffsetAt(column.offsets, row + 1) - start;
		if (!Value::StringIsValid(reinterpret_cast<const char *>(column.values) + start, size)) {
			throw WireException("a text that is not UTF-8 at row " + std::to_string(row));
		}
	}
}

static void TakeStrings(FrameReader &frame, ColumnView &column) {
	column.offsets = TakeOffsets(frame, column.rows);
	auto length = frame.U32();
	if (length != OffsetAt(column.offsets, column.rows)) {
		throw WireException("strings of " + std::to_string(length) + " bytes whose last offset is another");
	}
	column.values = frame.Take(length);
	if (column.type.id() == LogicalTypeId::VARCHAR) {
		CheckText(column);
	}
}

static const vector<LogicalType> ChildTypes(const LogicalType &type, Layout layout) {
	vector<LogicalType> types;
	if (layout == Layout::LIST) {
		types.push_back(ListType::GetChildType(type));
	} else if (layout == Layout::ARRAY) {
		types.push_back(ArrayType::GetChildType(type));
	} else if (layout == Layout::STRUCT) {
		for (auto &field : StructType::GetChildTypes(type)) {
			types.push_back(field.second);
		}
	}
	return types;
}

static ColumnView TakeColumn(FrameReader &frame, LogicalType type, uint64_t rows) {
	if (rows > MAX_ROWS) {
		throw WireException("a nested column of more rows than there can be");
	}
	ColumnView column;
	column.type = std::move(type);
	column.rows = rows;
	if (frame.Bool()) {
		column.validity = frame.Take((rows + 7) / 8);
	}
	auto layout = LayoutOf(column.type);
	auto child_rows = rows;
	switch (layout) {
	case Layout::NOTHING:
		break;
	case Layout::BITS:
		column.values = frame.Take((rows + 7) / 8);
		break;
	case Layout::FIXED:
		column.values = TakeRows(frame, rows, FixedWidth(column.type));
		break;
	case Layout::UUID:
	case Layout::DECIMAL:
		column.values = TakeRows(frame, rows, sizeof(hugeint_t));
		break;
	case Layout::STRING:
		TakeStrings(frame, column);
		break;
	case Layout::LIST:
		column.offsets = TakeOffsets(frame, rows);
		child_rows = OffsetAt(column.offsets, rows);
		break;
	case Layout::ARRAY:
		child_rows = rows * ArrayType::GetSize(column.type);
		break;
	case Layout::STRUCT:
		break;
	}
	for (auto &child : ChildTypes(column.type, layout)) {
		column.children.push_back(TakeColumn(frame, child, child_rows));
	}
	return column;
}

BatchReader FrameReader::Batch() {
	BatchReader batch;
	batch.rows = U32();
	// A column takes at least the length of its type's text and one byte of data.
	for (auto left = Count(sizeof(uint32_t) + 1); left > 0; left--) {
		auto type = ParseType(Text());
		batch.types.push_back(type);
		batch.columns.push_back(TakeColumn(*this, std::move(type), batch.rows));
	}
	return batch;
}

namespace {

//! Rows of a column that go to a vector, `target` being where the first one goes.
struct Slice {
	uint64_t first;
	idx_t count;
	idx_t target;
};

void FillNulls(const ColumnView &column, const Slice &slice, Vector &vector) {
	if (!column.validity) {
		return;
	}
	for (idx_t i = 0; i < slice.count; i++) {
		if (!BitAt(column.validity, slice.first + i)) {
			FlatVector::SetNull(vector, slice.target + i, true);
		}
	}
}

void FillBits(const ColumnView &column, const Slice &slice, Vector &vector) {
	auto values = FlatVector::GetData<bool>(vector) + slice.target;
	for (idx_t i = 0; i < slice.count; i++) {
		values[i] = BitAt(column.values, slice.first + i);
	}
}

void FillUuids(const ColumnView &column, const Slice &slice, Vector &vector) {
	auto values = FlatVector::GetData<hugeint_t>(vector) + slice.target;
	for (idx_t i = 0; i < slice.count; i++) {
		auto bytes = column.values + (slice.first + i) * sizeof(hugeint_t);
		uint64_t upper = 0;
		uint64_t lower = 0;
		for (idx_t byte = 0; byte < 8; byte++) {
			upper = upper << 8 | bytes[byte];
			lower = lower << 8 | bytes[8 + byte];
		}
		values[i].upper = static_cast<int64_t>(upper ^ (uint64_t(1) << 63));
		values[i].lower = lower;
	}
}

template <class T> void FillDecimalsOf(const ColumnView &column, const Slice &slice, Vector &vector) {
	auto values = FlatVector::GetData<T>(vector) + slice.target;
	for (idx_t i = 0; i < slice.count; i++) {
		hugeint_t wide;
		memcpy(&wide, column.values + (slice.first + i) * sizeof(wide), sizeof(wide));
		if (!Hugeint::TryCast<T>(wide, values[i])) {
			throw WireException("a decimal that is too large for " + column.type.ToString());
		}
	}
}

void FillDecimals(const ColumnView &column, const Slice &slice, Vector &vector) {
	switch (column.type.InternalType()) {
	case PhysicalType::INT16:
		return FillDecimalsOf<int16_t>(column, slice, vector);
	case PhysicalType::INT32:
		return FillDecimalsOf<int32_t>(column, slice, vector);
	case PhysicalType::INT64:
		return FillDecimalsOf<int64_t>(column, slice, vector);
	default:
		return FillDecimalsOf<hugeint_t>(column, slice, vector);
	}
}

void FillStrings(const ColumnView &column, const Slice &slice, Vector &vector) {
	auto values = FlatVector::GetData<string_t>(vector) + slice.target;
	for (idx_t i = 0; i < slice.count; i++) {
		auto start = OffsetAt(column.offsets, slice.first + i);
		auto size = OffsetAt(column.offsets, slice.first + i + 1) - start;
		auto bytes = reinterpret_cast<const char *>(column.values) + start;
		values[i] = StringVector::AddStringOrBlob(vector, bytes, size);
	}
}

void Fill(const ColumnView &column, const Slice &slice, Vector &vector);

void FillLists(const ColumnView &column, const Slice &slice, Vector &vector) {
	auto first = OffsetAt(column.offsets, slice.first);
	auto count = OffsetAt(column.offsets, slice.first + slice.count) - first;
	auto before = ListVector::GetListSize(vector);
	ListVector::Reserve(vector, before + count);
	auto entries = FlatVector::GetData<list_entry_t>(vector) + slice.target;
	for (idx_t i = 0; i < slice.count; i++) {
		auto start = OffsetAt(column.offsets, slice.first + i);
		entries[i].offset = before + (start - first);
		entries[i].length = OffsetAt(column.offsets, slice.first + i + 1) - start;
	}
	Fill(column.children[0], Slice {first, count, before}, ListVector::GetEntry(vector));
	ListVector::SetListSize(vector, before + count);
}

void Fill(const ColumnView &column, const Slice &slice, Vector &vector) {
	switch (LayoutOf(column.type)) {
	case Layout::NOTHING:
		for (idx_t i = 0; i < slice.count; i++) {
			FlatVector::SetNull(vector, slice.target + i, true);
		}
		return;
	case Layout::BITS:
		FillBits(column, slice, vector);
		break;
	case Layout::FIXED: {
		auto width = FixedWidth(column.type);
		memcpy(FlatVector::GetData(vector) + slice.target * width, column.values + slice.first * width,
		       slice.count * width);
		break;
	}
	case Layout::UUID:
		FillUuids(column, slice, vector);
		break;
	case Layout::DECIMAL:
		FillDecimals(column, slice, vector);
		break;
	case Layout::STRING:
		FillStrings(column, slice, vector);
		break;
	case Layout::LIST:
		FillLists(column, slice, vector);
		break;
	case Layout::ARRAY: {
		auto size = ArrayType::GetSize(column.type);
		Fill(column.children[0], Slice {slice.first * size, slice.count * size, slice.target * size},
		     ArrayVector::GetEntry(vector));
		break;
	}
	case Layout::STRUCT: {
		auto &fields = StructVector::GetEntries(vector);
		for (idx_t i = 0; i < fields.size(); i++) {
			Fill(column.children[i], slice, *fields[i]);
		}
		break;
	}
	}
	// Last, because a NULL of a struct makes its fields NULL as well.
	FillNulls(column, slice, vector);
}

} // namespace

idx_t BatchReader::Read(idx_t first, DataChunk &into) const {
	into.Reset();
	auto count = first < rows ? MinValue<idx_t>(rows - first, into.GetCapacity()) : 0;
	for (idx_t i = 0; i < columns.size() && count > 0; i++) {
		Fill(columns[i], Slice {first, count, 0}, into.data[i]);
	}
	into.SetCardinality(count);
	return count;
}

} // namespace moraine
