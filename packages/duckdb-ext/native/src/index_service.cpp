#include "index_service.hpp"

#include "idle_wait.hpp"

#include "duckdb/common/types.hpp"

using namespace duckdb;

namespace moraine {

//! Flags of ReadIndex.
static constexpr uint8_t LOWER_INCLUSIVE = 1;
static constexpr uint8_t UPPER_INCLUSIVE = 2;
static constexpr uint8_t REVERSE = 4;

const vector<LogicalType> &RowIdTypes() {
	static const vector<LogicalType> types {LogicalType::BIGINT, LogicalType::UBIGINT};
	return types;
}

const vector<LogicalType> &IndexListTypes() {
	static const vector<LogicalType> types {LogicalType::BIGINT,  LogicalType::VARCHAR, LogicalType::BOOLEAN,
	                                        LogicalType::BOOLEAN, LogicalType::VARCHAR, LogicalType::BIGINT};
	return types;
}

AnsweredRows::AnsweredRows(FrameReader frame_p, const vector<LogicalType> &types)
    : frame(std::move(frame_p)), rows(frame.Batch()) {
	frame.End();
	if (rows.Types() != types) {
		throw WireException("rows of other types than were asked for");
	}
}

//! Has the service run a statement of its own, which may take long.
static void Run(ClientContext &context, Attachment &service, FrameWriter &frame) {
	IdleWait wait(&context);
	auto answer = service.Request(context, frame, FrameKind::DONE, Repeat::NEVER);
	answer.Bool();
	answer.End();
}

void CreateIndex(ClientContext &context, Attachment &service, const IndexDefinition &definition) {
	auto frame = FrameWriter::ForAttachment(FrameKind::CREATE_INDEX);
	frame.Text(definition.name.schema);
	frame.Text(definition.name.table);
	frame.Text(definition.name.index);
	frame.Texts(definition.columns);
	frame.Bool(definition.is_unique);
	frame.Bool(definition.if_not_exists);
	frame.Map(definition.options);
	Run(context, service, frame);
}

void DropIndex(ClientContext &context, Attachment &service, const string &schema, const string &index, bool if_exists) {
	auto frame = FrameWriter::ForAttachment(FrameKind::DROP_INDEX);
	frame.OptionText(&schema);
	frame.Text(index);
	frame.Bool(if_exists);
	Run(context, service, frame);
}

IndexShape DescribeIndex(ClientContext &context, Attachment &service, uint64_t snapshot, const IndexName &name) {
	auto frame = FrameWriter::ForAttachment(FrameKind::DESCRIBE_INDEX);
	frame.OptionU64(snapshot);
	frame.Text(name.schema);
	frame.Text(name.table);
	frame.Text(name.index);
	auto answer = service.Request(context, frame, FrameKind::INDEX_SHAPE, Repeat::ASK_AGAIN);
	IndexShape shape;
	shape.id = answer.U64();
	answer.Bool();
	// a column is two texts, so two lengths at least
	auto columns = answer.Count(8);
	for (uint32_t column = 0; column < columns; column++) {
		shape.columns.push_back(answer.Text());
		shape.types.push_back(TransformStringToLogicalType(answer.Text(), context));
	}
	answer.End();
	if (shape.columns.empty()) {
		throw WireException("an index without columns");
	}
	return shape;
}

IndexShape IndexShapes::Describe(ClientContext &context, Attachment &service, optional_idx revision, uint64_t snapshot,
                                 const IndexName &name) {
	Key key(name.schema, name.table, name.index);
	{
		std::lock_guard<std::mutex> guard(lock);
		if (of_revision != revision || of_snapshot != snapshot) {
			shapes.clear();
			of_revision = revision;
			of_snapshot = snapshot;
		}
		auto known = shapes.find(key);
		if (known != shapes.end()) {
			return known->second;
		}
	}
	auto shape = DescribeIndex(context, service, snapshot, name);
	std::lock_guard<std::mutex> guard(lock);
	if (revision.IsValid() && of_revision == revision && of_snapshot == snapshot) {
		shapes[key] = shape;
	}
	return shape;
}

shared_ptr<AnsweredRows> ReadIndex(ClientContext &context, Attachment &service, uint64_t snapshot, uint64_t index,
                                   const IndexRead &read) {
	auto frame = FrameWriter::ForAttachment(FrameKind::READ_INDEX);
	frame.OptionU64(snapshot);
	frame.U64(index);
	frame.U8(static_cast<uint8_t>(read.kind));
	frame.U8((read.lower_inclusive ? LOWER_INCLUSIVE : 0) | (read.upper_inclusive ? UPPER_INCLUSIVE : 0) |
	         (read.reverse ? REVERSE : 0));
	frame.U32(NumericCast<uint32_t>(read.keys.size()));
	for (auto &keys : read.keys) {
		frame.Batch(*keys);
	}
	return make_shared_ptr<AnsweredRows>(service.Request(context, frame, FrameKind::ROW_IDS, Repeat::ASK_AGAIN),
	                                     RowIdTypes());
}

shared_ptr<AnsweredRows> ListIndexes(ClientContext &context, Attachment &service, uint64_t snapshot,
                                     const string &schema, const string &table) {
	auto frame = FrameWriter::ForAttachment(FrameKind::LIST_INDEXES);
	frame.OptionU64(snapshot);
	frame.Text(schema);
	frame.Text(table);
	return make_shared_ptr<AnsweredRows>(service.Request(context, frame, FrameKind::INDEXES, Repeat::ASK_AGAIN),
	                                     IndexListTypes());
}

} // namespace moraine
