// The metadata catalog of a lake in a store: native tables in memory, filled and kept up to date by the store's
// service.
#pragma once

#include "client.hpp"

#include "duckdb/catalog/duck_catalog.hpp"
#include "duckdb/storage/storage_extension.hpp"

namespace moraine {

class MoraineCatalog : public duckdb::DuckCatalog {
public:
	MoraineCatalog(duckdb::AttachedDatabase &database, std::string path, duckdb::unique_ptr<Attachment> attachment);

	//! The metadata catalog of that name, or none if it is no store's.
	static duckdb::optional_ptr<MoraineCatalog> Find(duckdb::ClientContext &context, const std::string &name);

	Attachment &GetAttachment() {
		return *attachment;
	}

	bool HasConflictingAttachOptions(const duckdb::string &other_path, const duckdb::AttachOptions &options) override;
	duckdb::string GetDBPath() override;
	void FinalizeLoad(duckdb::optional_ptr<duckdb::ClientContext> context) override;
	void OnDetach(duckdb::ClientContext &context) override;

private:
	//! As the user wrote it behind `moraine:`.
	std::string path;
	duckdb::unique_ptr<Attachment> attachment;
};

//! Makes `ATTACH 'moraine:...'` known to a database.
void RegisterStorage(duckdb::DatabaseInstance &database);

} // namespace moraine
