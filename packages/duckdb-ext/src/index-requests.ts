import type { IndexRead, ReadScope, Transaction } from "@moraine/catalog";
import {
  CommitConflictError,
  type IndexId,
  InvalidArgumentError,
  NotFoundError,
  parseColumnType,
  type SchemaId,
  type TableId,
} from "@moraine/codec";
import { duckdbColumnType } from "./duckdb-column-type.js";
import { indexOptions } from "./index-options.js";
import { keyRows } from "./key-values.js";
import { indexStatementAttempts } from "./limits.js";
import type { FollowedLake } from "./lake.js";
import { locateRows } from "./locate-rows.js";
import { booleanColumn, integerColumn, nullColumn, textColumn, wordColumn } from "./scalar-columns.js";
import type { MessageOf } from "./wire/messages.js";

type Snapshot = ReadScope["snapshot"];

/** Names in SQL are compared without regard to case; one that is exactly right comes first. */
function named<T extends { readonly name: string }>(items: readonly T[], name: string): T | undefined {
  const folded = name.toLowerCase();
  return items.find((item) => item.name === name) ?? items.find((item) => item.name.toLowerCase() === folded);
}

function schemaNamed(snapshot: Snapshot, name: string): { readonly id: SchemaId; readonly name: string } {
  const found = named(snapshot.schemas(), name);
  if (found === undefined) throw new NotFoundError(`schema ${JSON.stringify(name)}`);
  return found;
}

function tableNamed(
  snapshot: Snapshot,
  schema: string,
  name: string,
): { readonly id: TableId; readonly schemaId: SchemaId } {
  const { id } = schemaNamed(snapshot, schema);
  const found = named(snapshot.tablesIn(id), name);
  if (found === undefined) throw new NotFoundError(`table ${JSON.stringify(name)} in schema ${JSON.stringify(schema)}`);
  return found;
}

/**
 * Commits a statement that stands by itself: what it lost a race with is there when it is run again, by names. The signal takes
 * back what has not landed.
 */
async function commitStatement(
  lake: FollowedLake,
  statement: (tx: Transaction) => boolean,
  signal: AbortSignal,
): Promise<boolean> {
  for (let attempt = 1; ; attempt++) {
    try {
      return (await lake.catalog.commit(statement, { signal })).value;
    } catch (error) {
      if (!(error instanceof CommitConflictError) || attempt === indexStatementAttempts) throw error;
    }
  }
}

/** Gives whether an index was made; not where `IF NOT EXISTS` found one of the name. */
export async function createIndex(
  lake: FollowedLake,
  request: MessageOf<"create_index">,
  signal: AbortSignal,
): Promise<boolean> {
  const { schema, table, name, columns, unique, ifNotExists } = request;
  return await commitStatement(
    lake,
    (tx) => {
      const { id, schemaId } = tableNamed(tx, schema, table);
      if (ifNotExists && tx.indexBySchemaName(schemaId, name) !== undefined) return false;
      const { orders } = indexOptions(request.options, columns.length, unique);
      const topLevel = tx.columnsOf(id).filter(({ parentColumn }) => parentColumn === undefined);
      const ids = columns.map((column) => {
        const found = named(topLevel, column);
        if (found === undefined)
          throw new NotFoundError(`column ${JSON.stringify(column)} of table ${JSON.stringify(table)}`);
        return found.id;
      });
      if (tx.dataFilesOf(id).length > 0 && tx.dataPath() === undefined) {
        throw new InvalidArgumentError(
          `table ${JSON.stringify(table)} has data files, and the lake no data path to read them by`,
          {
            remedy: "Attach with META_DATA_PATH, which records it.",
          },
        );
      }
      tx.createIndex({ table: id, name, columns: ids, unique, orders, backfill: "scoped-read" });
      return true;
    },
    signal,
  );
}

/** Gives whether an index was dropped; not where `IF EXISTS` found none. */
export async function dropIndex(
  lake: FollowedLake,
  { schema, name, ifExists }: MessageOf<"drop_index">,
  signal: AbortSignal,
): Promise<boolean> {
  return await commitStatement(
    lake,
    (tx) => {
      const schemas = schema === undefined ? tx.schemas() : [named(tx.schemas(), schema)];
      const found = schemas.flatMap((one) => (one === undefined ? [] : (tx.indexBySchemaName(one.id, name) ?? [])));
      if (found.length > 1) {
        throw new InvalidArgumentError(`${found.length} schemas have an index ${JSON.stringify(name)}`, {
          remedy: "Name the schema as well.",
        });
      }
      const [index] = found;
      if (index === undefined) {
        if (ifExists) return false;
        throw new NotFoundError(`index ${JSON.stringify(name)}`);
      }
      tx.dropIndex({ index: index.id });
      return true;
    },
    signal,
  );
}

export function describeIndex(scope: ReadScope, request: MessageOf<"describe_index">): MessageOf<"index_shape"> {
  const { snapshot } = scope;
  const { id } = tableNamed(snapshot, request.schema, request.table);
  const index = named(snapshot.indexesOf(id), request.index);
  if (index === undefined) {
    throw new NotFoundError(`index ${JSON.stringify(request.index)} of table ${JSON.stringify(request.table)}`);
  }
  const columns = snapshot.columnsOf(id);
  return {
    type: "index_shape",
    index: index.id,
    unique: index.unique,
    columns: index.columns.map((column) => {
      const found = columns.find((one) => one.id === column);
      if (found === undefined) throw new NotFoundError(`column ${column} of index ${index.id}`);
      return { name: found.name, type: duckdbColumnType(parseColumnType(found.columnType), found.columnType) };
    }),
  };
}

export function listIndexes(scope: ReadScope, request: MessageOf<"list_indexes">): MessageOf<"indexes"> {
  const { snapshot } = scope;
  const indexes = snapshot.indexesOf(tableNamed(snapshot, request.schema, request.table).id);
  return {
    type: "indexes",
    batch: {
      rows: indexes.length,
      columns: [
        integerColumn(
          "BIGINT",
          indexes.map(({ id }) => id),
        ),
        textColumn(indexes.map(({ name }) => name)),
        booleanColumn(indexes.map(({ unique }) => unique)),
        booleanColumn(indexes.map(({ state }) => state === "building")),
        textColumn(indexes.map(({ state }) => state)),
        integerColumn(
          "BIGINT",
          indexes.map(({ certifiedAt }) => certifiedAt),
        ),
      ],
    },
  };
}

export async function readIndex(scope: ReadScope, request: MessageOf<"read_index">): Promise<MessageOf<"row_ids">> {
  const rowIds = await scope.indexRowIds(indexReadOf(request));
  const files = await locateRows(scope, request.index as IndexId, rowIds);
  const fileColumn = files === undefined ? nullColumn("UBIGINT", rowIds.length) : integerColumn("UBIGINT", files);
  return { type: "row_ids", batch: { rows: rowIds.length, columns: [wordColumn("BIGINT", rowIds), fileColumn] } };
}

function indexReadOf(request: MessageOf<"read_index">): IndexRead {
  const index = request.index as IndexId;
  const { lowerInclusive, upperInclusive, reverse } = request.flags;
  switch (request.kind) {
    case "lookup":
      return { kind: "lookup", args: { index, key: onlyRow(request, 1, 0) } };
    case "in":
      return { kind: "in", args: { index, keys: keyRows(onlyBatch(request, 1, 0)) } };
    case "range": {
      const lower = onlyRow(request, 2, 0);
      const upper = onlyRow(request, 2, 1);
      const args = {
        index,
        reverse,
        ...(lower.length === 0 ? {} : { lower: { values: lower, inclusive: lowerInclusive } }),
        ...(upper.length === 0 ? {} : { upper: { values: upper, inclusive: upperInclusive } }),
      };
      return { kind: "range", args };
    }
    case "nulls":
      return { kind: "nulls", args: { index, reverse, prefix: onlyRow(request, 1, 0) } };
  }
}

function onlyBatch(
  { kind, keys }: MessageOf<"read_index">,
  batches: number,
  at: number,
): MessageOf<"read_index">["keys"][number] {
  const found = keys[at];
  if (found !== undefined && keys.length === batches) return found;
  throw new InvalidArgumentError(`an index read by ${kind} has ${keys.length} batches of keys, not ${batches}`, {
    remedy: "Use a client of the same version of the protocol.",
  });
}

/** The values of one row; none where a side of a range is open, which has no columns. */
function onlyRow(request: MessageOf<"read_index">, batches: number, at: number): unknown[] {
  const batch = onlyBatch(request, batches, at);
  if (batch.columns.length === 0) return [];
  const [row] = keyRows(batch);
  if (row !== undefined && batch.rows === 1) return row;
  throw new InvalidArgumentError(`a key of an index read by ${request.kind} has ${batch.rows} rows, not 1`, {
    remedy: "Use a client of the same version of the protocol.",
  });
}
