import { encodeIndexEntry, type IndexLayout, parseColumnType, toIndexValue } from "@moraine/codec";
import { toHex } from "./records.js";

/** A live row as the model keeps it: plain values by column id. */
export interface ModelRow {
  readonly rowId: bigint;
  readonly values: ReadonlyMap<bigint, unknown>;
}

export interface ModelIndex {
  readonly indexId: bigint;
  readonly unique: boolean;
  readonly columns: readonly {
    readonly columnId: bigint;
    readonly columnType: string;
    readonly descending: boolean;
    readonly nullsFirst: boolean;
  }[];
}

/** A file of the model: the row id of each position, and which positions are dead. */
export interface ModelFile {
  readonly dataFileId: bigint;
  readonly path: string;
  readonly rowIds: readonly bigint[];
  readonly dead: ReadonlySet<number>;
  readonly deleteFileId: bigint | undefined;
  /** Rows were deleted without a delete file: entries must then be read, not supplied. */
  readonly singlyDeleted?: boolean;
}

/** What a table holds, kept the plain way, for comparing with what the catalog holds. Values are never changed in place. */
export interface ModelTable {
  readonly rows: ReadonlyMap<bigint, ModelRow>;
  /** Row ids that are inline. */
  readonly inline: ReadonlySet<bigint>;
  readonly files: readonly ModelFile[];
  readonly indexes: readonly ModelIndex[];
}

export const emptyTable: ModelTable = { rows: new Map(), inline: new Set(), files: [], indexes: [] };

function layoutOf(index: ModelIndex): IndexLayout {
  return {
    indexId: index.indexId,
    unique: index.unique,
    columns: index.columns.map(({ columnType, descending, nullsFirst }) => ({
      valueType: parseColumnType(columnType).valueType,
      descending,
      nullsFirst,
    })),
  };
}

/** The entry that a row has in an index, by the plain encoder. */
function entryOf(index: ModelIndex, row: ModelRow): { readonly key: string; readonly value: string } {
  const values = index.columns.map(({ columnId, columnType }) =>
    toIndexValue(columnType, row.values.get(columnId) ?? null),
  );
  const { key, value } = encodeIndexEntry(layoutOf(index), values, row.rowId);
  return { key: toHex(key), value: toHex(value) };
}

/** All entries of all indexes, recomputed from the live rows; `undefined` if two rows claim one key. */
export function expectedEntries(table: ModelTable): Map<string, string> | undefined {
  const entries = new Map<string, string>();
  for (const index of table.indexes) {
    for (const row of table.rows.values()) {
      const { key, value } = entryOf(index, row);
      if (entries.has(key)) return undefined;
      entries.set(key, value);
    }
  }
  return entries;
}
