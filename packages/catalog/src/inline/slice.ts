import { Field, makeData, RecordBatch, Schema, Struct, Table } from "apache-arrow";
import { decodeBody } from "./arrow-body.js";
import { readField } from "./arrow-read.js";
import type { InlineSchema } from "./arrow-schema.js";
import { arrowRows } from "./arrow-stream.js";

/** Rows of a chunk as an Arrow table, for callers that want values and not bytes. */
export function chunkTable(schema: InlineSchema, body: Uint8Array, rowCount: number): Table {
  const parts = decodeBody(body, rowCount);
  const arrowSchema = new Schema(schema.fields.map((field) => new Field(field.name, field.type, true)));
  const children = schema.fields.map((_, position) => readField(schema, parts, position));
  const data = makeData({ type: new Struct(arrowSchema.fields), length: parts.length, nullCount: 0, children });
  return new Table([new RecordBatch(arrowSchema, data)]);
}

/** A run of consecutive rows cut out of a chunk. */
export interface ChunkRun {
  readonly offset: number;
  readonly rowCount: number;
  readonly body: Uint8Array;
}

/** What is left of a chunk without some of its rows, as runs of consecutive rows: a chunk's row ids have no gaps. */
export function withoutRows(
  schema: InlineSchema,
  body: Uint8Array,
  rowCount: number,
  dead: ReadonlySet<number>,
): ChunkRun[] {
  const table = chunkTable(schema, body, rowCount);
  const runs: ChunkRun[] = [];
  let offset = 0;
  while (offset < rowCount) {
    if (dead.has(offset)) {
      offset += 1;
      continue;
    }
    let end = offset + 1;
    while (end < rowCount && !dead.has(end)) end += 1;
    const run = arrowRows(table.slice(offset, end)).chunks[0];
    if (run === undefined) throw new Error("a run of rows came out empty");
    runs.push({ offset, rowCount: run.rowCount, body: run.body });
    offset = end;
  }
  return runs;
}
