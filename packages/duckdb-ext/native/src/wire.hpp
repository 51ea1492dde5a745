// Frames of the wire protocol (packages/duckdb-ext/PROTOCOL.md): fields in order, little-endian.
#pragma once

#include "duckdb.hpp"

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace moraine {

//! `maxFrameBytes` of the protocol: of what follows the length.
constexpr uint32_t MAX_FRAME_BYTES = 1u << 30;
constexpr uint32_t PROTOCOL_MAGIC = 0x4d524e58;
constexpr uint16_t PROTOCOL_VERSION = 1;

enum class FrameKind : uint8_t {
	HELLO = 0x01,
	ATTACH = 0x02,
	JOIN = 0x03,
	FOLLOW = 0x04,
	COMMIT = 0x05,
	CREATE_INDEX = 0x06,
	DROP_INDEX = 0x07,
	DESCRIBE_INDEX = 0x08,
	READ_INDEX = 0x09,
	LIST_INDEXES = 0x0a,
	DETACH = 0x0b,
	STATUS = 0x0c,
	STOP = 0x0d,
	USE = 0x0e,
	CLAIM = 0x15,
	FAILED = 0x7f,
	WELCOME = 0x81,
	ATTACHED = 0x82,
	JOINED = 0x83,
	UNCHANGED = 0x84,
	CHANGES_BEGIN = 0x85,
	STATEMENTS = 0x86,
	ROWS = 0x87,
	CHANGES_END = 0x88,
	COMMITTED = 0x89,
	DONE = 0x8a,
	INDEX_SHAPE = 0x8b,
	ROW_IDS = 0x8c,
	INDEXES = 0x8d,
	STATUS_REPORT = 0x8e,
};

//! Bytes that are not what the protocol says. An IO error without words that make DuckLake repeat the statement.
class WireException : public duckdb::IOException {
public:
	explicit WireException(const std::string &what) : duckdb::IOException("moraine: malformed frame: " + what) {
	}
};

//! Builds one frame. Throws InvalidInputException where it would be longer than the limit.
class FrameWriter {
public:
	explicit FrameWriter(FrameKind kind);
	//! A frame whose first field is the attachment's id, which `Attachment` fills in when it sends.
	static FrameWriter ForAttachment(FrameKind kind);

	void U8(uint8_t value);
	void U16(uint16_t value);
	void U32(uint32_t value);
	void U64(uint64_t value);
	void I64(int64_t value);
	void Bool(bool value);
	void Bytes(const void *data, size_t size);
	void Text(const std::string &text);
	//! option<u64>; absent where it is not valid.
	void OptionU64(duckdb::optional_idx value);
	void OptionText(duckdb::optional_ptr<const std::string> text);
	void Texts(const duckdb::vector<std::string> &texts);
	void Map(const std::map<std::string, std::string> &map);
	//! Rows of a chunk. Throws NotImplementedException for types that do not cross the wire.
	void Batch(duckdb::DataChunk &chunk);

	//! Room for `size` bytes at the end; valid until the next addition.
	uint8_t *Grow(size_t size);
	size_t Size() const {
		return bytes.size();
	}
	void PatchU32(size_t offset, uint32_t value);
	void PatchU8(size_t offset, uint8_t value);

	FrameKind Kind() const {
		return static_cast<FrameKind>(bytes[4]);
	}
	bool HasAttachment() const {
		return has_attachment;
	}
	void SetAttachment(uint64_t attachment);
	//! The frame with its length in front.
	const std::vector<uint8_t> &Finish();

private:
	std::vector<uint8_t> bytes;
	bool has_attachment = false;
};

class BatchReader;

//! Reads the fields of one frame that it owns. Whatever does not fit throws WireException.
class FrameReader {
public:
	FrameReader(FrameKind kind, std::vector<uint8_t> message);

	FrameKind Kind() const {
		return kind;
	}
	uint8_t U8();
	uint16_t U16();
	uint32_t U32();
	uint64_t U64();
	int64_t I64();
	bool Bool();
	std::string Text();
	duckdb::optional_idx OptionU64();
	//! Whether there is one; `text` is set if so.
	bool OptionText(std::string &text);
	duckdb::vector<std::string> Texts();
	std::map<std::string, std::string> Map();
	//! A list's count, refused where the rest of the frame could not hold that many items of `item_bytes` or more.
	uint32_t Count(size_t item_bytes);
	//! Views this frame's bytes, so that the frame has to stay.
	BatchReader Batch();
	//! Refuses a frame that has bytes left.
	void End();

	size_t Remaining() const {
		return static_cast<size_t>(end - position);
	}
	//! The next `size` bytes.
	const uint8_t *Take(size_t size);

private:
	FrameKind kind;
	std::vector<uint8_t> message;
	const uint8_t *position;
	const uint8_t *end;
};

//! One column, or one nested part of a column, checked: everything in it lies inside the frame.
struct ColumnView {
	duckdb::LogicalType type;
	uint64_t rows = 0;
	//! Null where no row is NULL.
	const uint8_t *validity = nullptr;
	const uint8_t *values = nullptr;
	//! rows + 1 of them, not aligned.
	const uint8_t *offsets = nullptr;
	std::vector<ColumnView> children;
};

//! Rows of a batch, which are copied out in slices.
class BatchReader {
public:
	duckdb::idx_t Rows() const {
		return rows;
	}
	const duckdb::vector<duckdb::LogicalType> &Types() const {
		return types;
	}
	//! Fills an empty chunk of `Types()` from row `first` on, up to the chunk's capacity. Returns its rows, 0 at the
	//! end.
	duckdb::idx_t Read(duckdb::idx_t first, duckdb::DataChunk &into) const;

private:
	friend class FrameReader;
	duckdb::idx_t rows = 0;
	duckdb::vector<duckdb::LogicalType> types;
	std::vector<ColumnView> columns;
};

} // namespace moraine
