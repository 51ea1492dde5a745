import { mkdir } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { sampleTypes } from "../test/support/types.js";
import { fromDuckDB, fromVector, sameKind, scanRows, type Comparable } from "../test/support/values.js";
import { type ColumnRequest, defaultVector, type FileSource, type NameMapEntry, scanFile } from "./index.js";

let lake: TestLake;
beforeAll(async () => {
  lake = await TestLake.create();
});
afterAll(async () => {
  await lake.close();
});

let files = 0;
const write = async (query: string, options = ""): Promise<FileSource> =>
  await lake.write(`${files++}.parquet`, query, options);

async function firstRow(source: FileSource, ...columns: ColumnRequest[]): Promise<Comparable[] | undefined> {
  return (await scanRows(source, { columns, rowIds: "none" }))[0]?.values;
}

const unknown = { historicalNames: undefined };

describe("field ids", () => {
  test("a renamed column is found, and one that took over its name is not taken for it", async () => {
    // Written as (a = 1, b = 2). Then a was dropped, b renamed to a, and a new b = 3 added.
    const source = await write("SELECT 10 AS a, 20 AS b", "FIELD_IDS {a: 1, b: 2}");
    const [renamed, added] = [request("a", "INTEGER", 2n, unknown), request("b", "INTEGER", 3n, unknown)];
    expect(await firstRow(source, renamed, added)).toEqual([20n, null]);
  });

  test("a column added later has its initial default, one dropped and added again the default of the new one", async () => {
    const source = await write("SELECT 10 AS a", "FIELD_IDS {a: 1}");
    expect(
      await firstRow(
        source,
        request("a", "INTEGER", 5n, { initialDefault: "42" }),
        request("b", "VARCHAR", 6n, { initialDefault: "it's" }),
        request("c", "DATE", 7n),
      ),
    ).toEqual([42n, "it's", null]);
  });

  test("nested neighbours shift nothing", async () => {
    const source = await write(
      "SELECT {x: 1, y: [2, 3]} AS s, 10 AS a, MAP {'k': 5} AS m, [1, 2] AS l, 'text' AS b",
      "FIELD_IDS {s: {__duckdb_field_id: 1, x: 2, y: {__duckdb_field_id: 3, element: 4}}, a: 5, m: {__duckdb_field_id: 6, key: 7, value: 8}, l: {__duckdb_field_id: 9, element: 10}, b: 11}",
    );
    expect(await firstRow(source, request("b", "VARCHAR", 11n), request("a", "INTEGER", 5n))).toEqual(["text", 10n]);
    // A field inside a nested column is never taken for a top-level column.
    expect(await firstRow(source, request("x", "INTEGER", 2n, unknown))).toEqual([null]);
  });

  test("a column that is nested in the file is refused", async () => {
    const source = await write("SELECT {x: 1} AS s", "FIELD_IDS {s: {__duckdb_field_id: 1, x: 2}}");
    await expect(firstRow(source, request("s", "INTEGER", 1n))).rejects.toMatchObject({ code: "data_file" });
  });

  test("a column type that cannot be indexed is refused", async () => {
    const source = await write("SELECT 1 AS a", "FIELD_IDS {a: 1}");
    await expect(firstRow(source, request("a", "HUGEINT", 1n))).rejects.toMatchObject({ code: "constraint" });
  });
});

describe("historical names, for files with neither field ids nor mapping", () => {
  test("the name that the column had when the file was written finds it", async () => {
    const source = await write("SELECT 10 AS before, 20 AS now");
    expect(await firstRow(source, request("now", "INTEGER", 1n, { historicalNames: ["before"] }))).toEqual([10n]);
  });

  test("names differ in case only", async () => {
    const source = await write('SELECT 10 AS "Value"');
    expect(await firstRow(source, request("value", "INTEGER", 1n))).toEqual([10n]);
  });

  test("a column that did not exist then has its initial default", async () => {
    const source = await write("SELECT 10 AS a");
    const column = request("a", "INTEGER", 2n, { historicalNames: [], initialDefault: "7" });
    expect(await firstRow(source, column)).toEqual([7n]);
  });

  test("an expired history is refused rather than guessed", async () => {
    const source = await write("SELECT 10 AS a");
    await expect(firstRow(source, request("a", "INTEGER", 1n, unknown))).rejects.toMatchObject({ code: "data_file" });
  });

  test("they find no column that has a field id, and find one that lacks it beside others", async () => {
    const source = await write("SELECT 10 AS a, 20 AS b", "FIELD_IDS {a: 1}");
    const taken = request("a", "INTEGER", 3n);
    expect(await firstRow(source, request("b", "INTEGER", 2n), request("x", "INTEGER", 1n), taken)).toEqual([
      20n,
      10n,
      null,
    ]);
  });

  test("an embedded row-id column does not count as field ids of the table", async () => {
    const source = await write("SELECT 10 AS a, 3::BIGINT AS r", "FIELD_IDS {r: 2147483540}");
    const [row] = await scanRows(source, { columns: [request("a", "INTEGER", 1n)], rowIds: "lineage" });
    expect(row).toEqual({ position: 0, rowId: 3n, values: [10n] });
  });
});

describe("recorded name mappings", () => {
  const entry = (sourceName: string, targetFieldId: bigint, isPartition = false): NameMapEntry => ({
    sourceName,
    targetFieldId,
    isPartition,
    parentColumn: undefined,
  });

  test("columns are found by their mapped names, and the others have their defaults", async () => {
    const source = await write("SELECT 10 AS x, 20 AS y");
    const nameMap = { entries: [entry("y", 1n), entry("x", 2n)] };
    const third = request("x", "INTEGER", 3n, { initialDefault: "30" });
    const columns = [request("a", "INTEGER", 1n), request("b", "INTEGER", 2n), third];
    expect(await firstRow({ ...source, nameMap }, ...columns)).toEqual([20n, 10n, 30n]);
  });

  test("a mapping decides alone: field ids of another lake mean nothing, as in DuckLake", async () => {
    const source = await write("SELECT 10 AS x, 20 AS y", "FIELD_IDS {x: 2, y: 1}");
    const nameMap = { entries: [entry("x", 1n), entry("y", 2n)] };
    const columns = [request("a", "INTEGER", 1n), request("b", "INTEGER", 2n)];
    expect(await firstRow({ ...source, nameMap }, ...columns)).toEqual([10n, 20n]);
  });

  test("an entry for a nested field is not one for the column", async () => {
    const source = await write("SELECT 10 AS x, {x: 1} AS s");
    const nameMap = { entries: [{ ...entry("x", 9n), parentColumn: 1n }] };
    expect(await firstRow({ ...source, nameMap }, request("x", "INTEGER", 9n))).toEqual([null]);
  });

  test("a name that the file lacks has the default", async () => {
    const source = await write("SELECT 10 AS x");
    const nameMap = { entries: [entry("gone", 1n)] };
    expect(await firstRow({ ...source, nameMap }, request("a", "INTEGER", 1n, { initialDefault: "3" }))).toEqual([3n]);
  });

  test("directories give partition columns what DuckDB gives them", async () => {
    const cases: [column: string, type: string, folder: string][] = [
      ["p", "VARCHAR", "p=a%20b%2Fc%25"],
      ["p", "VARCHAR", "p=%C3%A4 +"],
      ["p", "VARCHAR", "p="],
      ["p", "VARCHAR", "p=100%"],
      ["p", "INTEGER", "p=42"],
      ["p", "INTEGER", "p=-7"],
      ["p", "DATE", "p=2024-02-29"],
      ["p", "TIMESTAMP", "p=2024-02-29 12%3A34%3A56.789"],
      ["p", "DOUBLE", "p=1.5e3"],
      ["p", "BOOLEAN", "p=true"],
      ["p", "VARCHAR", "p=__HIVE_DEFAULT_PARTITION__"],
      ["p", "INTEGER", "p=__HIVE_DEFAULT_PARTITION__"],
      ["p", "VARCHAR", "p=NULL"],
      ["p", "VARCHAR", "p=null"],
      ["p", "INTEGER", "p=NULL"],
      ["p", "INTEGER", "p="],
      ["p", "VARCHAR", "p=%4eULL"],
      ["p", "VARCHAR", "p=a+b"],
      ["p", "VARCHAR", "p=%zz%4"],
      ["p", "UUID", "p=00112233-4455-6677-8899-aabbccddeeff"],
      ["p", "DECIMAL(9,2)", "p=12.34"],
      ["p", "VARCHAR", "x=1/p=deep/y=2"],
    ];
    for (const [i, [column, type, folder]] of cases.entries()) {
      const parent = `hive${i}/${folder}`;
      await mkdir(lake.path(parent), { recursive: true });
      const source = await lake.write(`${parent}/f.parquet`, "SELECT 10 AS v");
      const nameMap = { entries: [entry("v", 1n), entry(column, 2n, true)] };
      const found = await firstRow({ ...source, nameMap }, request("v", "INTEGER", 1n), request(column, type, 2n));
      const [row] = await lake.rows(
        `SELECT v, ${column} FROM read_parquet('${lake.path(`${parent}/f.parquet`)}', hive_partitioning = true, hive_types = {'${column}': '${type}'})`,
      );
      const expected = row?.map((cell, c) =>
        sameKind(defaultVector(c === 0 ? "INTEGER" : type, undefined, 0), fromDuckDB(cell)),
      );
      expect([folder, found]).toEqual([folder, expected]);
    }
  });

  test("the directory wins over a column of the same name, and must exist", async () => {
    await mkdir(lake.path("both/p=5"), { recursive: true });
    const inside = await lake.write("both/p=5/f.parquet", "SELECT 10 AS p");
    const nameMap = { entries: [entry("p", 1n, true)] };
    expect(await firstRow({ ...inside, nameMap }, request("p", "INTEGER", 1n))).toEqual([5n]);
    const outside = await write("SELECT 10 AS p");
    await expect(firstRow({ ...outside, nameMap }, request("p", "INTEGER", 1n))).rejects.toMatchObject({
      code: "data_file",
    });
  });

  test("a directory value that is none of the type is refused", async () => {
    await mkdir(lake.path("bad/p=abc"), { recursive: true });
    const source = await lake.write("bad/p=abc/f.parquet", "SELECT 10 AS v");
    const nameMap = { entries: [entry("p", 1n, true)] };
    await expect(firstRow({ ...source, nameMap }, request("p", "INTEGER", 1n))).rejects.toMatchObject({
      code: "data_file",
    });
  });
});

describe("initial defaults", () => {
  test.each(sampleTypes)("$columnType, as DuckDB prints it", async (type) => {
    const source = await write("SELECT 1 AS other FROM range(3)", "FIELD_IDS {other: 99}");
    const values = type.edges.map((edge) => `(${edge})::${type.columnType}`);
    for (const [value, text] of await lake.rows(
      values.map((sql) => `SELECT ${sql}, (${sql})::VARCHAR`).join(" UNION ALL "),
    )) {
      const column = request("c", type.columnType, 1n, { initialDefault: String(text) });
      for await (const { columns, length } of scanFile(source, { columns: [column], rowIds: "none" })) {
        const [vector] = columns;
        if (vector === undefined) throw new Error("a column is missing");
        const expected = sameKind(vector, fromDuckDB(value));
        expect(Array.from({ length }, (_, i) => fromVector(vector, i))).toEqual([expected, expected, expected]);
        expect(vector).toEqual(defaultVector(type.columnType, String(text), 3));
      }
    }
  });

  test("text that is no value of the type is refused, in files and inline", async () => {
    const source = await write("SELECT 1 AS other", "FIELD_IDS {other: 99}");
    const column = request("c", "INTEGER", 1n, { initialDefault: "nextval('s')" });
    await expect(firstRow(source, column)).rejects.toMatchObject({ code: "data_file" });
    expect(() => defaultVector("INTEGER", "nextval('s')", 1)).toThrow(expect.objectContaining({ code: "constraint" }));
  });
});
