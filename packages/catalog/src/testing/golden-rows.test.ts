import {
  ChangelogValue,
  decodeKey,
  decodeValue,
  encodeValue,
  FormatValue,
  historyKey,
  IndexDefinitionValue,
  InlineChunkValue,
  InlineInlineDeleteValue,
  inlineRowTombstoneKey,
  InlineSchemaValue,
  OptionScopeValue,
} from "@moraine/codec";
import {
  DataStoreSet,
  dropMemoryDataStore,
  dropMemoryStore,
  openDataStore,
  openStore,
  type ReadView,
  rowKey,
  rowValue,
} from "@moraine/store";
import { describe, expect, it } from "vitest";
import { MetadataDatabase } from "../../test/support/metadata-database.js";
import type { PlainColumns, PlainValue } from "../../test/support/row-batches.js";
import { Catalog } from "../catalog.js";
import { parseSchema } from "../inline/arrow-schema.js";
import type { MetadataTable } from "../rows/metadata-tables.js";
import { decodeChunkColumns, inlineColumnTypes } from "../rows/inline-columns.js";
import { type GoldenItem, type GoldenOperation, readGoldenStore } from "./golden-data.js";
import { catalogHandlers, runOperations } from "./golden-driver.js";
import { fromHex, toHex } from "./records.js";

const timeMicros = 1_700_000_000_000_000n;
const uuid = "00000000-0000-4000-8000-000000000001";

/**
 * The reference's scripts of DuckLake rows, as commits of the transactions that a DuckDB would have made: after each one the store
 * must hold the same records, translated to format 9 as golden/README.md says. Other than there, dropping a table ends its
 * indexes, too.
 */
describe("rows of DuckLake leave the records of the reference", () => {
  const scripts = readGoldenStore();
  it.each(["ducklake_rows", "ducklake_rows_other_kinds"])("%s", async (name) => {
    const items = scripts.get(name) ?? [];
    expect(items.length).toBeGreaterThan(3);
    const store = `golden-rows-${name}-${process.pid}`;
    const dataPath = `memory://${store}-data`;
    const lake = await openStore(`memory://${store}`);
    const catalog = await Catalog.open({
      store: lake,
      dataPath,
      openDataFiles: (path) => new DataStoreSet(path),
      nowMicros: () => timeMicros,
      newUuid: () => uuid,
    });
    const data = await openDataStore(dataPath);
    const database = new MetadataDatabase();
    const expected = new Map<string, Uint8Array>();
    let compared = 0;
    for (const item of items) {
      const { verb } = item.step;
      const step = item.step as unknown as {
        readonly path: string;
        readonly bytes: string;
        readonly rows: readonly RowOperation[];
      };
      if (verb === "put_data_file") await data.put(step.path, fromHex(step.bytes));
      else if (verb === "commit") await catalog.commit((tx) => void runOperations(tx, item.step.ops ?? [], indexed));
      // A begin that is changed comes as it is at the end of the transaction: nothing tells this one from a file of the past.
      else if (verb === "staged_commit" && !isError(item)) await commit(catalog, database, step.rows);
      if (isError(item)) continue;
      apply(expected, item);
      expect(readable(await recordsOf(lake)), JSON.stringify(item.step)).toEqual(readable(expected));
      compared += 1;
    }
    expect(compared).toBeGreaterThan(3);
    await catalog.close();
    await data.close();
    dropMemoryStore(`memory://${store}`);
    dropMemoryDataStore(`${store}-data`);
  });
});

/** The script gives the entries of its index, which are worked out here. */
const indexed: typeof catalogHandlers = {
  ...catalogHandlers,
  create_index: (tx, op) =>
    tx.createIndex({
      table: op.table(),
      name: op.text("name"),
      columns: op.list("columns").map((id) => BigInt(Number(id)) as never),
      unique: op.flag("unique"),
      backfill: "scoped-read",
    }),
};

type RowOperation = readonly [op: string, table: string, ...cells: unknown[]] | GoldenOperation;

function isError({ result }: GoldenItem): boolean {
  return typeof result === "object" && result !== null && "error" in result;
}

async function commit(catalog: Catalog, database: MetadataDatabase, rows: readonly RowOperation[]): Promise<void> {
  for (const row of rows) {
    if (Array.isArray(row)) metadataRow(database, row as readonly [string, string, ...unknown[]]);
    else inlineOperation(database, row as GoldenOperation);
  }
  await catalog.commitRows(database.take(), { base: catalog.revision });
}

/** The ids by which the script names a row. */
const idColumns: Readonly<Record<string, readonly string[]>> = {
  snapshot: ["snapshot_id"],
  snapshot_changes: ["snapshot_id"],
  table: ["table_id"],
  column: ["table_id", "column_id"],
  data_file: ["table_id", "data_file_id"],
  delete_file: ["table_id", "delete_file_id"],
  files_scheduled_for_deletion: ["data_file_id"],
  metadata: ["key", "scope", "scope_id"],
};

function metadataRow(database: MetadataDatabase, [op, kind, ...cells]: readonly [string, string, ...unknown[]]): void {
  const table: MetadataTable = `ducklake_${kind}` as MetadataTable;
  const values = cells.map(valueOf);
  if (op === "insert") {
    // Statistics of tables are there once: DuckLake updates them.
    if (kind === "table_stats" && database.delete(table, (row) => row["table_id"] === values[0]).length > 0) {
      database.insert(table, values);
      return;
    }
    database.insert(table, values);
    return;
  }
  const names = idColumns[kind] ?? [];
  const end = values[names.length];
  const isMeant = (row: Readonly<Record<string, PlainValue>>): boolean =>
    names.every((name, at) => row[name] === values[at]);
  if (op === "delete") {
    const gone = database.delete(table, (row) => isMeant(row) && (end === undefined || row["end_snapshot"] === end));
    expect(gone.length).toBe(1);
    return;
  }
  const patch = op === "set_end" ? { end_snapshot: end } : { begin_snapshot: end };
  expect(database.update(table, (row) => isMeant(row) && row["end_snapshot"] === null, patch)).toBe(1);
}

function valueOf(cell: unknown): PlainValue {
  if (typeof cell === "number") return BigInt(cell);
  if (typeof cell === "object" && cell !== null && "i64" in cell) return BigInt(Number(cell.i64));
  return cell;
}

const arrowTypes: Readonly<Record<string, string>> = { Int64: "BIGINT", Utf8: "VARCHAR" };

function inlineOperation(database: MetadataDatabase, op: GoldenOperation): void {
  const id = (name: string): bigint => BigInt(Number(op[name]));
  const table = id("table");
  const rowsOf = (version: bigint): string => `ducklake_inlined_data_${table}_${version}`;
  const columns = ((op["arrow"] ?? []) as [string, string][]).map(([name, type]) => ({
    name,
    type: arrowTypes[type] ?? "",
  }));
  switch (op.op) {
    case "inline_schema":
      database.createInlined(table, id("schema_version"), columns satisfies PlainColumns);
      return;
    case "inline_insert": {
      const rows = op["rows"] as unknown[][];
      database.insert(
        rowsOf(id("schema_version")),
        ...rows.map((row, at) => [id("row_id_start") + BigInt(at), id("begin_snapshot"), null, ...row.map(valueOf)]),
      );
      return;
    }
    case "inline_delete": {
      const ended = database
        .names()
        .filter((name) => name.startsWith(`ducklake_inlined_data_${table}_`))
        .map((name) =>
          database.update(name, (row) => row["row_id"] === id("row_id") && row["end_snapshot"] === null, {
            end_snapshot: id("end_snapshot"),
          }),
        );
      expect(ended.reduce((a, b) => a + b, 0)).toBe(1);
      return;
    }
    case "file_delete":
      database.insert(database.createInlinedDeletes(table), [id("file"), id("position"), id("begin_snapshot")]);
      return;
    case "file_delete_remove":
      database.delete(
        `ducklake_inlined_delete_${table}`,
        (row) => row["file_id"] === id("file") && row["row_id"] === id("position"),
      );
      return;
    case "flush_delete":
      database.delete(rowsOf(id("schema_version")), (row) => (row["begin_snapshot"] as bigint) <= id("flush_snapshot"));
      return;
    case "inline_schema_drop":
      database.dropInlined(rowsOf(id("schema_version")));
      return;
    case "inline_drop":
      for (const name of database.names()) {
        if (name.startsWith(`ducklake_inlined_data_${table}_`) || name === `ducklake_inlined_delete_${table}`)
          database.dropInlined(name);
      }
      return;
    default:
      throw new Error(`no way to carry out ${op.op}`);
  }
}

/** Applies a batch of the reference, in format 9. */
function apply(records: Map<string, Uint8Array>, item: GoldenItem): void {
  for (const key of item.deletes ?? []) records.delete(translated(key, records));
  for (const { key, value } of item.puts ?? []) {
    if (key === "0202") {
      const format = { formatVersion: 9n, writerVersion: "moraine-ts 0.1.0" };
      records.set(key, encodeValue(FormatValue, format));
    } else if (key.startsWith("060303")) {
      const { endSnapshot } = decodeValue(InlineInlineDeleteValue, fromHex(value));
      const [tableId, rowId] = idsOf(key.slice(6));
      records.set(toHex(inlineRowTombstoneKey(tableId!, rowId!, endSnapshot)), fromHex(value));
    } else records.set(key, fromHex(value));
  }
  endIndexes(records, item);
}

/** Dropping a table ends its indexes, which the reference forgets. */
function endIndexes(records: Map<string, Uint8Array>, item: GoldenItem): void {
  const dropped = (item.deletes ?? []).filter((key) => key.startsWith("040203"));
  for (const definition of records.keys()) {
    const key = decodeKey(fromHex(definition));
    if (key.subspace !== "current" || key.entity.kind !== "index") continue;
    if (!dropped.some((table) => definition.startsWith(`040211${table.slice(6)}`))) continue;
    const log = [...records.keys()]
      .filter((other) => other.startsWith("09"))
      .sort()
      .at(-1)!;
    const [endSnapshot] = idsOf(log.slice(2)) as [bigint];
    const value = decodeValue(IndexDefinitionValue, records.get(definition)!);
    records.delete(definition);
    const past = toHex(historyKey("index", key.entity.ids, endSnapshot));
    records.set(past, encodeValue(IndexDefinitionValue, { ...value, endSnapshot }));
    const keys = [...decodeValue(ChangelogValue, records.get(log)!).keys, fromHex(definition)];
    records.set(log, encodeValue(ChangelogValue, { keys: keys.sort((a, b) => Buffer.compare(a, b)) }));
  }
}

/** A tombstone has its end in its key. No script has two for one row. */
function translated(key: string, records: ReadonlyMap<string, Uint8Array>): string {
  if (!key.startsWith("060303")) return key;
  return [...records.keys()].find((candidate) => candidate.startsWith(`0609${key.slice(6)}`)) ?? key;
}

function idsOf(hex: string): bigint[] {
  return Array.from({ length: hex.length / 16 }, (_, at) => BigInt(`0x${hex.slice(16 * at, 16 * at + 16)}`));
}

async function recordsOf(view: ReadView): Promise<Map<string, Uint8Array>> {
  const records = new Map<string, Uint8Array>();
  for await (const block of view.scan({})) {
    for (let i = 0; i < block.count; i++) records.set(toHex(rowKey(block, i)), rowValue(block, i).slice());
  }
  return records;
}

/** Records in a form in which both sides can be compared: Arrow bytes by what they say, and what is known to differ left out. */
function readable(records: ReadonlyMap<string, Uint8Array>): Record<string, unknown> {
  const schemas = new Map<string, ReturnType<typeof parseSchema>>();
  const out: Record<string, unknown> = {};
  for (const hex of [...records.keys()].sort()) {
    const value = records.get(hex)!;
    const key = decodeKey(fromHex(hex));
    out[hex] = toHex(value);
    if (key.subspace === "inline" && key.kind === "schema") {
      const record = decodeValue(InlineSchemaValue, value);
      const schema = record.sameAsVersion === undefined ? parseSchema(record.arrowSchema) : undefined;
      if (schema !== undefined) schemas.set(`${key.tableId}/${key.schemaVersion}`, schema);
      out[hex] = schema === undefined ? record : inlineColumnTypes(schema);
    } else if (key.subspace === "inline" && key.kind === "chunk") {
      const { body, ...rest } = decodeValue(InlineChunkValue, value);
      const schema = schemas.get(`${key.tableId}/${key.schemaVersion}`)!;
      out[hex] = { ...rest, columns: decodeChunkColumns(schema, body, Number(rest.rowCount)) };
    } else if (key.subspace === "current" && key.entity.kind === "option") {
      const { options } = decodeValue(OptionScopeValue, value);
      out[hex] = [...options].filter(([name]) => name !== "data_path");
    }
  }
  return out;
}
