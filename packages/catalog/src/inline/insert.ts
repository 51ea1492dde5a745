import { CorruptionError, InvalidArgumentError, type RowId, type TableId, UnsupportedError } from "@moraine/codec";
import { DataType, type RecordBatch, Table } from "apache-arrow";
import { largeCommitEntries } from "../engine/limits.js";
import { quoted } from "../model/error-text.js";
import type { CommitDraft, InsertOp } from "../operations.js";
import { always, sameElements } from "../unchanged.js";
import { checkArray, checkId, checkKnown, checkObject, type Names } from "../verbs/arguments.js";
import { requireTable } from "../verbs/require.js";
import { fieldType, typeText } from "./arrow-access.js";
import { decodeBody, encodeBody, type RecordBatchParts } from "./arrow-body.js";
import {
  arrowTypeOf,
  childOf,
  childrenOf,
  type InlineField,
  type InlineSchema,
  nestedKind,
  parseSchema,
} from "./arrow-schema.js";
import { arrowRows } from "./arrow-stream.js";
import { checkChunkColumn } from "./chunk-check.js";
import { type InlineShape, inlineShape, topLevelColumns } from "./columns.js";
import { encodeRows, type PlainRow, type WritableColumn } from "./encode-rows.js";
import type { InlineContent } from "./content.js";
import { inlineRowsPerInsert } from "./limits.js";
import { checkOwnArrow, isArrow } from "./own-arrow.js";

/** A chunk in its stored form, for callers that have Arrow bytes already. */
export interface InlineChunkInput {
  readonly schemaVersion: bigint;
  /** An IPC stream that holds nothing but the schema. */
  readonly arrowSchema: Uint8Array;
  /** Little-endian `u32` length of the message, the record batch message, its buffers. */
  readonly arrowBody: Uint8Array;
  readonly rowCount: number;
}

const inlineChunkNames: Names<InlineChunkInput> = {
  schemaVersion: true,
  arrowSchema: true,
  arrowBody: true,
  rowCount: true,
};

/** Rows to inline: plain objects by column name, a table or batch of our own copy of Apache Arrow, or a stored chunk. */
export type InlineRows = readonly PlainRow[] | Table | RecordBatch | InlineChunkInput;

export interface InlineInsertArguments {
  readonly table: TableId;
  readonly rows: InlineRows;
}

const inlineInsertNames: Names<InlineInsertArguments> = { table: true, rows: true };

/** Chunks of one insert, for a process that has encoded its rows already. */
export interface InlineChunks {
  readonly table: TableId;
  readonly chunks: readonly EncodedChunk[];
}

/** A stored chunk that may leave its schema version to the commit: the table's then. */
interface EncodedChunk extends Omit<InlineChunkInput, "schemaVersion"> {
  readonly schemaVersion: bigint | undefined;
}

const inlineChunksNames: Names<InlineChunks> = { table: true, chunks: true };

/**
 * Stages rows that are kept inside the catalog. Gives the first row id; the others follow without gaps, in order.
 *
 * Errors: `not_found` for an unknown table, `constraint` for a NULL where the column or a field of it forbids it,
 * `invalid_argument` for no rows, too many, rows that do not fit the columns, or Arrow data of another copy of Apache Arrow.
 */
export function inlineInsert(draft: CommitDraft, args: InlineInsertArguments): RowId {
  checkKnown(args, inlineInsertNames, "arguments");
  const tableId = checkId(args.table, "table") as TableId;
  requireTable(draft, tableId);
  return stageChunks(draft, tableId, contentOf(draft, tableId, args.rows));
}

/** The same for chunks that `inlineInsert` made of rows on the same state elsewhere. They are checked as any stored chunk. */
export function insertChunks(draft: CommitDraft, args: InlineChunks): RowId {
  checkKnown(args, inlineChunksNames, "arguments");
  const tableId = checkId(args.table, "table") as TableId;
  requireTable(draft, tableId);
  const chunks = checkArray(args.chunks, "chunks").map((chunk) => {
    checkObject(chunk, "chunk");
    return storedChunk(draft, tableId, chunk);
  });
  return stageChunks(draft, tableId, chunks);
}

function stageChunks(draft: CommitDraft, tableId: TableId, chunks: readonly InlineContent[]): RowId {
  const total = chunks.reduce((sum, chunk) => sum + chunk.rowCount, 0);
  if (total === 0) {
    throw new InvalidArgumentError("rows is empty", {
      remedy: "Leave the insert out when there is nothing to insert.",
    });
  }
  if (total > inlineRowsPerInsert) {
    throw new InvalidArgumentError(`rows has ${total} rows, more than the limit of ${inlineRowsPerInsert}`, {
      remedy: "Write so many rows to a data file and register it, or split the insert.",
    });
  }
  const first = draft.addRows(tableId, BigInt(total), 0n);
  let rowIdStart = first;
  for (const chunk of chunks) {
    const op: InsertOp = { kind: "insert", tableId, rowIdStart, ...chunk };
    draft.inlineOps.push(op);
    rowIdStart += BigInt(chunk.rowCount);
  }
  draft.record({ op: "insert", tableId });
  return first as RowId;
}

/** The chunks of some rows. Many rows are encoded once, however often the closure runs. */
function contentOf(draft: CommitDraft, tableId: TableId, rows: InlineRows): readonly InlineContent[] {
  const { memory } = draft;
  const count = rowCountOf(rows);
  if (memory === undefined || count < largeCommitEntries) return chunksOf(draft, tableId, rows);
  const origin = [rows, inlineShape(draft, tableId)];
  const known = memory.encoded.find(origin);
  if (known !== undefined) return known;
  // Arrow data is not changed by anybody. A list may be filled anew for each run.
  const unchanged = isPlainRows(rows) ? sameElements(rows) : always;
  const chunks = chunksOf(draft, tableId, rows);
  memory.encoded.keep(origin, unchanged, chunks, count);
  return chunks;
}

/** Rows that are still to be encoded. A stored chunk has none. */
function rowCountOf(rows: InlineRows): number {
  if (typeof rows === "object" && isArrow(rows)) return rows.numRows;
  return isPlainRows(rows) ? rows.length : 0;
}

function chunksOf(draft: CommitDraft, tableId: TableId, rows: InlineRows): InlineContent[] {
  if (typeof rows === "object" && isArrow(rows)) return chunksOfArrow(inlineShape(draft, tableId), rows);
  if (!isPlainRows(rows)) return [checkedChunk(draft, tableId, rows)];
  if (rows.length === 0) return [];
  const { columns, schema } = inlineShape(draft, tableId);
  const parts = encodeRows(columns, rows);
  return [{ schemaVersion: undefined, schema, body: encodeBody(parts), parts, rowCount: parts.length }];
}

function isPlainRows(rows: InlineRows): rows is readonly PlainRow[] {
  return Array.isArray(rows);
}

function checkedChunk(draft: CommitDraft, tableId: TableId, chunk: InlineChunkInput): InlineContent {
  checkObject(chunk, "rows");
  const { schemaVersion, arrowSchema, arrowBody } = chunk;
  if (typeof schemaVersion !== "bigint" || !(arrowSchema instanceof Uint8Array) || !(arrowBody instanceof Uint8Array)) {
    throw new InvalidArgumentError("rows is neither an array of objects, nor an Arrow table or batch, nor a chunk", {
      remedy:
        "Pass plain objects, a table or record batch of the apache-arrow that moraine imports, or { schemaVersion, arrowSchema, arrowBody, rowCount }.",
    });
  }
  return storedChunk(draft, tableId, chunk);
}

function storedChunk(draft: CommitDraft, tableId: TableId, chunk: EncodedChunk): InlineContent {
  checkKnown(chunk, inlineChunkNames, "rows");
  const { schemaVersion, arrowSchema, arrowBody, rowCount } = chunk;
  if (!Number.isSafeInteger(rowCount) || rowCount < 0) {
    throw new InvalidArgumentError("rows.rowCount is no row count", {
      remedy: "Pass the number of rows of the chunk.",
    });
  }
  const schema = { bytes: arrowSchema, parsed: parsedArgument(arrowSchema) };
  const columns = topLevelColumns(draft, tableId);
  checkFields(schema.parsed, columns, tableId);
  const parts = readableBody(columns, schema.parsed, arrowBody, rowCount);
  return { schemaVersion, schema, body: arrowBody, parts, rowCount };
}

/** A chunk that nobody could read back is refused before it is stored. */
function readableBody(
  columns: readonly WritableColumn[],
  schema: InlineSchema,
  body: Uint8Array,
  rowCount: number,
): RecordBatchParts {
  try {
    const parts = decodeBody(body, rowCount);
    for (const [position, column] of columns.entries()) checkChunkColumn(column, schema, parts, position);
    return parts;
  } catch (cause) {
    if (!(cause instanceof CorruptionError)) throw cause;
    throw new InvalidArgumentError(`rows.arrowBody is no record batch of ${rowCount} rows of rows.arrowSchema`, {
      remedy: "Pass the length of the message, the record batch message and its buffers, and the number of its rows.",
      cause,
    });
  }
}

function parsedArgument(arrowSchema: Uint8Array): InlineSchema {
  try {
    return parseSchema(arrowSchema);
  } catch (cause) {
    throw new InvalidArgumentError("rows.arrowSchema is no Arrow schema", {
      remedy: "Pass an IPC stream that holds nothing but the schema.",
      cause,
    });
  }
}

/** A chunk must have the table's columns: everybody who reads it later looks for them by these names. */
function checkFields({ fields }: InlineSchema, columns: readonly WritableColumn[], tableId: TableId): void {
  if (!haveTypesOf(fields, columns)) {
    throw new InvalidArgumentError(`rows.arrowSchema does not have the columns of table ${tableId}`, {
      remedy: "Encode the rows with the table's columns, in their order, in the types in which DuckDB exports them.",
    });
  }
}

function haveTypesOf(
  fields: readonly Pick<InlineField, "name" | "type">[],
  columns: readonly WritableColumn[],
): boolean {
  return (
    fields.length === columns.length &&
    columns.every((column, at) => {
      const field = fields[at];
      return field?.name === column.name && hasTypeOf(field.type, column);
    })
  );
}

/** Types that plain values cannot express have no Arrow type of our choice to compare with. What they are nested in has. */
function hasTypeOf(type: DataType, column: WritableColumn): boolean {
  try {
    return typeText(type) === typeText(arrowTypeOf(column));
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
  }
  const fields = childrenOf(type).map((field) => ({ name: field.name, type: fieldType(field) }));
  const element = fields[0];
  switch (nestedKind(column.columnType)) {
    case "struct":
      return DataType.isStruct(type) && haveTypesOf(fields, column.children);
    case "list":
      return DataType.isList(type) && element !== undefined && hasTypeOf(element.type, childOf(column, 0));
    case "map": {
      if (!DataType.isMap(type) || element === undefined) return false;
      const pair = childrenOf(element.type).map(fieldType);
      return pair.length === 2 && pair.every((part, at) => hasTypeOf(part, childOf(column, at)));
    }
    case undefined:
      return true;
  }
}

function chunksOfArrow({ columns, schema }: InlineShape, input: Table | RecordBatch): InlineContent[] {
  checkOwnArrow(input);
  const table = input instanceof Table ? input : new Table([input]);
  const names = columns.map((column) => column.name);
  for (const field of table.schema.fields) {
    if (!names.includes(field.name)) {
      throw new InvalidArgumentError(`rows has a column ${quoted(field.name)}, which the table does not have`, {
        remedy: "Use the table's column names exactly as they are written.",
      });
    }
  }
  for (const column of columns) checkArrowColumn(column, table);
  return written(table.select(names)).map(({ body, parts }) => {
    for (const [position, column] of columns.entries()) checkWritten(column, schema.parsed, parts, position);
    return { schemaVersion: undefined, schema, body, parts, rowCount: parts.length };
  });
}

function checkArrowColumn(column: WritableColumn, table: Table): void {
  const vector = table.getChild(column.name);
  if (vector === null) {
    throw new InvalidArgumentError(`rows lacks column ${quoted(column.name)}`, {
      remedy: "Pass every column of the table; fill missing ones with NULL.",
    });
  }
  const actual = typeText(vector.type as DataType);
  const wanted = typeText(arrowTypeOf(column));
  if (actual !== wanted) {
    throw new InvalidArgumentError(
      `rows has Arrow type ${actual} in column ${quoted(column.name)}, which takes ${wanted}`,
      { remedy: "Cast the Arrow column to the type named." },
    );
  }
}

function written(table: Table): { readonly body: Uint8Array; readonly parts: RecordBatchParts }[] {
  try {
    return arrowRows(table).chunks.map(({ body, rowCount }) => ({ body, parts: decodeBody(body, rowCount) }));
  } catch (cause) {
    if (cause instanceof InvalidArgumentError) throw cause;
    throw new InvalidArgumentError("rows is an Arrow table or record batch that cannot be written", {
      remedy: "Pass one whose columns have the buffers of their types and the length that they state.",
      cause,
    });
  }
}

/**
 * Arrow does not look at values: text need not be text, and a decimal may have more digits than its type. Nor does it look at
 * buffers, so it is what was written that is checked, not what was given.
 */
function checkWritten(column: WritableColumn, schema: InlineSchema, parts: RecordBatchParts, position: number): void {
  try {
    checkChunkColumn(column, schema, parts, position);
  } catch (cause) {
    if (!(cause instanceof CorruptionError)) throw cause;
    throw new InvalidArgumentError(`rows has a value in column ${quoted(column.name)} that the column cannot have`, {
      remedy: "Pass well-formed text, decimals with no more digits than their type, and times within a day.",
      cause,
    });
  }
}
