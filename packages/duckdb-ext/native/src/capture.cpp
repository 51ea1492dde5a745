#include "capture.hpp"

#include "duckdb_internals.hpp"

#include "duckdb/catalog/catalog_entry/duck_table_entry.hpp"
#include "duckdb/common/exception/transaction_exception.hpp"
#include "duckdb/common/serializer/binary_deserializer.hpp"
#include "duckdb/common/serializer/memory_stream.hpp"
#include "duckdb/parser/parsed_data/alter_info.hpp"
#include "duckdb/storage/data_table.hpp"
#include "duckdb/storage/table/data_table_info.hpp"
#include "duckdb/storage/table/row_group_collection.hpp"
#include "duckdb/storage/table/scan_state.hpp"
#include "duckdb/transaction/delete_info.hpp"
#include "duckdb/transaction/update_info.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace moraine {

using namespace duckdb;

namespace {

enum class DdlKind : uint8_t { CREATE_TABLE = 1, DROP_TABLE = 2, CREATE_SCHEMA = 3, DROP_SCHEMA = 4, OTHER = 5 };

struct Ddl {
	DdlKind kind;
	std::string schema;
	std::string name;
	vector<std::pair<std::string, std::string>> columns;
	std::string sql;
};

struct TableChanges {
	std::set<row_t> deleted;
	std::set<row_t> updated;
	LocalTableStorage *inserted = nullptr;
};

vector<StorageIndex> AllColumns(DataTable &table) {
	vector<StorageIndex> columns;
	for (idx_t i = 0; i < table.ColumnCount(); i++) {
		columns.emplace_back(i);
	}
	return columns;
}

class Capture {
public:
	Capture(ClientContext &context, DuckTransaction &transaction) : context(context), transaction(transaction) {
	}

	bool Collect() {
		CollectUndo();
		for (auto &entry : LocalTablesOf(transaction)) {
			auto &storage = *entry.second;
			if (!storage.is_dropped && storage.GetCollection().GetTotalRows() > storage.deleted_rows) {
				tables[&entry.first.get()].inserted = &storage;
			}
		}
		for (auto table : dropped) {
			tables.erase(table);
		}
		RemoveShortLived();
		return !ddl.empty() || !tables.empty();
	}

	void Write(FrameWriter &frame) {
		frame.U32(static_cast<uint32_t>(ddl.size()));
		for (auto &change : ddl) {
			WriteDdl(frame, change);
		}
		auto ordered = InOrder();
		frame.U32(static_cast<uint32_t>(ordered.size()));
		for (auto table : ordered) {
			WriteTable(frame, *table, tables[table]);
		}
	}

private:
	//! Every entry, oldest first. Each is its kind, its length and that many bytes.
	void CollectUndo() {
		auto &entries = UndoEntriesOf(transaction);
		for (auto entry = entries.tail; entry; entry = entry->prev) {
			auto handle = entries.buffer_manager.Pin(entry->block);
			auto position = handle.Ptr();
			auto end = position + entry->position;
			while (position < end) {
				auto kind = Load<UndoFlags>(position);
				position += sizeof(UndoFlags);
				auto length = Load<uint32_t>(position);
				position += sizeof(uint32_t);
				CollectEntry(kind, position);
				position += length;
			}
		}
	}

	void CollectEntry(UndoFlags kind, data_ptr_t data) {
		switch (kind) {
		case UndoFlags::CATALOG_ENTRY:
			return CollectDdl(data);
		case UndoFlags::DELETE_TUPLE: {
			auto &info = *reinterpret_cast<DeleteInfo *>(data);
			auto &rows = tables[info.table].deleted;
			for (idx_t i = 0; i < info.count; i++) {
				rows.insert(UnsafeNumericCast<row_t>(info.base_row + (info.is_consecutive ? i : info.GetRows()[i])));
			}
			return;
		}
		case UndoFlags::UPDATE_TUPLE: {
			auto &info = *reinterpret_cast<UpdateInfo *>(data);
			auto &rows = tables[info.table].updated;
			auto first = info.row_group_start + info.vector_index * STANDARD_VECTOR_SIZE;
			for (idx_t i = 0; i < info.N; i++) {
				rows.insert(UnsafeNumericCast<row_t>(first + info.GetTuples()[i]));
			}
			return;
		}
		case UndoFlags::INSERT_TUPLE:
			throw InternalException("moraine: rows were flushed to a table before their commit");
		default:
			// Values of sequences and attached databases: of no table.
			return;
		}
	}

	void CollectDdl(data_ptr_t data) {
		auto &before = *Load<CatalogEntry *>(data);
		auto &after = before.Parent();
		auto is_drop = after.type == CatalogType::DELETED_ENTRY;
		auto &subject = is_drop ? before : after;
		if (subject.type == CatalogType::DEPENDENCY_ENTRY || subject.type == CatalogType::RENAMED_ENTRY ||
		    subject.type == CatalogType::DELETED_ENTRY) {
			return;
		}
		Ddl change {DdlKind::OTHER, "", subject.name, {}, ""};
		if (subject.type == CatalogType::SCHEMA_ENTRY) {
			change.kind = is_drop ? DdlKind::DROP_SCHEMA : DdlKind::CREATE_SCHEMA;
			change.schema = subject.name;
			change.sql = is_drop ? "DROP SCHEMA" : "CREATE SCHEMA";
		} else if (subject.type != CatalogType::TABLE_ENTRY) {
			change.schema = subject.ParentSchema().name;
			change.sql = (is_drop ? "DROP " : "CREATE ") + CatalogTypeToString(subject.type);
		} else {
			auto &table = subject.Cast<DuckTableEntry>();
			change.schema = table.ParentSchema().name;
			if (is_drop) {
				change.kind = DdlKind::DROP_TABLE;
				change.sql = "DROP TABLE";
				dropped.insert(&table.GetStorage());
			} else if (before.type == CatalogType::TABLE_ENTRY || before.type == CatalogType::RENAMED_ENTRY) {
				change.sql = AlterText(data + sizeof(CatalogEntry *));
			} else {
				change.kind = DdlKind::CREATE_TABLE;
				change.sql = "CREATE TABLE";
				for (auto &column : table.GetColumns().Logical()) {
					change.columns.emplace_back(column.Name(), column.Type().ToString());
				}
			}
		}
		ddl.push_back(std::move(change));
	}

	//! An altered entry is followed by the statement's description, its size in front.
	static std::string AlterText(data_ptr_t data) {
		auto size = Load<idx_t>(data);
		MemoryStream stream(data + sizeof(idx_t), size);
		BinaryDeserializer deserializer(stream);
		deserializer.Begin();
		deserializer.ReadProperty<string>(100, "column_name");
		auto info = deserializer.ReadProperty<unique_ptr<ParseInfo>>(101, "alter_info");
		deserializer.End();
		return info->Cast<AlterInfo>().ToString();
	}

	//! Takes out the tables that were both created and dropped: nobody has seen them.
	void RemoveShortLived() {
		vector<Ddl> lasting;
		for (auto &change : ddl) {
			auto is_same = [&](const Ddl &earlier) {
				return earlier.schema == change.schema && earlier.name == change.name;
			};
			auto earlier = std::find_if(lasting.rbegin(), lasting.rend(), is_same);
			if (change.kind == DdlKind::DROP_TABLE && earlier != lasting.rend() &&
			    earlier->kind == DdlKind::CREATE_TABLE) {
				lasting.erase(std::next(earlier).base());
			} else {
				lasting.push_back(std::move(change));
			}
		}
		ddl = std::move(lasting);
	}

	static void WriteDdl(FrameWriter &frame, const Ddl &change) {
		frame.U8(static_cast<uint8_t>(change.kind));
		frame.Text(change.schema);
		frame.Text(change.name);
		frame.U32(static_cast<uint32_t>(change.columns.size()));
		for (auto &column : change.columns) {
			frame.Text(column.first);
			frame.Text(column.second);
		}
		frame.Text(change.sql);
	}

	//! By name: the order of addresses would be another in each run.
	vector<DataTable *> InOrder() {
		vector<DataTable *> ordered;
		for (auto &entry : tables) {
			ordered.push_back(entry.first);
		}
		auto key = [](DataTable *table) {
			auto &info = *table->GetDataTableInfo();
			return std::make_pair(info.GetSchemaName(), info.GetTableName());
		};
		std::sort(ordered.begin(), ordered.end(), [&](DataTable *a, DataTable *b) { return key(a) < key(b); });
		return ordered;
	}

	void WriteTable(FrameWriter &frame, DataTable &table, const TableChanges &changes) {
		auto &info = *table.GetDataTableInfo();
		if (!table.IsMainTable()) {
			throw TransactionException("moraine: write conflict: the metadata table %s was dropped by another commit",
			                           info.GetTableName());
		}
		frame.Text(info.GetSchemaName());
		frame.Text(info.GetTableName());
		frame.U32(static_cast<uint32_t>(table.Columns().size()));
		for (auto &column : table.Columns()) {
			frame.Text(column.Name());
		}
		vector<row_t> deleted(changes.deleted.begin(), changes.deleted.end());
		// Rows that were updated and then deleted are deleted.
		vector<row_t> updated;
		std::set_difference(changes.updated.begin(), changes.updated.end(), changes.deleted.begin(),
		                    changes.deleted.end(), std::back_inserter(updated));
		// As committed transactions left them when this one began; MAX_TRANSACTION_ID is nobody's.
		TransactionData before(MAX_TRANSACTION_ID, transaction.start_time);
		TransactionData after(transaction);
		WriteRows(frame, table, before, deleted);
		WriteRows(frame, table, before, updated);
		WriteRows(frame, table, after, updated);
		WriteInserted(frame, table, changes.inserted);
	}

	void WriteRows(FrameWriter &frame, DataTable &table, TransactionData version, const vector<row_t> &rows) {
		auto columns = AllColumns(table);
		frame.U32(static_cast<uint32_t>((rows.size() + STANDARD_VECTOR_SIZE - 1) / STANDARD_VECTOR_SIZE));
		for (idx_t first = 0; first < rows.size(); first += STANDARD_VECTOR_SIZE) {
			auto count = MinValue<idx_t>(STANDARD_VECTOR_SIZE, rows.size() - first);
			Vector row_ids(LogicalType::ROW_TYPE, count);
			memcpy(FlatVector::GetData(row_ids), rows.data() + first, count * sizeof(row_t));
			DataChunk chunk;
			chunk.Initialize(Allocator::Get(context), table.GetTypes());
			ColumnFetchState state;
			table.GetRowGroupCollection()->Fetch(version, chunk, columns, row_ids, count, state);
			if (chunk.size() != count) {
				throw InternalException("moraine: of %d changed rows of %s, %d are there", count, table.GetTableName(),
				                        chunk.size());
			}
			frame.Batch(chunk);
		}
	}

	//! DuckLake names the folder of a new lake's data after the file of its catalog, and this catalog has none.
	static void CheckDataPath(DataTable &table, DataChunk &chunk) {
		if (table.GetTableName() != "ducklake_metadata") {
			return;
		}
		for (idx_t row = 0; row < chunk.size(); row++) {
			if (chunk.GetValue(0, row).ToString() == "data_path" &&
			    StringUtil::StartsWith(chunk.GetValue(1, row).ToString(), IN_MEMORY_PATH)) {
				throw InvalidInputException(
				    "moraine: a new lake needs a folder for its data: attach it with DATA_PATH");
			}
		}
	}

	void WriteInserted(FrameWriter &frame, DataTable &table, optional_ptr<LocalTableStorage> storage) {
		auto count_offset = frame.Size();
		uint32_t batches = 0;
		frame.U32(batches);
		if (!storage) {
			return;
		}
		auto columns = AllColumns(table);
		TableScanState state;
		state.Initialize(columns, &context);
		storage->InitializeScan(state.local_state);
		DataChunk chunk;
		chunk.Initialize(Allocator::Get(context), table.GetTypes());
		while (true) {
			chunk.Reset();
			transaction.GetLocalStorage().Scan(state.local_state, columns, chunk);
			if (chunk.size() == 0) {
				break;
			}
			CheckDataPath(table, chunk);
			// Against what was committed since the statement ran.
			table.VerifyUniqueIndexes(table.GetDataTableInfo()->GetIndexes(), storage, chunk, nullptr);
			frame.Batch(chunk);
			batches++;
		}
		frame.PatchU32(count_offset, batches);
	}

	ClientContext &context;
	DuckTransaction &transaction;
	vector<Ddl> ddl;
	std::map<DataTable *, TableChanges> tables;
	std::set<DataTable *> dropped;
};

} // namespace

bool CaptureChanges(ClientContext &context, DuckTransaction &transaction, FrameWriter &frame) {
	Capture capture(context, transaction);
	if (!capture.Collect()) {
		return false;
	}
	capture.Write(frame);
	return true;
}

} // namespace moraine
