// Chunks of DuckDB as batches of the protocol.
#include "column_type.hpp"
#include "wire.hpp"

namespace moraine {

using namespace duckdb;

namespace {

//! Stands for a row that is NULL, or that lies inside of one.
constexpr uint32_t ABSENT = UINT32_MAX;
using RowList = std::vector<uint32_t>;

idx_t BitBytes(idx_t bits) {
	return (bits + 7) / 8;
}

class ColumnWriter {
public:
	explicit ColumnWriter(FrameWriter &frame) : frame(frame) {
	}

	//! Writes the rows of a column that `rows` names, in that order.
	void Write(const RecursiveUnifiedVectorFormat &column, RowList rows) {
		ToPositions(column.unified, rows);
		auto layout = LayoutOf(column.logical_type);
		WriteValidity(rows);
		switch (layout) {
		case Layout::NOTHING:
			return;
		case Layout::BITS:
			return WriteBits(column, rows);
		case Layout::FIXED:
			return WriteFixed(column, rows);
		case Layout::UUID:
			return WriteUuids(column, rows);
		case Layout::DECIMAL:
			return WriteDecimals(column, rows);
		case Layout::STRING:
			return WriteStrings(column, rows);
		case Layout::LIST:
			return WriteLists(column, rows);
		case Layout::ARRAY:
			return WriteArrays(column, rows);
		case Layout::STRUCT:
			for (auto &field : column.children) {
				Write(field, rows);
			}
			return;
		}
	}

private:
	//! From rows of the vector to positions in its data.
	static void ToPositions(const UnifiedVectorFormat &format, RowList &rows) {
		for (auto &row : rows) {
			if (row == ABSENT) {
				continue;
			}
			auto position = format.sel->get_index(row);
			row = format.validity.RowIsValid(position) ? static_cast<uint32_t>(position) : ABSENT;
		}
	}

	uint8_t *GrowZero(idx_t size) {
		auto target = frame.Grow(size);
		memset(target, 0, size);
		return target;
	}

	void WriteValidity(const RowList &positions) {
		auto has_nulls = std::find(positions.begin(), positions.end(), ABSENT) != positions.end();
		frame.Bool(has_nulls);
		if (!has_nulls) {
			return;
		}
		auto bits = GrowZero(BitBytes(positions.size()));
		for (idx_t i = 0; i < positions.size(); i++) {
			if (positions[i] != ABSENT) {
				bits[i >> 3] |= static_cast<uint8_t>(1u << (i & 7));
			}
		}
	}

	void WriteBits(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		auto values = UnifiedVectorFormat::GetData<bool>(column.unified);
		auto bits = GrowZero(BitBytes(positions.size()));
		for (idx_t i = 0; i < positions.size(); i++) {
			if (positions[i] != ABSENT && values[positions[i]]) {
				bits[i >> 3] |= static_cast<uint8_t>(1u << (i & 7));
			}
		}
	}

	template <idx_t WIDTH> void WriteWidth(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		auto target = frame.Grow(positions.size() * WIDTH);
		for (auto position : positions) {
			if (position == ABSENT) {
				memset(target, 0, WIDTH);
			} else {
				memcpy(target, column.unified.data + position * WIDTH, WIDTH);
			}
			target += WIDTH;
		}
	}

	void WriteFixed(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		switch (FixedWidth(column.logical_type)) {
		case 1:
			return WriteWidth<1>(column, positions);
		case 2:
			return WriteWidth<2>(column, positions);
		case 4:
			return WriteWidth<4>(column, positions);
		case 8:
			return WriteWidth<8>(column, positions);
		case 16:
			return WriteWidth<16>(column, positions);
		default:
			throw InternalException("moraine: values of %s have no width", column.logical_type.ToString());
		}
	}

	void WriteUuids(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		auto values = UnifiedVectorFormat::GetData<hugeint_t>(column.unified);
		auto target = GrowZero(positions.size() * sizeof(hugeint_t));
		for (auto position : positions) {
			if (position != ABSENT) {
				// DuckDB turns the highest bit, so that UUIDs compare as signed numbers.
				auto upper = static_cast<uint64_t>(values[position].upper) ^ (uint64_t(1) << 63);
				auto lower = values[position].lower;
				for (idx_t byte = 0; byte < 8; byte++) {
					target[byte] = static_cast<uint8_t>(upper >> (56 - 8 * byte));
					target[8 + byte] = static_cast<uint8_t>(lower >> (56 - 8 * byte));
				}
			}
			target += sizeof(hugeint_t);
		}
	}

	template <class T> void WriteDecimalsOf(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		auto values = UnifiedVectorFormat::GetData<T>(column.unified);
		auto target = GrowZero(positions.size() * sizeof(hugeint_t));
		for (auto position : positions) {
			if (position != ABSENT) {
				hugeint_t wide(values[position]);
				memcpy(target, &wide, sizeof(wide));
			}
			target += sizeof(hugeint_t);
		}
	}

	void WriteDecimals(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		switch (column.logical_type.InternalType()) {
		case PhysicalType::INT16:
			return WriteDecimalsOf<int16_t>(column, positions);
		case PhysicalType::INT32:
			return WriteDecimalsOf<int32_t>(column, positions);
		case PhysicalType::INT64:
			return WriteDecimalsOf<int64_t>(column, positions);
		default:
			return WriteDecimalsOf<hugeint_t>(column, positions);
		}
	}

	void WriteStrings(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		auto values = UnifiedVectorFormat::GetData<string_t>(column.unified);
		auto offsets = frame.Grow((positions.size() + 1) * sizeof(uint32_t));
		uint64_t total = 0;
		for (idx_t i = 0; i <= positions.size(); i++) {
			auto offset = static_cast<uint32_t>(total);
			memcpy(offsets + i * sizeof(offset), &offset, sizeof(offset));
			if (i < positions.size() && positions[i] != ABSENT) {
				total += values[positions[i]].GetSize();
			}
		}
		// The frame's limit is below that of offsets, so that what does not fit these is refused here.
		auto target = frame.Grow(sizeof(uint32_t) + total);
		auto length = static_cast<uint32_t>(total);
		memcpy(target, &length, sizeof(length));
		target += sizeof(length);
		for (auto position : positions) {
			if (position != ABSENT) {
				auto &value = values[position];
				memcpy(target, value.GetData(), value.GetSize());
				target += value.GetSize();
			}
		}
	}

	void WriteLists(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		auto entries = UnifiedVectorFormat::GetData<list_entry_t>(column.unified);
		RowList children;
		frame.U32(0);
		for (auto position : positions) {
			if (position != ABSENT) {
				auto &entry = entries[position];
				for (idx_t i = 0; i < entry.length; i++) {
					children.push_back(static_cast<uint32_t>(entry.offset + i));
				}
			}
			frame.U32(static_cast<uint32_t>(children.size()));
		}
		Write(column.children[0], std::move(children));
	}

	void WriteArrays(const RecursiveUnifiedVectorFormat &column, const RowList &positions) {
		auto size = ArrayType::GetSize(column.logical_type);
		RowList children;
		children.reserve(positions.size() * size);
		for (auto position : positions) {
			for (idx_t i = 0; i < size; i++) {
				children.push_back(position == ABSENT ? ABSENT : static_cast<uint32_t>(position * size + i));
			}
		}
		Write(column.children[0], std::move(children));
	}

	FrameWriter &frame;
};

} // namespace

void FrameWriter::Batch(DataChunk &chunk) {
	U32(static_cast<uint32_t>(chunk.size()));
	U32(static_cast<uint32_t>(chunk.ColumnCount()));
	RowList rows(chunk.size());
	for (uint32_t i = 0; i < rows.size(); i++) {
		rows[i] = i;
	}
	for (auto &column : chunk.data) {
		Text(TypeText(column.GetType()));
		RecursiveUnifiedVectorFormat format;
		Vector::RecursiveToUnifiedFormat(column, chunk.size(), format);
		ColumnWriter(*this).Write(format, rows);
	}
}

} // namespace moraine
