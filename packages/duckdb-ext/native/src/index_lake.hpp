// Which attached catalogs are lakes of ours, and the snapshot that a transaction reads in one.
#pragma once

#include "index_service.hpp"

#include "duckdb/main/attached_database.hpp"

namespace moraine {

//! A `ducklake` catalog whose metadata catalog is ours. Valid as long as the transaction that found it.
struct Lake {
	duckdb::AttachedDatabase &database;
	class MoraineCatalog &metadata;
	Attachment &service;
};

//! The lake that `catalog` is; null where it is anything else, stock lakes included.
duckdb::unique_ptr<Lake> FindLake(duckdb::ClientContext &context, duckdb::Catalog &catalog);
//! The lake of a name, which is its own or its metadata catalog's. Throws BinderException where there is none.
Lake RequireLake(duckdb::ClientContext &context, const std::string &function, const std::string &name);
//! The DuckLake snapshot in which this transaction reads the lake. Pins one if it had none.
uint64_t PinnedSnapshot(duckdb::ClientContext &context, const Lake &lake);
//! What the index looks like in that snapshot. Asks the service where it has not been asked since the lake has changed.
IndexShape DescribeIndex(duckdb::ClientContext &context, const Lake &lake, uint64_t snapshot, const IndexName &name);
//! Whether the catalog holds a lake's metadata.
bool IsMetadataCatalog(duckdb::Catalog &catalog);

} // namespace moraine
