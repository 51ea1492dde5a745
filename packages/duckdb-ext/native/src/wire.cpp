#include "wire.hpp"

namespace moraine {

using namespace duckdb;

static constexpr size_t LENGTH_BYTES = 4;
static constexpr size_t MESSAGE_START = LENGTH_BYTES + 1;

FrameWriter::FrameWriter(FrameKind kind) {
	bytes.reserve(256);
	U32(0);
	U8(static_cast<uint8_t>(kind));
}

FrameWriter FrameWriter::ForAttachment(FrameKind kind) {
	FrameWriter writer(kind);
	writer.has_attachment = true;
	writer.U64(0);
	return writer;
}

uint8_t *FrameWriter::Grow(size_t size) {
	auto start = bytes.size();
	if (size > LENGTH_BYTES + size_t(MAX_FRAME_BYTES) - start) {
		throw InvalidInputException("moraine: a request of more than %d bytes: write in several smaller transactions",
		                            idx_t(MAX_FRAME_BYTES));
	}
	bytes.resize(start + size);
	return bytes.data() + start;
}

void FrameWriter::U8(uint8_t value) {
	*Grow(1) = value;
}

void FrameWriter::U16(uint16_t value) {
	memcpy(Grow(sizeof(value)), &value, sizeof(value));
}

void FrameWriter::U32(uint32_t value) {
	memcpy(Grow(sizeof(value)), &value, sizeof(value));
}

void FrameWriter::U64(uint64_t value) {
	memcpy(Grow(sizeof(value)), &value, sizeof(value));
}

void FrameWriter::I64(int64_t value) {
	memcpy(Grow(sizeof(value)), &value, sizeof(value));
}

void FrameWriter::Bool(bool value) {
	U8(value ? 1 : 0);
}

void FrameWriter::Bytes(const void *data, size_t size) {
	auto target = Grow(sizeof(uint32_t) + size);
	auto length = static_cast<uint32_t>(size);
	memcpy(target, &length, sizeof(length));
	if (size > 0) {
		memcpy(target + sizeof(length), data, size);
	}
}

void FrameWriter::Text(const std::string &text) {
	Bytes(text.data(), text.size());
}

void FrameWriter::OptionU64(optional_idx value) {
	Bool(value.IsValid());
	if (value.IsValid()) {
		U64(value.GetIndex());
	}
}

void FrameWriter::OptionText(optional_ptr<const std::string> text) {
	Bool(text);
	if (text) {
		Text(*text);
	}
}

void FrameWriter::Texts(const vector<std::string> &texts) {
	U32(static_cast<uint32_t>(texts.size()));
	for (auto &text : texts) {
		Text(text);
	}
}

void FrameWriter::Map(const std::map<std::string, std::string> &map) {
	U32(static_cast<uint32_t>(map.size()));
	for (auto &entry : map) {
		Text(entry.first);
		Text(entry.second);
	}
}

void FrameWriter::PatchU32(size_t offset, uint32_t value) {
	memcpy(bytes.data() + offset, &value, sizeof(value));
}

void FrameWriter::SetAttachment(uint64_t attachment) {
	memcpy(bytes.data() + MESSAGE_START, &attachment, sizeof(attachment));
}

void FrameWriter::PatchU8(size_t offset, uint8_t value) {
	bytes[offset] = value;
}

const std::vector<uint8_t> &FrameWriter::Finish() {
	PatchU32(0, static_cast<uint32_t>(bytes.size() - LENGTH_BYTES));
	return bytes;
}

FrameReader::FrameReader(FrameKind kind, std::vector<uint8_t> message_p)
    : kind(kind), message(std::move(message_p)), position(message.data()), end(message.data() + message.size()) {
}

const uint8_t *FrameReader::Take(size_t size) {
	if (size > Remaining()) {
		throw WireException("a field of " + std::to_string(size) + " bytes where " + std::to_string(Remaining()) +
		                    " are left, in a frame of kind " + std::to_string(static_cast<int>(kind)));
	}
	auto start = position;
	position += size;
	return start;
}

template <class T> static T Load(const uint8_t *bytes) {
	T value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

uint8_t FrameReader::U8() {
	return *Take(1);
}

uint16_t FrameReader::U16() {
	return moraine::Load<uint16_t>(Take(sizeof(uint16_t)));
}

uint32_t FrameReader::U32() {
	return moraine::Load<uint32_t>(Take(sizeof(uint32_t)));
}

uint64_t FrameReader::U64() {
	return moraine::Load<uint64_t>(Take(sizeof(uint64_t)));
}

int64_t FrameReader::I64() {
	return moraine::Load<int64_t>(Take(sizeof(int64_t)));
}

bool FrameReader::Bool() {
	auto value = U8();
	if (value > 1) {
		throw WireException("a truth value of " + std::to_string(value));
	}
	return value == 1;
}

std::string FrameReader::Text() {
	auto size = U32();
	auto bytes = reinterpret_cast<const char *>(Take(size));
	if (!Value::StringIsValid(bytes, size)) {
		throw WireException("a text that is not UTF-8");
	}
	return std::string(bytes, size);
}

optional_idx FrameReader::OptionU64() {
	if (!Bool()) {
		return optional_idx();
	}
	auto value = U64();
	if (value == DConstants::INVALID_INDEX) {
		throw WireException("a number beyond those that are used");
	}
	return optional_idx(value);
}

bool FrameReader::OptionText(std::string &text) {
	if (!Bool()) {
		return false;
	}
	text = Text();
	return true;
}

uint32_t FrameReader::Count(size_t item_bytes) {
	auto count = U32();
	if (count > Remaining() / item_bytes) {
		throw WireException("a list of " + std::to_string(count) + " items in " + std::to_string(Remaining()) +
		                    " bytes");
	}
	return count;
}

vector<std::string> FrameReader::Texts() {
	vector<std::string> texts;
	for (auto left = Count(sizeof(uint32_t)); left > 0; left--) {
		texts.push_back(Text());
	}
	return texts;
}

std::map<std::string, std::string> FrameReader::Map() {
	std::map<std::string, std::string> map;
	for (auto left = Count(2 * sizeof(uint32_t)); left > 0; left--) {
		auto key = Text();
		map[key] = Text();
	}
	return map;
}

void FrameReader::End() {
	if (Remaining() > 0) {
		throw WireException(std::to_string(Remaining()) + " bytes behind the last field of a frame of kind " +
		                    std::to_string(static_cast<int>(kind)));
	}
}

} // namespace moraine
