import { createRequire } from "node:module";
import {
  type ColumnId,
  decodeKey,
  inlineFileDeletePrefix,
  type DataFileId,
  type IndexValue,
  parseColumnType,
  parseIndexValue,
  prefixEnd,
  type SnapshotId,
  type TableId,
  toIndexValue,
} from "@moraine/codec";
import { type DataStore, type ReadView, rowKey } from "@moraine/store";
import { Decimal, tableFromIPC } from "apache-arrow";
import type { CatalogSnapshot } from "../../src/model/view.js";
import type { ColumnInfo } from "../../src/model/view-types.js";
import type { ReadScope } from "../../src/index.js";

// Another reader of Parquet than the one under test.
const parquet = createRequire(import.meta.url)("parquet-wasm/node") as typeof import("parquet-wasm/node");

const embeddedRowIdField = "2147483540";

/** A live row, its values as an index would hold them. */
export interface LiveRow {
  readonly rowId: bigint;
  readonly values: ReadonlyMap<ColumnId, IndexValue>;
}

export type SnapshotReader = (snapshot: SnapshotId) => Promise<CatalogSnapshot>;

/** What a full scan needs beside the scope that it looks through. */
export interface LakeReads {
  readonly store: ReadView;
  readonly data: DataStore | undefined;
  readonly past: SnapshotReader;
}

/** Every live row of a table at one cut: inline rows, and rows of data files without those that delete files name. */
export async function liveRows(scope: ReadScope, { store, data, past }: LakeReads, table: TableId): Promise<LiveRow[]> {
  const { snapshot } = scope;
  const columns = snapshot.columnsOf(table).filter(({ parentColumn }) => parentColumn === undefined);
  const rows = await inlineRows(scope, table, columns, past);
  for (const file of snapshot.dataFilesOf(table)) {
    if (data === undefined) throw new Error("the rows of data files cannot be read without a data store");
    const dead = await deletedOneByOne(store, table, file.id);
    for (const deleteFile of snapshot.deleteFilesOf(table).filter(({ dataFileId }) => dataFileId === file.id)) {
      for (const position of await deletePositions(data, folderOf(snapshot, table) + deleteFile.path))
        dead.add(position);
    }
    const content = await arrowTable(data, folderOf(snapshot, table) + file.path);
    const ids = content.schema.fields.findIndex(
      (field) => field.metadata.get("PARQUET:field_id") === embeddedRowIdField,
    );
    const { fields } = content.schema;
    // Where a file has no field ids, its columns are called as the table's were when it was registered.
    const hasIds = fields.some((field) => field.metadata.has("PARQUET:field_id"));
    const then = hasIds ? [] : (await past(file.beginSnapshot)).columnsOf(table);
    const vectors = columns.map((column) => {
      const named = then.find(({ id }) => id === column.id)?.name;
      const at = fields.findIndex((field) =>
        hasIds ? field.metadata.get("PARQUET:field_id") === String(column.id) : field.name === named,
      );
      return { column, vector: at < 0 ? undefined : content.getChildAt(at) };
    });
    for (let position = 0; position < content.numRows; position++) {
      if (dead.has(position)) continue;
      const embedded: unknown = ids < 0 ? undefined : content.getChildAt(ids)?.get(position);
      const rowId = typeof embedded === "bigint" ? embedded : file.rowIdStart! + BigInt(position);
      const values = new Map(
        vectors.map(({ column, vector }) => [
          column.id,
          vector === undefined || vector === null
            ? defaultOf(column)
            : indexValueOf(column, vector.get(position), vector.type),
        ]),
      );
      rows.push({ rowId, values });
    }
  }
  return rows;
}

/** Positions of a file's rows that were deleted without a delete file. */
async function deletedOneByOne(store: ReadView, table: TableId, file: DataFileId): Promise<Set<number>> {
  const prefix = inlineFileDeletePrefix(table, file);
  const dead = new Set<number>();
  for await (const block of store.scan({ start: prefix, end: prefixEnd(prefix) })) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace === "inline" && key.kind === "file_delete") dead.add(Number(key.position));
    }
  }
  return dead;
}

/** Values of inline rows stand under the names that the columns had when the rows came. */
async function inlineRows(
  scope: ReadScope,
  table: TableId,
  columns: readonly ColumnInfo[],
  past: SnapshotReader,
): Promise<LiveRow[]> {
  const names = new Map<bigint, ReadonlyMap<ColumnId, string>>();
  const rows: LiveRow[] = [];
  for (const row of await scope.recentRows({ table })) {
    let then = names.get(row.beginSnapshot);
    if (then === undefined) {
      then = new Map((await past(row.beginSnapshot)).columnsOf(table).map(({ id, name }) => [id, name]));
      names.set(row.beginSnapshot, then);
    }
    const known = then;
    const values = columns.map((column): [ColumnId, IndexValue] => {
      const name = known.get(column.id);
      return [column.id, name === undefined ? defaultOf(column) : inlineIndexValueOf(column, row.values[name])];
    });
    rows.push({ rowId: row.rowId, values: new Map(values) });
  }
  return rows;
}

export function folderOf(snapshot: CatalogSnapshot, table: TableId): string {
  const info = snapshot.tableById(table);
  const schema = info === undefined ? undefined : snapshot.schemaById(info.schemaId);
  if (info === undefined || schema === undefined) throw new Error(`table ${table} is not there`);
  return `${schema.path}${info.path}`;
}

async function arrowTable(data: DataStore, path: string): Promise<ReturnType<typeof tableFromIPC>> {
  const { sizeBytes } = await data.head(path);
  const [bytes] = await data.readRanges(path, [{ offset: 0, length: sizeBytes }]);
  return tableFromIPC(parquet.readParquet(bytes!.slice()).intoIPCStream());
}

async function deletePositions(data: DataStore, path: string): Promise<number[]> {
  const table = await arrowTable(data, path);
  return [...(table.getChild("pos") ?? [])].map(Number);
}

function defaultOf(column: ColumnInfo): IndexValue {
  return column.initialDefault === undefined ? null : parseIndexValue(column.columnType, column.initialDefault);
}

/** What an index holds for a value of an inline row. */
function inlineIndexValueOf(column: ColumnInfo, value: unknown): IndexValue {
  if (logicalTypeOf(column) === undefined) return null;
  return toIndexValue(column.columnType, value ?? null);
}

/** `undefined` for types that no index can be over. */
function logicalTypeOf({ columnType }: ColumnInfo): string | undefined {
  try {
    return parseColumnType(columnType).logical;
  } catch {
    return undefined;
  }
}

/** What an index holds for a value of a file as Apache Arrow gives it, for the types that these tests index. */
function indexValueOf(column: ColumnInfo, value: unknown, type: unknown): IndexValue {
  const logical = logicalTypeOf(column);
  if (value === null || value === undefined || logical === undefined) return null;
  switch (logical) {
    case "decimal": {
      const words = value as Uint32Array;
      const wide =
        BigInt(words[0]!) | (BigInt(words[1]!) << 32n) | (BigInt(words[2]!) << 64n) | (BigInt(words[3]!) << 96n);
      if (!(type instanceof Decimal)) throw new Error("a decimal that is none");
      return BigInt.asIntN(128, wide);
    }
    case "date":
      return BigInt(Number(value) / 86_400_000);
    case "time":
      return BigInt(value as bigint);
    case "timestamp":
      if (typeof value === "bigint") return value;
      throw new Error("timestamps of files lose digits on the way through Arrow's accessors");
    default:
      return toIndexValue(column.columnType, value);
  }
}
