import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { type ColumnId, fromIndexValue, type SchemaId, type TableId } from "@moraine/codec";
import {
  makeData,
  RecordBatch,
  Schema,
  Field,
  Struct,
  Table,
  TimestampMicrosecond,
  TimestampMillisecond,
  TimestampNanosecond,
  TimestampSecond,
} from "apache-arrow";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Catalog } from "../catalog.js";
import { type FileCatalog, openFileCatalog } from "../testing/file-catalog.js";

const main = 0n as SchemaId;
const infinite = 2n ** 63n - 1n;
const infiniteDay = 2n ** 31n - 1n;

/** The first and the last value of each type that DuckDB has beside its infinities, and those. */
const temporal: Readonly<Record<string, { readonly ends: readonly [bigint, bigint]; readonly infinity?: bigint }>> = {
  DATE: { ends: [-infiniteDay + 1n, infiniteDay - 1n], infinity: infiniteDay },
  TIME: { ends: [0n, 86_400_000_000n] },
  TIME_NS: { ends: [0n, 86_400_000_000_000n] },
  TIMESTAMP_S: { ends: [-9_223_372_022_400n, 9_223_372_036_854n], infinity: infinite },
  TIMESTAMP_MS: { ends: [-9_223_372_022_400_000n, 9_223_372_036_854_775n], infinity: infinite },
  TIMESTAMP: { ends: [-9_223_372_022_400_000_000n, infinite - 1n], infinity: infinite },
  TIMESTAMP_NS: { ends: [-9_223_286_400_000_000_000n, infinite - 1n], infinity: infinite },
  TIMESTAMPTZ: { ends: [-9_223_372_022_400_000_000n, infinite - 1n], infinity: infinite },
};

/** SQL for the text of a value. DuckDB rounds that of instants far away, but not the instants: these go by their count. */
function sqlText(columnType: string, value: string): string {
  const typed = `(${value})::${columnType}`;
  if (columnType !== "TIMESTAMPTZ") return `${typed}::VARCHAR`;
  return `CASE WHEN isfinite(${typed}) THEN epoch_us(${typed})::VARCHAR ELSE ${typed}::VARCHAR END`;
}

function textOf(columnType: string, value: bigint | null): string | null {
  if (value === null) return null;
  const isCounted = columnType === "TIMESTAMPTZ" && value !== infinite && value !== -infinite;
  return isCounted ? String(value) : String(fromIndexValue(columnType, value));
}

function valuesOf(columnType: string): fc.Arbitrary<bigint> {
  const { ends, infinity } = temporal[columnType]!;
  const infinities = infinity === undefined ? [] : [infinity, -infinity];
  return fc.oneof(fc.bigInt({ min: ends[0], max: ends[1] }), fc.constantFrom(...ends, ...infinities));
}

let lake: FileCatalog;
let folder: string;
let catalog: Catalog;

beforeEach(async () => {
  lake = await openFileCatalog();
  ({ catalog, folder } = lake);
});

afterEach(() => lake.close());

async function createTable(name: string, columnType: string): Promise<TableId> {
  const { value } = await catalog.commit((tx) =>
    tx.createTable({
      schema: main,
      name,
      columns: [
        { name: "v", columnType },
        { name: "s", columnType: "STRUCT", children: [{ name: "f", columnType }] },
        { name: "l", columnType: "LIST", children: [{ name: "element", columnType }] },
        {
          name: "m",
          columnType: "MAP",
          children: [
            { name: "key", columnType },
            { name: "value", columnType },
          ],
        },
      ],
    }),
  );
  return value;
}

describe("a flushed file has the values that the inline rows had", () => {
  it.each(Object.keys(temporal))("%s", async (columnType) => {
    const connection = await (await DuckDBInstance.create()).connect();
    await connection.run("SET TimeZone = 'UTC'");
    let tables = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(valuesOf(columnType)), { minLength: 1, maxLength: 12 }), async (values) => {
        const name = `t${(tables += 1)}`;
        const table = await createTable(name, columnType);
        const rows = values.map((v) => ({
          v,
          s: v === null ? null : { f: v },
          l: v === null ? null : [v, null, v],
          m: v === null ? null : new Map([[v, v]]),
        }));
        const { value: index } = await catalog.commit((tx) => {
          tx.inlineInsert({ table, rows });
          return tx.createIndex({ table, name, columns: ["v"], unique: false });
        });
        const shown = values.map((value) => fromIndexValue(columnType, value));
        await catalog.flushInlined({ table });
        const file = (await catalog.snapshot()).dataFilesOf(table)[0]!;
        const places = ["v", "s.f", "l[1]", "l[2]", "l[3]", "map_keys(m)[1]", "map_values(m)[1]"];
        const read = await connection.runAndReadAll(
          `SELECT ${places.map((place) => sqlText(columnType, place)).join(", ")}
           FROM '${join(folder, "main", name, file.path)}'`,
        );
        const texts = values.map((value) => textOf(columnType, value));
        expect(read.getRows()).toEqual(texts.map((text) => places.map((place) => (place === "l[2]" ? null : text))));
        const entries = await catalog.scopedBackfillEntries({ table, columns: [1n as ColumnId] });
        expect(entries.map((entry) => entry.values[0])).toEqual(shown);
        // Where the file had other values, entries would stay behind.
        await catalog.commit((tx) => values.forEach((_, at) => tx.inlineDelete({ table, rowId: BigInt(at) })));
        expect(await catalog.indexRange({ index })).toEqual([]);
      }),
      { numRuns: 12 },
    );
  });
});

const arrowTypes = {
  TIMESTAMP_S: new TimestampSecond(null),
  TIMESTAMP_MS: new TimestampMillisecond(null),
  TIMESTAMP: new TimestampMicrosecond(null),
  TIMESTAMP_NS: new TimestampNanosecond(null),
  TIMESTAMPTZ: new TimestampMicrosecond("UTC"),
} as const;

describe("timestamps that no file of DuckDB's holds are refused before they are stored", () => {
  it.each(Object.entries(arrowTypes))("%s", async (columnType, type) => {
    const { value: table } = await catalog.commit((tx) =>
      tx.createTable({ schema: main, name: "t", columns: [{ name: "v", columnType }] }),
    );
    const [first, last] = temporal[columnType]!.ends;
    const outside = [first - 1n, -infinite + 1n, -infinite - 1n, infinite - 1n].filter(
      (count) => count < first || (columnType.endsWith("S") && columnType !== "TIMESTAMP_NS" && count > last),
    );
    const arrow = (count: bigint): Table => {
      const fields = [new Field("v", type, true)];
      const child = makeData({ type, length: 1, nullCount: 0, data: BigInt64Array.of(count) });
      const data = makeData({ type: new Struct(fields), length: 1, nullCount: 0, children: [child] });
      return new Table([new RecordBatch(new Schema(fields), data)]);
    };
    for (const count of outside) {
      for (const rows of [[{ v: count }], arrow(count)])
        await expect(catalog.commit((tx) => tx.inlineInsert({ table, rows }))).rejects.toMatchObject({
          code: "invalid_argument",
        });
    }
    for (const count of [first, infinite, -infinite])
      await catalog.commit((tx) => tx.inlineInsert({ table, rows: arrow(count) }));
    expect(await catalog.recentRows({ table })).toHaveLength(3);
  });
});
