#include "apply.hpp"

#include "duckdb/catalog/catalog_search_path.hpp"
#include "duckdb/catalog/duck_catalog.hpp"
#include "duckdb/catalog/catalog_entry/schema_catalog_entry.hpp"
#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/main/appender.hpp"
#include "duckdb/main/client_data.hpp"
#include "duckdb/main/prepared_statement_data.hpp"
#include "duckdb/parser/parsed_data/create_schema_info.hpp"
#include "duckdb/parser/parsed_data/create_table_info.hpp"
#include "duckdb/parser/parsed_data/drop_info.hpp"
#include "duckdb/parser/parser.hpp"
#include "duckdb/parser/statement/create_statement.hpp"
#include "duckdb/planner/binder.hpp"
#include "duckdb/planner/parsed_data/bound_create_table_info.hpp"
#include "duckdb/transaction/meta_transaction.hpp"

namespace moraine {

using namespace duckdb;

//! What the names of DuckLake's tables of inlined rows begin with.
static constexpr const char *INLINED_ROWS = "ducklake_inlined_data_";
//! The metadata table whose name begins alike.
static constexpr const char *INLINED_TABLES = "ducklake_inlined_data_tables";

Applier::Applier(AttachedDatabase &database, std::atomic<ClientContext *> &context_slot)
    : database(database), context_slot(context_slot), connection(database.GetDatabase()) {
	auto &context = *connection.context;
	context_slot = &context;
	try {
		CatalogSearchEntry entry(database.GetName(), DEFAULT_SCHEMA);
		ClientData::Get(context).catalog_search_path->Set(entry, CatalogSetPathType::SET_DIRECTLY);
		connection.BeginTransaction();
		// Said here, because the check of statements would refuse a database that is attached read-only.
		DatabaseModificationType changes;
		for (auto kind : {DatabaseModificationType::INSERT_DATA, DatabaseModificationType::DELETE_DATA,
		                  DatabaseModificationType::UPDATE_DATA, DatabaseModificationType::CREATE_CATALOG_ENTRY,
		                  DatabaseModificationType::DROP_CATALOG_ENTRY, DatabaseModificationType::ALTER_TABLE}) {
			changes |= DatabaseModificationType(kind);
		}
		MetaTransaction::Get(context).ModifyDatabase(database, changes);
	} catch (...) {
		context_slot = nullptr;
		throw;
	}
}

Applier::~Applier() {
	try {
		if (connection.HasActiveTransaction()) {
			connection.Rollback();
		}
	} catch (const std::exception &) {
		// The connection ends with this object, and what it left with it.
	}
	context_slot = nullptr;
}

void Applier::DropAll() {
	auto &context = *connection.context;
	auto &catalog = database.GetCatalog();
	vector<DropInfo> drops;
	for (auto &schema : catalog.GetSchemas(context)) {
		schema.get().Scan(context, CatalogType::TABLE_ENTRY, [&](CatalogEntry &table) {
			if (!table.internal && table.type == CatalogType::TABLE_ENTRY &&
			    StringUtil::StartsWith(table.name, INLINED_ROWS) && table.name != INLINED_TABLES) {
				dropped_inlined.push_back(table.GetInfo());
			}
		});
		if (schema.get().name != DEFAULT_SCHEMA) {
			if (!schema.get().internal) {
				DropInfo drop;
				drop.type = CatalogType::SCHEMA_ENTRY;
				drop.name = schema.get().name;
				drops.push_back(std::move(drop));
			}
			continue;
		}
		schema.get().Scan(context, CatalogType::TABLE_ENTRY, [&](CatalogEntry &table) {
			if (!table.internal) {
				DropInfo drop;
				drop.type = table.type;
				drop.schema = DEFAULT_SCHEMA;
				drop.name = table.name;
				drops.push_back(std::move(drop));
			}
		});
	}
	for (auto &drop : drops) {
		drop.catalog = database.GetName();
		drop.cascade = true;
		catalog.DropEntry(context, drop);
	}
}

void Applier::Statements(const std::string &sql, bool is_load) {
	Parser parser(connection.context->GetParserOptions());
	parser.ParseQuery(sql);
	for (auto &statement : parser.statements) {
		if (is_load) {
			Create(*statement);
		} else {
			Run(std::move(statement));
		}
	}
}

void Applier::Create(SQLStatement &statement) {
	auto &context = *connection.context;
	auto &catalog = database.GetCatalog();
	if (statement.type != StatementType::CREATE_STATEMENT) {
		throw WireException("a statement of a load that creates nothing");
	}
	auto info = std::move(statement.Cast<CreateStatement>().info);
	info->catalog = database.GetName();
	if (info->type == CatalogType::SCHEMA_ENTRY) {
		info->on_conflict = OnCreateConflict::IGNORE_ON_CONFLICT;
		catalog.CreateSchema(context, info->Cast<CreateSchemaInfo>());
		return;
	}
	if (info->type != CatalogType::TABLE_ENTRY) {
		throw WireException("a statement of a load that creates neither a schema nor a table");
	}
	CreateTable(std::move(info));
}

void Applier::CreateTable(unique_ptr<CreateInfo> info) {
	auto &context = *connection.context;
	auto &catalog = database.GetCatalog();
	// The binder would look the catalog up by its name, which it may not have yet.
	auto &schema = catalog.GetSchema(context, info->schema.empty() ? DEFAULT_SCHEMA : info->schema);
	auto binder = Binder::CreateBinder(context);
	auto bound = binder->BindCreateTableInfo(std::move(info), schema);
	catalog.CreateTable(context, *bound);
}

void Applier::KeepInlinedTables() {
	auto &context = *connection.context;
	for (auto &info : dropped_inlined) {
		// One that came with the load is there already, and a schema that is gone takes its tables with it.
		if (database.GetCatalog().GetSchema(context, info->schema, OnEntryNotFound::RETURN_NULL)) {
			info->on_conflict = OnCreateConflict::IGNORE_ON_CONFLICT;
			CreateTable(std::move(info));
		}
	}
	dropped_inlined.clear();
}

void Applier::Run(unique_ptr<SQLStatement> statement) {
	auto prepared = connection.Prepare(std::move(statement));
	if (prepared->HasError()) {
		prepared->GetErrorObject().Throw();
	}
	prepared->data->properties.modified_databases.clear();
	vector<Value> none;
	auto result = prepared->Execute(none, false);
	if (result->HasError()) {
		result->ThrowError();
	}
}

void Applier::Rows(FrameReader &frame) {
	auto schema = frame.Text();
	auto name = frame.Text();
	auto batch = frame.Batch();
	frame.End();
	auto &context = *connection.context;
	auto &table = database.GetCatalog().GetEntry<TableCatalogEntry>(context, schema, name);
	InternalAppender appender(context, table);
	DataChunk chunk;
	chunk.Initialize(Allocator::Get(context), batch.Types());
	for (idx_t row = 0; batch.Read(row, chunk) > 0; row += chunk.size()) {
		appender.AppendDataChunk(chunk);
	}
	appender.Close();
}

void Applier::Commit() {
	connection.Commit();
}

} // namespace moraine
