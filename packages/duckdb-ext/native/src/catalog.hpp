// The metadata catalog of a lake in a store: native tables in memory, filled and kept up to date by the store's
// service.
#pragma once

#include "client.hpp"
#include "index_service.hpp"

#include "duckdb/catalog/duck_catalog.hpp"
#include "duckdb/storage/storage_extension.hpp"

#include <atomic>

namespace moraine {

class MoraineCatalog : public duckdb::DuckCatalog {
public:
	MoraineCatalog(duckdb::AttachedDatabase &database, std::string path, duckdb::unique_ptr<Attachment> attachment);

	//! The metadata catalog of that name, or none if it is no store's.
	static duckdb::optional_ptr<MoraineCatalog> Find(duckdb::ClientContext &context, const std::string &name);

	Attachment &GetAttachment() {
		return *attachment;
	}

	IndexShapes &Shapes() {
		return shapes;
	}

	bool HasConflictingAttachOptions(const duckdb::string &other_path, const duckdb::AttachOptions &options) override;
	duckdb::string GetDBPath() override;
	void FinalizeLoad(duckdb::optional_ptr<duckdb::ClientContext> context) override;
	void OnDetach(duckdb::ClientContext &context) override;

	//! Where it answers DuckLake, it shows the store's path as well: see `HidePath`.
	bool IsDuckCatalog() override;
	bool InMemory() override;
	duckdb::optional_ptr<duckdb::SchemaCatalogEntry>
	LookupSchema(duckdb::CatalogTransaction transaction, const duckdb::EntryLookupInfo &schema_lookup,
	             duckdb::OnEntryNotFound if_not_found) override;
	duckdb::DatabaseSize GetDatabaseSize(duckdb::ClientContext &context) override;
	//! Makes the storage say again that it is in memory. Called before anything of DuckDB asks it.
	//!
	//! A lake that is made without DATA_PATH gets the path of its metadata with `.files` behind it. DuckLake asks the
	//! storage for that path by an inline function, which no class of ours can override, directly after it has asked
	//! `IsDuckCatalog`. So that function puts the store's path there, as long as the store holds no lake, and the next
	//! call into this catalog or its transactions takes it away: by the path DuckDB tells storage in memory from files.
	//! Whoever else asks for the path or whether it is in memory comes through one of them first:
	//!  - binding CREATE TABLE asks `IsDuckCatalog`, then `InMemory` here; CREATE FUNCTION looks its schema up before;
	//!  - appending, compressing and committing need a transaction with changes, whose statement was bound by
	//!    `LookupSchema`, and `CommitTransaction`; checkpoints come through `Checkpoint` of the transaction manager;
	//!  - duckdb_databases asks `InMemory` and `GetDBPath` here, PRAGMA database_size asks `GetDatabaseSize` here;
	//!  - detaching and closing come after `OnDetach`, and after the end of DuckLake's transaction, which is running.
	//! Between the two calls of DuckLake lies nothing; another connection that came there would make it read the path of
	//! storage in memory, as it would without this.
	void HidePath();

private:
	//! Tells the store's service which lake this is the catalog of: that of the schema which is looked up first. DuckLake does not
	//! hand METADATA_SCHEMA on, but its first query names it.
	void UseSchema(duckdb::ClientContext &context, const std::string &schema);

	//! As the user wrote it behind `moraine:`.
	std::string path;
	duckdb::unique_ptr<Attachment> attachment;
	IndexShapes shapes;
	//! Whether the tables of the store are there, and whether it is known which of them are meant.
	std::atomic<bool> is_loaded {false};
	std::atomic<bool> is_used {false};
	std::timed_mutex use_lock;
	//! Whether the storage has the store's path.
	std::atomic<bool> shows_path {false};
};

//! Makes `ATTACH 'moraine:...'` known to a database.
void RegisterStorage(duckdb::DatabaseInstance &database);

} // namespace moraine
