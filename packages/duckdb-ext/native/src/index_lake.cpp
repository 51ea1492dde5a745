#include "index_lake.hpp"

#include "catalog.hpp"
#include "transaction_manager.hpp"

#include "duckdb/catalog/catalog.hpp"
#include "duckdb/catalog/catalog_entry/table_function_catalog_entry.hpp"
#include "duckdb/common/string_util.hpp"
#include "duckdb/main/database_manager.hpp"
#include "duckdb/parser/tableref/table_function_ref.hpp"

using namespace duckdb;

namespace moraine {

static const char *const STORE_PREFIX = "moraine:";
//! What DuckLake puts before a lake's name to name its metadata catalog, unless METADATA_CATALOG says another.
static const char *const METADATA_PREFIX = "__ducklake_metadata_";

static optional_ptr<MoraineCatalog> AsMetadataCatalog(Catalog &catalog) {
	return dynamic_cast<MoraineCatalog *>(&catalog);
}

bool IsMetadataCatalog(Catalog &catalog) {
	return AsMetadataCatalog(catalog);
}

static string StoreOf(const string &path) {
	return StringUtil::StartsWith(path, STORE_PREFIX) ? path.substr(strlen(STORE_PREFIX)) : path;
}

static bool IsDuckLake(AttachedDatabase &database) {
	return !database.IsSystem() && !database.IsTemporary() && database.GetCatalog().GetCatalogType() == "ducklake";
}

//! Whether a metadata catalog carries the name that DuckLake gives to that of another lake.
static bool BelongsToOther(ClientContext &context, const string &metadata) {
	if (!StringUtil::StartsWith(metadata, METADATA_PREFIX)) {
		return false;
	}
	auto owner = DatabaseManager::Get(context).GetDatabase(context, metadata.substr(strlen(METADATA_PREFIX)));
	return owner && IsDuckLake(*owner);
}

//! DuckLake does not say which catalog holds a lake's metadata: it is the one of the usual name, or else one of the
//! same store that no other lake has by its name.
static optional_ptr<MoraineCatalog> MetadataOf(ClientContext &context, AttachedDatabase &lake) {
	auto &manager = DatabaseManager::Get(context);
	auto store = StoreOf(lake.GetCatalog().GetDBPath());
	auto usual = manager.GetDatabase(context, METADATA_PREFIX + lake.GetName());
	if (usual) {
		auto metadata = AsMetadataCatalog(usual->GetCatalog());
		if (metadata && StoreOf(metadata->GetDBPath()) == store) {
			return metadata;
		}
	}
	if (!StringUtil::StartsWith(lake.GetCatalog().GetDBPath(), STORE_PREFIX)) {
		return nullptr;
	}
	for (auto &candidate : manager.GetDatabases(context)) {
		auto metadata = AsMetadataCatalog(candidate->GetCatalog());
		if (metadata && StoreOf(metadata->GetDBPath()) == store && !BelongsToOther(context, candidate->GetName())) {
			// marks the database as used by this transaction, which keeps it from being detached meanwhile
			auto used = manager.GetDatabase(context, candidate->GetName());
			return used ? AsMetadataCatalog(used->GetCatalog()) : nullptr;
		}
	}
	return nullptr;
}

static unique_ptr<Lake> FindLake(ClientContext &context, AttachedDatabase &database) {
	if (!IsDuckLake(database)) {
		return nullptr;
	}
	auto metadata = MetadataOf(context, database);
	return metadata ? make_uniq<Lake>(Lake {database, *metadata, metadata->GetAttachment()}) : nullptr;
}

unique_ptr<Lake> FindLake(ClientContext &context, Catalog &catalog) {
	return FindLake(context, catalog.GetAttached());
}

Lake RequireLake(ClientContext &context, const string &function, const string &name) {
	auto &manager = DatabaseManager::Get(context);
	auto database = manager.GetDatabase(context, name);
	if (!database) {
		throw BinderException("%s: no catalog \"%s\" is attached; name a lake or its metadata catalog", function, name);
	}
	auto lake = FindLake(context, *database);
	if (lake) {
		return *lake;
	}
	auto metadata = AsMetadataCatalog(database->GetCatalog());
	if (!metadata) {
		throw BinderException("%s: catalog \"%s\" is not a moraine lake; attach one as 'ducklake:moraine:<store>'",
		                      function, name);
	}
	for (auto &candidate : manager.GetDatabases(context)) {
		if (!IsDuckLake(*candidate)) {
			continue;
		}
		auto used = manager.GetDatabase(context, candidate->GetName());
		if (used && MetadataOf(context, *used) == metadata) {
			return Lake {*used, *metadata, metadata->GetAttachment()};
		}
	}
	throw BinderException("%s: catalog \"%s\" holds the metadata of a lake that is not attached", function, name);
}

uint64_t PinnedSnapshot(ClientContext &context, const Lake &lake) {
	auto &entry = Catalog::GetEntry<TableFunctionCatalogEntry>(context, SYSTEM_CATALOG, DEFAULT_SCHEMA,
	                                                           "ducklake_current_snapshot");
	auto function = entry.functions.GetFunctionByOffset(0);
	vector<Value> inputs {Value(lake.database.GetName())};
	named_parameter_map_t named;
	vector<LogicalType> input_types;
	vector<string> input_names;
	TableFunctionRef ref;
	TableFunctionBindInput bind_input(inputs, named, input_types, input_names, function.function_info.get(), nullptr,
	                                  function, ref);
	vector<LogicalType> types;
	vector<string> names;
	auto bound = function.bind(context, bind_input, types, names);
	vector<column_t> columns {0};
	vector<idx_t> projection;
	TableFunctionInitInput init_input(bound.get(), columns, projection, nullptr);
	auto state = function.init_global(context, init_input);
	DataChunk chunk;
	chunk.Initialize(context, types);
	TableFunctionInput input(bound.get(), nullptr, state.get());
	function.function(context, input, chunk);
	if (chunk.size() != 1) {
		throw InternalException("ducklake_current_snapshot answered %llu rows", chunk.size());
	}
	return chunk.GetValue(0, 0).GetValue<uint64_t>();
}

IndexShape DescribeIndex(ClientContext &context, const Lake &lake, uint64_t snapshot, const IndexName &name) {
	auto &transactions = lake.metadata.GetAttached().GetTransactionManager().Cast<FollowingTransactionManager>();
	return lake.metadata.Shapes().Describe(context, lake.service, transactions.Revision(), snapshot, name);
}

} // namespace moraine
