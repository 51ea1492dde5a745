// Bringing a copy of the metadata tables to what the service says: a bulk load, or the changes of others.
#pragma once

#include "client.hpp"

#include "duckdb/main/attached_database.hpp"
#include "duckdb/main/connection.hpp"

namespace moraine {

//! A transaction of our own in the metadata catalog, which is neither captured nor made to follow. It works before the
//! catalog has its name in the database manager, and on one that is attached read-only. Rolled back with its owner.
class Applier {
public:
	//! `context_slot` tells the transaction manager which context is ours; it is cleared again.
	Applier(duckdb::AttachedDatabase &database, std::atomic<duckdb::ClientContext *> &context_slot);
	~Applier();

	//! Drops every table of the catalog, and every schema but main.
	void DropAll();
	//! Makes again, empty, the tables of inlined rows that were dropped and did not come back: DuckLake reads one that it
	//! remembers until the lake's schema changes, also where another process has flushed it since.
	void KeepInlinedTables();
	//! Runs the SQL of a `Statements` frame. In a load only what creates schemas and tables is run.
	void Statements(const std::string &sql, bool is_load);
	//! Adds the rows of a `Rows` frame.
	void Rows(FrameReader &frame);
	void Commit();

private:
	void Create(duckdb::SQLStatement &statement);
	void CreateTable(duckdb::unique_ptr<duckdb::CreateInfo> info);
	void Run(duckdb::unique_ptr<duckdb::SQLStatement> statement);

	duckdb::AttachedDatabase &database;
	std::atomic<duckdb::ClientContext *> &context_slot;
	duckdb::Connection connection;
	//! What the tables of inlined rows were made by that were dropped.
	duckdb::vector<duckdb::unique_ptr<duckdb::CreateInfo>> dropped_inlined;
};

} // namespace moraine
