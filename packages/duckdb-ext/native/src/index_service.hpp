// The requests about indexes, one function each.
#pragma once

#include "client.hpp"

#include <tuple>

namespace moraine {

//! An index as a statement names it.
struct IndexName {
	std::string schema;
	std::string table;
	std::string index;
};

struct IndexShape {
	uint64_t id;
	duckdb::vector<std::string> columns;
	//! By column, what the values of a key are cast to.
	duckdb::vector<duckdb::LogicalType> types;
};

struct IndexDefinition {
	IndexName name;
	duckdb::vector<std::string> columns;
	bool is_unique = false;
	bool if_not_exists = false;
	std::map<std::string, std::string> options;
};

//! `kind` of ReadIndex.
enum class IndexReadKind : uint8_t { LOOKUP = 1, IN = 2, RANGE = 3, NULLS = 4 };

struct IndexRead {
	IndexReadKind kind;
	bool lower_inclusive = false;
	bool upper_inclusive = false;
	bool reverse = false;
	//! As the protocol says for the kind.
	duckdb::vector<duckdb::unique_ptr<duckdb::DataChunk>> keys;
};

//! Rows that the service answered, in the bytes in which they came.
class AnsweredRows {
public:
	//! Reads a frame that holds a batch of these types and nothing else.
	AnsweredRows(FrameReader frame, const duckdb::vector<duckdb::LogicalType> &types);
	AnsweredRows(const AnsweredRows &) = delete;

	duckdb::idx_t Count() const {
		return rows.Rows();
	}
	//! Fills a chunk from row `first` on.
	duckdb::idx_t Read(duckdb::idx_t first, duckdb::DataChunk &into) const {
		return rows.Read(first, into);
	}

private:
	FrameReader frame;
	BatchReader rows;
};

//! What the service throws comes through, from all of these.
void CreateIndex(duckdb::ClientContext &context, Attachment &service, const IndexDefinition &definition);
void DropIndex(duckdb::ClientContext &context, Attachment &service, const std::string &schema, const std::string &index,
               bool if_exists);
IndexShape DescribeIndex(duckdb::ClientContext &context, Attachment &service, uint64_t snapshot, const IndexName &name);

//! The shapes of indexes that were asked for last: a lookup without them takes two questions. They are those of one
//! revision and snapshot, and forgotten with the next: indexes are made and dropped without a snapshot of their own.
class IndexShapes {
public:
	//! As DescribeIndex. `revision` is what the attachment stands at; without one it is asked each time.
	IndexShape Describe(duckdb::ClientContext &context, Attachment &service, duckdb::optional_idx revision,
	                    uint64_t snapshot, const IndexName &name);

private:
	using Key = std::tuple<std::string, std::string, std::string>;

	std::mutex lock;
	duckdb::optional_idx of_revision;
	uint64_t of_snapshot = 0;
	std::map<Key, IndexShape> shapes;
};

//! `row_id BIGINT`, `data_file_id UBIGINT`, in the index's order for ranges.
duckdb::shared_ptr<AnsweredRows> ReadIndex(duckdb::ClientContext &context, Attachment &service, uint64_t snapshot,
                                           uint64_t index, const IndexRead &read);
//! The columns of moraine_indexes.
duckdb::shared_ptr<AnsweredRows> ListIndexes(duckdb::ClientContext &context, Attachment &service, uint64_t snapshot,
                                             const std::string &schema, const std::string &table);

const duckdb::vector<duckdb::LogicalType> &RowIdTypes();
const duckdb::vector<duckdb::LogicalType> &IndexListTypes();

} // namespace moraine
