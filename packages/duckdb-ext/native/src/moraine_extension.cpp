// The entry of the extension: what DuckDB calls when it is loaded.
#include "catalog.hpp"
#include "index_ddl.hpp"
#include "index_functions.hpp"

#include "duckdb.hpp"
#include "duckdb/main/extension/extension_loader.hpp"

extern "C" {

DUCKDB_CPP_EXTENSION_ENTRY(moraine, loader) {
	loader.SetDescription("DuckLake catalogs in a moraine store, with ordered and unique indexes");
	moraine::RegisterStorage(loader.GetDatabaseInstance());
	moraine::RegisterIndexDdl(loader.GetDatabaseInstance().config);
	moraine::RegisterIndexFunctions(loader);
}
}
