// Reads the golden frames (golden/wire/*.hex, the folder is the argument), writes again what was read, and compares;
// then reads every beginning of each, and each with bytes changed: all of it has to be refused or read, whatever it is.
// With a store and a working directory as arguments it prints the store's location and the name of its service.
#include "service.hpp"
#include "wire.hpp"

#include <dirent.h>
#include <fstream>
#include <iostream>
#include <random>

using namespace moraine;
using duckdb::DataChunk;
using duckdb::idx_t;

static constexpr int MUTATIONS = 2000;
static constexpr idx_t MAX_TEST_ROWS = 100000;

static std::vector<uint8_t> ReadHex(const std::string &path) {
	std::ifstream file(path);
	std::string digits;
	for (std::string line; std::getline(file, line);) {
		if (line.empty() || line[0] != '#') {
			digits += line;
		}
	}
	std::vector<uint8_t> bytes;
	for (size_t i = 0; i + 1 < digits.size(); i += 2) {
		bytes.push_back(static_cast<uint8_t>(std::stoi(digits.substr(i, 2), nullptr, 16)));
	}
	return bytes;
}

//! A frame as it arrives; throws where the length is not that of the bytes.
static FrameReader ToReader(const std::vector<uint8_t> &frame) {
	uint32_t length = 0;
	if (frame.size() < 5) {
		throw WireException("no whole frame");
	}
	memcpy(&length, frame.data(), sizeof(length));
	if (length != frame.size() - 4) {
		throw WireException("a length that is not the frame's");
	}
	return FrameReader(static_cast<FrameKind>(frame[4]), std::vector<uint8_t>(frame.begin() + 5, frame.end()));
}

//! Copies a batch, in slices of `capacity` rows as well, which has to read the same values.
static void CopyBatch(FrameReader &reader, FrameWriter &writer) {
	auto batch = reader.Batch();
	if (batch.Rows() > MAX_TEST_ROWS) {
		throw WireException("more rows than this program copies");
	}
	DataChunk whole;
	whole.Initialize(duckdb::Allocator::DefaultAllocator(), batch.Types(), std::max<idx_t>(batch.Rows(), 1));
	batch.Read(0, whole);
	writer.Batch(whole);
	DataChunk slice;
	slice.Initialize(duckdb::Allocator::DefaultAllocator(), batch.Types(), 2);
	for (idx_t row = 0; batch.Read(row, slice) > 0; row += slice.size()) {
		for (idx_t i = 0; i < slice.size() * batch.Types().size(); i++) {
			auto column = i % batch.Types().size();
			auto line = i / batch.Types().size();
			// DuckDB would take the parts of a VARIANT for positions in each other, and these are any.
			auto is_variant = batch.Types()[column].id() == duckdb::LogicalTypeId::VARIANT;
			if (!is_variant &&
			    !duckdb::Value::NotDistinctFrom(slice.GetValue(column, line), whole.GetValue(column, row + line))) {
				throw duckdb::InternalException("a slice differs from the whole at row %d", row + line);
			}
		}
	}
}

static void CopyBatches(FrameReader &reader, FrameWriter &writer) {
	auto count = reader.Count(8);
	writer.U32(count);
	for (uint32_t i = 0; i < count; i++) {
		CopyBatch(reader, writer);
	}
}

static void CopyChanges(FrameReader &reader, FrameWriter &writer) {
	auto ddl = reader.Count(1);
	writer.U32(ddl);
	for (uint32_t i = 0; i < ddl; i++) {
		writer.U8(reader.U8());
		writer.Text(reader.Text());
		writer.Text(reader.Text());
		auto columns = reader.Count(8);
		writer.U32(columns);
		for (uint32_t column = 0; column < 2 * columns; column++) {
			writer.Text(reader.Text());
		}
		writer.Text(reader.Text());
	}
	auto tables = reader.Count(1);
	writer.U32(tables);
	for (uint32_t i = 0; i < tables; i++) {
		writer.Text(reader.Text());
		writer.Text(reader.Text());
		writer.Texts(reader.Texts());
		for (int part = 0; part < 4; part++) {
			CopyBatches(reader, writer);
		}
	}
}

//! Reads a frame and writes it again. False for a kind that this program does not know.
static bool Copy(FrameReader &reader, FrameWriter &writer) {
	switch (reader.Kind()) {
	case FrameKind::ROWS:
		writer.Text(reader.Text());
		writer.Text(reader.Text());
		CopyBatch(reader, writer);
		break;
	case FrameKind::ROW_IDS:
	case FrameKind::INDEXES:
		CopyBatch(reader, writer);
		break;
	case FrameKind::COMMIT:
		writer.U64(reader.U64());
		writer.OptionU64(reader.OptionU64());
		writer.U8(reader.U8());
		CopyChanges(reader, writer);
		break;
	case FrameKind::READ_INDEX:
		writer.U64(reader.U64());
		writer.OptionU64(reader.OptionU64());
		writer.U64(reader.U64());
		writer.U8(reader.U8());
		writer.U8(reader.U8());
		CopyBatches(reader, writer);
		break;
	case FrameKind::FOLLOW:
		writer.U64(reader.U64());
		writer.OptionU64(reader.OptionU64());
		writer.OptionU64(reader.OptionU64());
		writer.U8(reader.U8());
		break;
	case FrameKind::ATTACH:
		for (int i = 0; i < 3; i++) {
			writer.Text(reader.Text());
		}
		writer.Bool(reader.Bool());
		for (int i = 0; i < 3; i++) {
			writer.Map(reader.Map());
		}
		break;
	case FrameKind::ATTACHED: {
		writer.U64(reader.U64());
		writer.Bool(reader.Bool());
		std::string path;
		auto has_path = reader.OptionText(path);
		writer.OptionText(has_path ? &path : nullptr);
		break;
	}
	case FrameKind::HELLO:
	case FrameKind::WELCOME:
		writer.U32(reader.U32());
		writer.U16(reader.U16());
		writer.Text(reader.Text());
		writer.U64(reader.U64());
		if (reader.Kind() == FrameKind::HELLO) {
			writer.Text(reader.Text());
		}
		break;
	case FrameKind::CHANGES_BEGIN:
	case FrameKind::DONE:
		writer.Bool(reader.Bool());
		break;
	case FrameKind::CHANGES_END:
	case FrameKind::COMMITTED:
	case FrameKind::JOIN:
	case FrameKind::DETACH:
		writer.U64(reader.U64());
		break;
	case FrameKind::STATEMENTS:
	case FrameKind::STATUS_REPORT:
		writer.Text(reader.Text());
		break;
	case FrameKind::FAILED:
		writer.Text(reader.Text());
		writer.U8(reader.U8());
		writer.Bool(reader.Bool());
		writer.Text(reader.Text());
		break;
	case FrameKind::UNCHANGED:
	case FrameKind::JOINED:
	case FrameKind::STATUS:
	case FrameKind::STOP:
		break;
	case FrameKind::INDEX_SHAPE: {
		writer.U64(reader.U64());
		writer.Bool(reader.Bool());
		auto columns = reader.Count(8);
		writer.U32(columns);
		for (uint32_t i = 0; i < 2 * columns; i++) {
			writer.Text(reader.Text());
		}
		break;
	}
	case FrameKind::LIST_INDEXES:
	case FrameKind::DESCRIBE_INDEX:
		writer.U64(reader.U64());
		writer.OptionU64(reader.OptionU64());
		writer.Text(reader.Text());
		writer.Text(reader.Text());
		if (reader.Kind() == FrameKind::DESCRIBE_INDEX) {
			writer.Text(reader.Text());
		}
		break;
	case FrameKind::CREATE_INDEX:
		writer.U64(reader.U64());
		for (int i = 0; i < 3; i++) {
			writer.Text(reader.Text());
		}
		writer.Texts(reader.Texts());
		writer.Bool(reader.Bool());
		writer.Bool(reader.Bool());
		writer.Map(reader.Map());
		break;
	case FrameKind::USE:
		writer.U64(reader.U64());
		writer.Text(reader.Text());
		writer.Map(reader.Map());
		break;
	case FrameKind::DROP_INDEX: {
		writer.U64(reader.U64());
		std::string schema;
		auto has_schema = reader.OptionText(schema);
		writer.OptionText(has_schema ? &schema : nullptr);
		writer.Text(reader.Text());
		writer.Bool(reader.Bool());
		break;
	}
	default:
		return false;
	}
	reader.End();
	return true;
}

//! Reads bytes that need not be a frame. Anything may be refused, by an error of DuckDB that is none of its own.
static bool IsRefused(const std::vector<uint8_t> &frame) {
	try {
		auto reader = ToReader(frame);
		FrameWriter writer(reader.Kind());
		return !Copy(reader, writer);
	} catch (const duckdb::InternalException &) {
		throw;
	} catch (const std::exception &) {
		return true;
	}
}

static std::string Check(const std::vector<uint8_t> &frame) {
	auto reader = ToReader(frame);
	FrameWriter writer(reader.Kind());
	if (!Copy(reader, writer)) {
		return "is of a kind that is not known";
	}
	if (writer.Finish() != frame) {
		return "is written in another way than it was read";
	}
	for (size_t size = 0; size < frame.size(); size++) {
		std::vector<uint8_t> cut(frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(size));
		if (!IsRefused(cut)) {
			return "is read although it is cut off after " + std::to_string(size) + " bytes";
		}
		if (size < 5) {
			continue;
		}
		// Cut off inside, in a frame that is whole.
		auto length = static_cast<uint32_t>(size - 4);
		memcpy(cut.data(), &length, sizeof(length));
		if (!IsRefused(cut)) {
			return "is read although its message is cut off after " + std::to_string(size - 5) + " bytes";
		}
	}
	std::mt19937 random(static_cast<uint32_t>(frame.size()));
	for (int i = 0; i < MUTATIONS && frame.size() > 5; i++) {
		auto changed = frame;
		for (auto changes = 1 + random() % 3; changes > 0; changes--) {
			changed[5 + random() % (frame.size() - 5)] = static_cast<uint8_t>(random());
		}
		IsRefused(changed);
	}
	return "";
}

int main(int count, char **arguments) {
	if (count == 3) {
		auto location = CanonicalLocation(arguments[1], arguments[2]);
		std::cout << location << "\n" << ServiceName(location) << "\n";
		return 0;
	}
	std::string folder = count == 2 ? arguments[1] : "";
	auto entries = opendir(folder.c_str());
	if (!entries) {
		std::cerr << "usage: wire-test FOLDER, which holds golden frames; or wire-test STORE CWD\n";
		return 2;
	}
	int checked = 0;
	int failed = 0;
	while (auto entry = readdir(entries)) {
		std::string name = entry->d_name;
		if (name.size() < 4 || name.substr(name.size() - 4) != ".hex") {
			continue;
		}
		std::string problem;
		try {
			problem = Check(ReadHex(folder + "/" + name));
		} catch (const std::exception &error) {
			problem = error.what();
		}
		checked++;
		if (!problem.empty()) {
			failed++;
			std::cerr << name << ": " << problem << "\n";
		}
	}
	closedir(entries);
	std::cout << checked << " golden frames, " << failed << " wrong\n";
	return checked > 0 && failed == 0 ? 0 : 1;
}
