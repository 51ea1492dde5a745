import { createRequire } from "node:module";
import { NotFoundError, parseColumnType, type TableId } from "@moraine/codec";
import { markUuidColumns, rowIdFieldId } from "@moraine/scoped-reader";
import type { ReadView } from "@moraine/store";
import {
  type Data,
  DataType,
  Field,
  Int64,
  List,
  makeData,
  Map_,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
} from "apache-arrow";
import type { CatalogReader } from "../model/state.js";
import { columnData, fieldType, mapEntriesField } from "./arrow-access.js";
import { endOf, type InlineChunk, readTombstones, scanChunks } from "./chunks.js";
import { ColumnNames, readColumnHistory } from "./column-names.js";
import { writableTable } from "./flush-values.js";
import type { InlineRegistry } from "./registry.js";
import { chunkTable } from "./slice.js";

/** Field id of the column that keeps the snapshot at which a row began, for files whose rows began at several. */
const snapshotIdFieldId = 2147483539n;
const rowIdColumn = "_ducklake_internal_row_id";
const snapshotIdColumn = "_ducklake_internal_snapshot_id";
const fieldIdKey = "PARQUET:field_id";
const trailerBytes = 8;

type ParquetWriter = typeof import("parquet-wasm/node");

let writer: ParquetWriter | undefined;

/** Loaded at the first flush: most processes never write a file. The Node build has no ESM entry that loads its own module. */
function parquetWriter(): ParquetWriter {
  writer ??= createRequire(import.meta.url)("parquet-wasm/node") as ParquetWriter;
  return writer;
}

/** Live inline rows of one schema version as one Parquet file, ready to be flushed. */
export interface FlushFile {
  readonly schemaVersion: bigint;
  /** `undefined` where every row of the drained chunks is dead. */
  readonly content:
    | {
        readonly bytes: Uint8Array;
        readonly footerSize: number;
        readonly recordCount: number;
        readonly rowIdStart: bigint;
        readonly beginSnapshot: bigint;
        readonly partialMax: bigint | undefined;
      }
    | undefined;
}

interface LiveRow {
  readonly rowId: bigint;
  readonly beginSnapshot: bigint;
  readonly table: Table;
  readonly offset: number;
}

/** Reads the live inline rows of a table and writes one file for each schema version that has chunks. */
export async function flushFiles(
  view: ReadView,
  registry: InlineRegistry,
  reader: CatalogReader,
  tableId: TableId,
): Promise<FlushFile[]> {
  const tombstones = await readTombstones(view, tableId);
  const names = new ColumnNames(reader.list("column", tableId), await readColumnHistory(view, tableId));
  const byVersion = new Map<bigint, InlineChunk[]>();
  for await (const chunk of scanChunks(view, tableId)) {
    const known = byVersion.get(chunk.schemaVersion);
    if (known === undefined) byVersion.set(chunk.schemaVersion, [chunk]);
    else known.push(chunk);
  }
  const files: FlushFile[] = [];
  for (const [schemaVersion, chunks] of byVersion) {
    const schema = await registry.schema(view, tableId, schemaVersion);
    if (schema === null)
      throw new NotFoundError(`the schema of inline rows of table ${tableId}, version ${schemaVersion}`);
    const rows: LiveRow[] = [];
    for (const chunk of chunks) {
      const { rowIdStart, beginSnapshot } = chunk;
      const isLive = Uint8Array.from({ length: chunk.rowCount }, (_, offset) =>
        endOf(tombstones, rowIdStart + BigInt(offset), beginSnapshot) === undefined ? 1 : 0,
      );
      const table = writableTable(chunkTable(schema.parsed, chunk.body, chunk.rowCount), isLive);
      isLive.forEach((live, offset) => {
        if (live === 1) rows.push({ rowId: rowIdStart + BigInt(offset), beginSnapshot, table, offset });
      });
    }
    rows.sort((a, b) => (a.rowId < b.rowId ? -1 : a.rowId > b.rowId ? 1 : 0));
    const fieldIds = columnFieldIds(reader, tableId, names, chunks[0]?.beginSnapshot ?? 0n);
    files.push({ schemaVersion, content: rows.length === 0 ? undefined : writeRows(rows, fieldIds) });
  }
  return files;
}

/** The field ids of a schema version's columns by their names then, nested fields by their path, and which are UUIDs. */
interface FieldIds {
  readonly byPath: ReadonlyMap<string, bigint>;
  readonly uuids: ReadonlySet<number>;
}

function columnFieldIds(reader: CatalogReader, tableId: TableId, names: ColumnNames, snapshotId: bigint): FieldIds {
  const byPath = new Map<string, bigint>();
  const uuids = new Set<number>();
  for (const column of names.all()) {
    const path = names.pathAt(column, snapshotId);
    if (path === undefined) continue;
    byPath.set(path, column);
    const type = names.typeAt(column, snapshotId);
    if (type !== undefined && isUuid(type)) uuids.add(Number(column));
  }
  return { byPath, uuids };
}

function isUuid(columnType: string): boolean {
  return columnType.trim().toLowerCase() === "uuid" && parseColumnType(columnType).logical === "uuid";
}

function writeRows(rows: readonly LiveRow[], fieldIds: FieldIds): NonNullable<FlushFile["content"]> {
  const first = rows[0]!;
  const begins = rows.map((row) => row.beginSnapshot);
  const beginSnapshot = begins.reduce((least, begin) => (begin < least ? begin : least));
  const youngest = begins.reduce((most, begin) => (begin > most ? begin : most));
  const isDense = rows.every((row, i) => row.rowId === first.rowId + BigInt(i));
  const spansSnapshots = youngest !== beginSnapshot;
  const fields = first.table.schema.fields.map((field) => withFieldIds(field, "", fieldIds.byPath));
  if (!isDense) fields.push(internalField(rowIdColumn, rowIdFieldId));
  if (spansSnapshots) fields.push(internalField(snapshotIdColumn, snapshotIdFieldId));
  const schema = new Schema(fields);
  const batches = runsOf(rows).map((run) => {
    const head = run[0]!;
    const slice = head.table.slice(head.offset, head.offset + run.length);
    const children: Data[] = slice.schema.fields.map((_, at) => columnData(slice, at));
    if (!isDense) children.push(bigintData(run.map((row) => row.rowId)));
    if (spansSnapshots) children.push(bigintData(run.map((row) => row.beginSnapshot)));
    return new RecordBatch(schema, makeData({ type: new Struct(fields), length: run.length, nullCount: 0, children }));
  });
  const parquet = parquetWriter();
  const properties = new parquet.WriterPropertiesBuilder().setCompression(parquet.Compression.ZSTD).build();
  const written = parquet.writeParquet(
    parquet.Table.fromIPCStream(tableToIPC(new Table(batches), "stream")),
    properties,
  );
  const bytes = fieldIds.uuids.size === 0 ? written : markUuidColumns(written, fieldIds.uuids);
  return {
    bytes,
    footerSize: new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.byteLength - trailerBytes, true),
    recordCount: rows.length,
    rowIdStart: first.rowId,
    beginSnapshot,
    partialMax: spansSnapshots ? youngest : undefined,
  };
}

/** Rows that stand next to each other in one chunk, as runs. */
function runsOf(rows: readonly LiveRow[]): LiveRow[][] {
  const runs: LiveRow[][] = [];
  for (const row of rows) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    if (run !== undefined && last !== undefined && last.table === row.table && last.offset + 1 === row.offset)
      run.push(row);
    else runs.push([row]);
  }
  return runs;
}

function internalField(name: string, fieldId: bigint): Field {
  return new Field(name, new Int64(), false, new Map([[fieldIdKey, String(fieldId)]]));
}

function withFieldIds(field: Field, parent: string, byPath: ReadonlyMap<string, bigint>): Field {
  const path = parent === "" ? field.name : `${parent}\0${field.name}`;
  const id = byPath.get(path);
  const metadata = id === undefined ? undefined : new Map([[fieldIdKey, String(id)]]);
  return new Field(field.name, typeWithFieldIds(fieldType(field), path, byPath), field.nullable, metadata);
}

/** A type with the ids of its nested fields. */
function typeWithFieldIds(type: DataType, path: string, byPath: ReadonlyMap<string, bigint>): DataType {
  if (DataType.isStruct(type)) return new Struct(type.children.map((child) => withFieldIds(child, path, byPath)));
  if (DataType.isList(type)) return new List(withFieldIds(type.valueField, path, byPath));
  if (DataType.isMap(type)) {
    const [key, value] = (type.children[0]?.type as Struct | undefined)?.children ?? [];
    if (key === undefined || value === undefined) return type;
    // The key and value columns are children of the map column itself; Arrow puts a struct between them.
    const entries = new Struct([withFieldIds(key, path, byPath), withFieldIds(value, path, byPath)]);
    return new Map_(mapEntriesField(new Field<Struct>("entries", entries, false)));
  }
  return type;
}

function bigintData(values: readonly bigint[]): Data {
  return makeData({ type: new Int64(), length: values.length, nullCount: 0, data: BigInt64Array.from(values) });
}
