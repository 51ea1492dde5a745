// The operator of index DDL in a plan. It asks the service when it runs, and has no effect before.
#pragma once

#include "index_service.hpp"

#include "duckdb/planner/operator/logical_extension_operator.hpp"

namespace moraine {

enum class IndexDdlKind : uint8_t { CREATE, DROP };

struct IndexDdl {
	IndexDdlKind kind;
	//! Name of the lake's catalog.
	std::string lake;
	//! Where an index is dropped, without a table.
	IndexDefinition definition;
	bool if_exists = false;
};

//! Without rows, as DuckDB's own DDL. It commits by itself: in a transaction that was begun a rollback would not undo
//! it.
class LogicalIndexDdl : public duckdb::LogicalExtensionOperator {
public:
	explicit LogicalIndexDdl(IndexDdl ddl);

	duckdb::PhysicalOperator &CreatePlan(duckdb::ClientContext &context,
	                                     duckdb::PhysicalPlanGenerator &planner) override;
	std::string GetName() const override;
	duckdb::InsertionOrderPreservingMap<std::string> ParamsToString() const override;
	duckdb::idx_t EstimateCardinality(duckdb::ClientContext &context) override;
	//! Only DuckDB's check of its own serialization asks.
	bool SupportSerialization() const override {
		return false;
	}

	const std::string &LakeName() const {
		return ddl.lake;
	}
	//! The column that the statement is described by.
	std::string ColumnName() const;
	duckdb::LogicalType ColumnType() const;

protected:
	void ResolveTypes() override;

private:
	IndexDdl ddl;
};

} // namespace moraine
