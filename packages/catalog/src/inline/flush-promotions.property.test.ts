import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { type ColumnId, MoraineError, type SchemaId } from "@moraine/codec";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Catalog } from "../catalog.js";
import { type FileCatalog, openFileCatalog } from "../testing/file-catalog.js";
import { isPromotion } from "../verbs/type-promotion.js";

const main = 0n as SchemaId;
const column = 1n as ColumnId;
const infinite = 2n ** 63n - 1n;

function between(first: bigint, last: bigint, ...others: readonly bigint[]): fc.Arbitrary<bigint> {
  return fc.oneof(fc.bigInt({ min: first, max: last }), fc.constantFrom(first, last, ...others));
}

function bits(count: bigint, isSigned: boolean): fc.Arbitrary<bigint> {
  return isSigned ? between(-(2n ** (count - 1n)), 2n ** (count - 1n) - 1n, 0n) : between(0n, 2n ** count - 1n);
}

function decimal(precision: number, scale: number): fc.Arbitrary<string> {
  const limit = 10n ** BigInt(precision) - 1n;
  return fc.oneof(between(-limit, limit, 0n), between(-999n, 999n)).map((unscaled) => {
    const shown = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
    const point = shown.length - scale;
    return `${unscaled < 0n ? "-" : ""}${shown.slice(0, point)}${scale === 0 ? "" : `.${shown.slice(point)}`}`;
  });
}

const types: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  BOOLEAN: fc.boolean(),
  TINYINT: bits(8n, true),
  SMALLINT: bits(16n, true),
  INTEGER: bits(32n, true),
  BIGINT: bits(64n, true),
  UTINYINT: bits(8n, false),
  USMALLINT: bits(16n, false),
  UINTEGER: bits(32n, false),
  UBIGINT: bits(64n, false),
  FLOAT: fc.float(),
  DOUBLE: fc.double(),
  VARCHAR: fc.string({ unit: "grapheme" }),
  JSON: fc.json(),
  BLOB: fc.uint8Array({ maxLength: 9 }),
  UUID: fc.uuid(),
  DATE: between(-106_751_991n, 106_751_991n, 2n ** 31n - 1n, 1n - 2n ** 31n, 2_932_896n, 0n, 2n ** 31n - 2n),
  TIME: between(0n, 86_400_000_000n),
  TIME_NS: between(0n, 86_400_000_000_000n),
  TIMESTAMP_S: between(-9_223_372_022_400n, 9_223_372_036_854n, infinite, -infinite, -1n, 9_223_372_036n),
  TIMESTAMP_MS: between(-9_223_372_022_400_000n, 9_223_372_036_854_775n, infinite, -infinite, -1n),
  TIMESTAMP: between(-9_223_372_022_400_000_000n, infinite - 1n, infinite, -infinite, -1n, 9_223_372_036_854_775n),
  TIMESTAMP_NS: between(-9_223_286_400_000_000_000n, infinite - 1n, infinite, -infinite),
  TIMESTAMPTZ: between(-9_223_372_022_400_000_000n, infinite - 1n, infinite, -infinite),
  "DECIMAL(4,1)": decimal(4, 1),
  "DECIMAL(9,2)": decimal(9, 2),
  "DECIMAL(18,6)": decimal(18, 6),
  "DECIMAL(20,0)": decimal(20, 0),
  "DECIMAL(38,0)": decimal(38, 0),
  "DECIMAL(38,10)": decimal(38, 10),
};

const pairs = Object.keys(types).flatMap((before) =>
  Object.keys(types)
    .filter((after) => after !== before && isPromotion(before, after))
    .map((after) => [before, after] as const),
);

/** What DuckDB casts by the time zone of its session, rounds or, for text that is no JSON, refuses. */
function mayDiffer(before: string, after: string): boolean {
  return after === "TIMESTAMPTZ" || after === "JSON" || before.startsWith("DECIMAL");
}

let lake: FileCatalog;
let folder: string;
let catalog: Catalog;
let connection: DuckDBConnection;
let tables = 0;

beforeAll(async () => {
  lake = await openFileCatalog();
  ({ catalog, folder } = lake);
  connection = await (await DuckDBInstance.create()).connect();
});

afterAll(() => lake.close());

/** Values, or that they are refused. Errors that are not ours pass through. */
async function outcome(read: Promise<readonly { readonly values: readonly unknown[] }[]>): Promise<unknown> {
  try {
    return (await read).map(({ values }) => values[0]);
  } catch (error) {
    if (error instanceof MoraineError && ["constraint", "data_file"].includes(error.code)) return "refused";
    throw error;
  }
}

async function castByDuckDB(path: string, before: string, after: string): Promise<unknown> {
  const cast = `v::${before}::${after}`;
  const shown = after === "FLOAT" || after === "DOUBLE" ? cast : `${cast}::VARCHAR`;
  const read = await connection.runAndReadAll(`SELECT ${shown} FROM '${path}'`).catch(() => undefined);
  return read?.getRows().map(([value]) => value) ?? "refused";
}

describe("values from before a change of type are read alike inline, in a file and by DuckDB", () => {
  it.each(pairs)("%s to %s", async (before, after) => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.option(types[before]!), { minLength: 1, maxLength: 4 }), async (values) => {
        const name = `t${(tables += 1)}`;
        const { value: table } = await catalog.commit((tx) => {
          const id = tx.createTable({ schema: main, name, columns: [{ name: "v", columnType: before }] });
          tx.inlineInsert({ table: id, rows: values.map((v) => ({ v })) });
          return id;
        });
        await catalog.commit((tx) => tx.alterColumn({ table, column, columnType: after }));
        const inline = await outcome(catalog.inlineBackfillEntries({ table, columns: [column] }));
        await catalog.flushInlined({ table });
        const flushed = await outcome(catalog.scopedBackfillEntries({ table, columns: [column] }));
        expect(flushed).toEqual(inline);
        const file = (await catalog.snapshot()).dataFilesOf(table)[0]!;
        const cast = await castByDuckDB(join(folder, "main", name, file.path), before, after);
        if (mayDiffer(before, after) && (inline === "refused" || cast === "refused")) return;
        const isText = after !== "FLOAT" && after !== "DOUBLE";
        const shown =
          Array.isArray(inline) && isText ? inline.map((value) => (value === null ? null : String(value))) : inline;
        expect(shown).toEqual(cast);
      }),
      { numRuns: 5 },
    );
  });
});
