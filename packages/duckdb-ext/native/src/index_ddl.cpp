#include "index_ddl.hpp"

#include "index_ddl_operator.hpp"
#include "index_lake.hpp"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/schema_catalog_entry.hpp"
#include "duckdb/catalog/catalog_entry/table_catalog_entry.hpp"
#include "duckdb/catalog/catalog_search_path.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/main/client_data.hpp"
#include "duckdb/main/database_manager.hpp"
#include "duckdb/parser/expression/columnref_expression.hpp"
#include "duckdb/parser/parsed_data/create_index_info.hpp"
#include "duckdb/parser/parsed_data/drop_info.hpp"
#include "duckdb/parser/statement/create_statement.hpp"
#include "duckdb/parser/statement/drop_statement.hpp"
#include "duckdb/parser/statement/explain_statement.hpp"
#include "duckdb/planner/operator/logical_create_index.hpp"
#include "duckdb/planner/operator/logical_explain.hpp"
#include "duckdb/planner/operator/logical_simple.hpp"
#include "duckdb/planner/operator_extension.hpp"
#include "duckdb/planner/planner_extension.hpp"

using namespace duckdb;

namespace moraine {

namespace {

//! What the parser puts where a statement has no USING.
constexpr const char *DEFAULT_INDEX_TYPE = "ART";

string ColumnNames(TableCatalogEntry &table) {
	return StringUtil::Join(table.GetColumns().GetColumnNames(), ", ");
}

//! The column that an expression of an index names, as the table spells it.
string IndexedColumn(const string &index, TableCatalogEntry &table, ParsedExpression &expression) {
	auto is_column = expression.GetExpressionClass() == ExpressionClass::COLUMN_REF;
	auto names = is_column ? expression.Cast<ColumnRefExpression>().column_names : vector<string>();
	// the parser puts the table before a plain column; (s.a) may be a field of a column
	auto is_plain = names.size() == 1 || (names.size() == 2 && StringUtil::CIEquals(names[0], table.name));
	if (!is_plain) {
		throw BinderException(
		    "CREATE INDEX \"%s\": an index of a lake is on columns, not on expressions or on fields of "
		    "columns; name columns of \"%s\": %s",
		    index, table.name, ColumnNames(table));
	}
	if (!table.ColumnExists(names.back())) {
		throw BinderException("CREATE INDEX \"%s\": table \"%s\" has no column \"%s\"; it has: %s", index, table.name,
		                      names.back(), ColumnNames(table));
	}
	return table.GetColumn(names.back()).Name();
}

std::map<string, string> Options(const CreateIndexInfo &info) {
	std::map<string, string> result;
	for (auto &option : info.options) {
		if (option.second.IsNull()) {
			throw BinderException("CREATE INDEX \"%s\": option \"%s\" is NULL; give it a value or leave it out",
			                      info.index_name, option.first);
		}
		result[StringUtil::Lower(option.first)] = option.second.ToString();
	}
	return result;
}

IndexDdl CreateDdl(const string &lake, TableCatalogEntry &table, CreateIndexInfo &info) {
	if (info.index_type != DEFAULT_INDEX_TYPE) {
		throw BinderException("CREATE INDEX \"%s\": USING %s is not offered; indexes of a lake are of one kind, leave "
		                      "USING out",
		                      info.index_name, info.index_type);
	}
	if (info.on_conflict == OnCreateConflict::REPLACE_ON_CONFLICT) {
		throw BinderException("CREATE INDEX \"%s\": OR REPLACE is not offered; DROP INDEX first", info.index_name);
	}
	IndexDdl ddl;
	ddl.kind = IndexDdlKind::CREATE;
	ddl.lake = lake;
	ddl.definition.name = {table.ParentSchema().name, table.name, info.index_name};
	ddl.definition.is_unique = info.constraint_type == IndexConstraintType::UNIQUE;
	ddl.definition.if_not_exists = info.on_conflict == OnCreateConflict::IGNORE_ON_CONFLICT;
	ddl.definition.options = Options(info);
	case_insensitive_set_t seen;
	for (auto &expression : info.parsed_expressions) {
		auto column = IndexedColumn(info.index_name, table, *expression);
		if (!seen.insert(column).second) {
			throw BinderException("CREATE INDEX \"%s\": column \"%s\" is named twice; name each column once",
			                      info.index_name, column);
		}
		ddl.definition.columns.push_back(std::move(column));
	}
	return ddl;
}

unique_ptr<LogicalIndexDdl> BindCreate(ClientContext &context, CreateStatement &statement) {
	if (!statement.info || statement.info->type != CatalogType::INDEX_ENTRY) {
		return nullptr;
	}
	auto &info = statement.info->Cast<CreateIndexInfo>();
	auto catalog = info.catalog;
	auto schema = info.schema;
	Binder::BindSchemaOrCatalog(context, catalog, schema);
	auto entry = Catalog::GetEntry(context, catalog, schema, EntryLookupInfo(CatalogType::TABLE_ENTRY, info.table),
	                               OnEntryNotFound::RETURN_NULL);
	if (!entry) {
		return nullptr;
	}
	auto lake = FindLake(context, entry->ParentCatalog());
	if (!lake) {
		return nullptr;
	}
	if (entry->type != CatalogType::TABLE_ENTRY) {
		throw BinderException("CREATE INDEX \"%s\": \"%s\" is a view; index the table that it reads", info.index_name,
		                      entry->name);
	}
	return make_uniq<LogicalIndexDdl>(CreateDdl(lake->database.GetName(), entry->Cast<TableCatalogEntry>(), info));
}

//! Names of a lake's indexes are resolved as the names of what is created: not searched for.
unique_ptr<LogicalIndexDdl> BindDrop(ClientContext &context, const DropInfo &info) {
	if (info.type != CatalogType::INDEX_ENTRY) {
		return nullptr;
	}
	auto catalog = info.catalog;
	auto schema = info.schema;
	Binder::BindSchemaOrCatalog(context, catalog, schema);
	auto &path = *ClientData::Get(context).catalog_search_path;
	if (catalog.empty() && schema.empty()) {
		catalog = path.GetDefault().catalog;
		schema = path.GetDefault().schema;
	} else if (schema.empty()) {
		schema = path.GetDefaultSchema(context, catalog);
	} else if (catalog.empty()) {
		catalog = path.GetDefaultCatalog(schema);
	}
	if (catalog.empty()) {
		catalog = DatabaseManager::GetDefaultDatabase(context);
	}
	auto database = DatabaseManager::Get(context).GetDatabase(context, catalog);
	auto lake = database ? FindLake(context, database->GetCatalog()) : nullptr;
	if (!lake) {
		return nullptr;
	}
	IndexDdl ddl;
	ddl.kind = IndexDdlKind::DROP;
	ddl.lake = lake->database.GetName();
	ddl.definition.name = {schema, string(), info.name};
	ddl.if_exists = info.if_not_found == OnEntryNotFound::RETURN_NULL;
	return make_uniq<LogicalIndexDdl>(std::move(ddl));
}

unique_ptr<LogicalIndexDdl> BindDdl(ClientContext &context, SQLStatement &statement) {
	switch (statement.type) {
	case StatementType::CREATE_STATEMENT:
		return BindCreate(context, statement.Cast<CreateStatement>());
	case StatementType::DROP_STATEMENT:
		return BindDrop(context, *statement.Cast<DropStatement>().info);
	default:
		return nullptr;
	}
}

//! The service changes the store, not this transaction: the lake counts as read, so that a prepared statement is bound
//! again once its tables have changed.
void SetProperties(ClientContext &context, Binder &binder, LogicalIndexDdl &ddl) {
	auto &properties = binder.GetStatementProperties();
	properties.modified_databases.erase(ddl.LakeName());
	auto database = DatabaseManager::Get(context).GetDatabase(context, ddl.LakeName());
	properties.RegisterDBRead(database->GetCatalog(), context);
	properties.return_type = StatementReturnType::NOTHING;
	properties.output_type = QueryResultOutputType::FORCE_MATERIALIZED;
}

//! DuckDB offers every statement that fails to bind. Without a plan it reports its own error.
BoundStatement BindFailed(ClientContext &context, Binder &binder, OperatorExtensionInfo *, SQLStatement &statement) {
	BoundStatement result;
	if (statement.type == StatementType::EXPLAIN_STATEMENT) {
		auto &explain = statement.Cast<ExplainStatement>();
		auto ddl = BindDdl(context, *explain.stmt);
		if (!ddl) {
			return result;
		}
		SetProperties(context, binder, *ddl);
		ddl->ResolveOperatorTypes();
		auto unoptimized = ddl->ToString(explain.explain_format);
		auto plan = make_uniq<LogicalExplain>(std::move(ddl), explain.explain_type, explain.explain_format);
		plan->logical_plan_unopt = std::move(unoptimized);
		result.plan = std::move(plan);
		result.names = {"explain_key", "explain_value"};
		result.types = {LogicalType::VARCHAR, LogicalType::VARCHAR};
		binder.GetStatementProperties().return_type = StatementReturnType::QUERY_RESULT;
		return result;
	}
	auto ddl = BindDdl(context, statement);
	if (ddl) {
		SetProperties(context, binder, *ddl);
		result.names = {ddl->ColumnName()};
		result.types = {ddl->ColumnType()};
		result.plan = std::move(ddl);
	}
	return result;
}

//! DROP INDEX IF EXISTS binds whether or not there is such an index; one that DuckDB found stays DuckDB's.
void ReplaceDrop(ClientContext &context, Binder &binder, unique_ptr<LogicalOperator> &plan) {
	auto &info = plan->Cast<LogicalSimple>().info->Cast<DropInfo>();
	if (info.type != CatalogType::INDEX_ENTRY ||
	    Catalog::GetEntry(context, info.catalog, info.schema, EntryLookupInfo(info.type, info.name),
	                      OnEntryNotFound::RETURN_NULL)) {
		return;
	}
	auto ddl = BindDrop(context, info);
	if (ddl) {
		SetProperties(context, binder, *ddl);
		plan = std::move(ddl);
	}
}

void Bound(PlannerExtensionInput &input, BoundStatement &statement) {
	auto plan = &statement.plan;
	auto explain = *plan && (*plan)->type == LogicalOperatorType::LOGICAL_EXPLAIN
	                   ? optional_ptr<LogicalExplain>((*plan)->Cast<LogicalExplain>())
	                   : nullptr;
	if (explain) {
		plan = &explain->children[0];
	}
	if (!*plan) {
		return;
	}
	switch ((*plan)->type) {
	case LogicalOperatorType::LOGICAL_CREATE_INDEX: {
		auto &table = (*plan)->Cast<LogicalCreateIndex>().table;
		if (IsMetadataCatalog(table.ParentCatalog())) {
			throw BinderException(
			    "table \"%s\" is DuckLake's own metadata, which takes no indexes; index a table of the "
			    "lake",
			    table.name);
		}
		break;
	}
	case LogicalOperatorType::LOGICAL_DROP:
		ReplaceDrop(input.context, input.binder, *plan);
		if (explain) {
			input.binder.GetStatementProperties().return_type = StatementReturnType::QUERY_RESULT;
			explain->logical_plan_unopt = (*plan)->ToString(explain->explain_format);
		}
		break;
	default:
		break;
	}
}

class IndexDdlExtension : public OperatorExtension {
public:
	IndexDdlExtension() {
		Bind = BindFailed;
	}
	string GetName() override {
		return "moraine_index_ddl";
	}
	unique_ptr<LogicalExtensionOperator> Deserialize(Deserializer &) override {
		throw SerializationException("plans of index DDL are not serialized");
	}
};

} // namespace

void RegisterIndexDdl(DBConfig &config) {
	OperatorExtension::Register(config, make_shared_ptr<IndexDdlExtension>());
	PlannerExtension planner;
	planner.post_bind_function = Bound;
	PlannerExtension::Register(config, std::move(planner));
}

} // namespace moraine
