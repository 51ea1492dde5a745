#include "index_ddl_operator.hpp"

#include "index_lake.hpp"

#include "duckdb/common/string_util.hpp"
#include "duckdb/execution/physical_operator.hpp"
#include "duckdb/execution/physical_plan_generator.hpp"
#include "duckdb/main/database_manager.hpp"

using namespace duckdb;

namespace moraine {

namespace {

string Verb(const IndexDdl &ddl) {
	return ddl.kind == IndexDdlKind::CREATE ? "CREATE INDEX" : "DROP INDEX";
}

InsertionOrderPreservingMap<string> Parameters(const IndexDdl &ddl) {
	InsertionOrderPreservingMap<string> result;
	auto &definition = ddl.definition;
	auto &name = definition.name;
	if (ddl.kind == IndexDdlKind::DROP) {
		result["Index"] = StringUtil::Format("%s.%s.%s", ddl.lake, name.schema, name.index);
		return result;
	}
	result["Index"] = name.index;
	result["Table"] = StringUtil::Format("%s.%s.%s", ddl.lake, name.schema, name.table);
	result["Columns"] = StringUtil::Join(definition.columns, ", ");
	for (auto &option : definition.options) {
		result[option.first] = option.second;
	}
	return result;
}

void Run(ClientContext &context, const IndexDdl &ddl) {
	auto verb = Verb(ddl);
	auto &name = ddl.definition.name;
	// of this class, an error leaves the transaction usable
	if (!context.transaction.IsAutoCommit()) {
		throw BinderException(
		    "%s \"%s\" commits by itself and cannot run inside a transaction that was begun; COMMIT or "
		    "ROLLBACK it first",
		    verb, name.index);
	}
	auto lake = RequireLake(context, verb, ddl.lake);
	if (lake.database.IsReadOnly()) {
		throw InvalidInputException("%s \"%s\": lake \"%s\" is attached read-only; attach it without READ_ONLY", verb,
		                            name.index, ddl.lake);
	}
	if (ddl.kind == IndexDdlKind::CREATE) {
		CreateIndex(context, lake.service, ddl.definition);
	} else {
		DropIndex(context, lake.service, name.schema, name.index, ddl.if_exists);
	}
}

class PhysicalIndexDdl : public PhysicalOperator {
public:
	PhysicalIndexDdl(PhysicalPlan &plan, vector<LogicalType> types, IndexDdl ddl)
	    : PhysicalOperator(plan, PhysicalOperatorType::EXTENSION, std::move(types), 0), ddl(std::move(ddl)) {
	}

	string GetName() const override {
		return StringUtil::Replace(Verb(ddl), " ", "_");
	}
	InsertionOrderPreservingMap<string> ParamsToString() const override {
		return Parameters(ddl);
	}
	bool IsSource() const override {
		return true;
	}

protected:
	SourceResultType GetDataInternal(ExecutionContext &context, DataChunk &, OperatorSourceInput &) const override {
		Run(context.client, ddl);
		return SourceResultType::FINISHED;
	}

private:
	IndexDdl ddl;
};

} // namespace

LogicalIndexDdl::LogicalIndexDdl(IndexDdl ddl) : ddl(std::move(ddl)) {
}

PhysicalOperator &LogicalIndexDdl::CreatePlan(ClientContext &, PhysicalPlanGenerator &planner) {
	return planner.Make<PhysicalIndexDdl>(types, ddl);
}

string LogicalIndexDdl::GetName() const {
	return StringUtil::Replace(Verb(ddl), " ", "_");
}

InsertionOrderPreservingMap<string> LogicalIndexDdl::ParamsToString() const {
	return Parameters(ddl);
}

idx_t LogicalIndexDdl::EstimateCardinality(ClientContext &) {
	return 0;
}

string LogicalIndexDdl::ColumnName() const {
	return ddl.kind == IndexDdlKind::CREATE ? "Count" : "Success";
}

LogicalType LogicalIndexDdl::ColumnType() const {
	return ddl.kind == IndexDdlKind::CREATE ? LogicalType::BIGINT : LogicalType::BOOLEAN;
}

void LogicalIndexDdl::ResolveTypes() {
	types = {ColumnType()};
}

} // namespace moraine
