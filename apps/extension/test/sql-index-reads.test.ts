// What indexes give in SQL is what a scan gives: for every type and order, inlined and in files, by every read.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestLake, type TestDuckDb } from "./support/duckdb.js";
import { expectIndex, rowIds } from "./support/expect-index.js";

let db: TestDuckDb;

beforeAll(async () => {
  if (extensionAvailable) db = await openTestLake();
});
afterAll(async () => {
  if (extensionAvailable) await db.close();
});

/** Types, and values of them in no order. */
const types: readonly (readonly [type: string, ...values: string[]])[] = [
  ["BOOLEAN", "true", "false"],
  ["TINYINT", "-128", "0", "127"],
  ["UTINYINT", "255", "0"],
  ["SMALLINT", "7", "-32768", "32767"],
  ["USMALLINT", "65535", "1"],
  ["INTEGER", "2147483647", "-1", "-2147483648", "0"],
  ["UINTEGER", "4294967295", "2147483648", "0"],
  ["BIGINT", "9223372036854775807", "-9223372036854775808", "-1", "5"],
  ["UBIGINT", "18446744073709551615", "9223372036854775808", "0"],
  ["FLOAT", "'NaN'", "-1.5", "'-Infinity'", "'Infinity'", "0"],
  ["DOUBLE", "'NaN'", "-1e-323", "1e-323", "'-Infinity'", "0", "-5e300"],
  ["DECIMAL(4,1)", "-0.1", "999.9", "0"],
  ["DECIMAL(9,4)", "-12345.6789", "99999.9999", "0.0001"],
  ["DECIMAL(18,3)", "-123456789012345.678", "1"],
  ["DECIMAL(38,10)", "'-1234567890123456789012345678.0123456789'", "0.0000000001", "2"],
  ["VARCHAR", "''", "'a'", "'ab'", "'b'", "'ä'", "'日本'", "repeat('long ', 100)"],
  ["JSON", "'[]'", "'{\"a\": 1}'", "'null'"],
  ["BLOB", "''", "'\\x00'", "'\\x00\\xFF'", "'\\xFF'"],
  [
    "UUID",
    "'00000000-0000-0000-0000-000000000001'",
    "'ffffffff-ffff-ffff-ffff-ffffffffffff'",
    "'7fffffff-ffff-ffff-ffff-ffffffffffff'",
  ],
  ["DATE", "'1969-12-31'", "'2020-02-29'", "'0001-01-01'", "'5000-01-01'"],
  ["TIME", "'00:00:00'", "'23:59:59.999999'", "'12:00:00.000001'"],
  ["TIMESTAMP", "'1969-12-31 23:59:59.999999'", "'2020-01-01 00:00:00.000001'", "'1900-01-01'"],
  ["TIMESTAMP_S", "'1969-12-31 23:59:59'", "'2020-01-01 00:00:01'"],
  ["TIMESTAMP_MS", "'1969-12-31 23:59:59.999'", "'2020-01-01 00:00:00.001'"],
  ["TIMESTAMP_NS", "'1969-12-31 23:59:59.999999999'", "'2020-01-01 00:00:00.000000001'"],
  ["TIMESTAMPTZ", "'1969-12-31 23:59:59.999999+00'", "'2020-01-01 00:00:00+02'"],
];
const mostValues = Math.max(...types.map((all) => all.length - 1));
const literal = (type: string, value: string | undefined): string => `CAST(${value ?? "NULL"} AS ${type})`;
const orders = [
  ["asc", "last"],
  ["desc", "first"],
] as const;

describe.skipIf(!extensionAvailable)("an index on a column of the type", () => {
  // A column for each type, with the values in the first rows, and NULLs below.
  beforeAll(async () => {
    await db.run(`CREATE TABLE every(${types.map(([type], at) => `c${at} ${type}`).join(", ")})`);
    const index = (at: number, order: number): string => {
      const [direction, nulls] = orders[order] as (typeof orders)[number];
      return `CREATE INDEX c${at}_${order} ON every(c${at}) WITH (directions = '[${direction}]', nulls = '[${nulls}]')`;
    };
    const rows = Array.from({ length: mostValues + 1 }, (_, row) =>
      types.map(([type, ...values]) => literal(type, values[row])).join(", "),
    );
    const insert = `INSERT INTO every VALUES (${rows.join("), (")})`;
    await db.run(types.map((_, at) => index(at, 0)).join("; "));
    await db.run(insert);
    await db.run(`CALL lake.set_option('data_inlining_row_limit', 0); ${insert}`);
    await db.run("CALL lake.set_option('data_inlining_row_limit', 10)");
    // What the commits kept, and what is built of it.
    await db.run(types.map((_, at) => index(at, 1)).join("; "));
  });

  it.each(types.map(([type, ...values], at) => ({ type, values, column: `c${at}` })))(
    "$type",
    async ({ type, values, column }) => {
      for (const [order, [direction, nulls]] of orders.entries()) {
        const index = `${column}_${order}`;
        await expectIndex(db, index, "every", [column]);
        const target = `'lake', 'main', 'every', '${index}'`;
        const inOrder = `SELECT row_id FROM moraine_index_range(${target}, NULL, NULL, true, true`;
        const scan = `SELECT rowid FROM every WHERE ${column} IS NOT NULL ORDER BY ${column} ${direction} NULLS ${nulls}, rowid`;
        const expected = await db.column(scan);
        expect(await db.column(`${inOrder})`)).toEqual(expected);
        expect(await db.column(`${inOrder}, reverse := true)`)).toEqual([...expected].reverse());
        // Every comparison with every value, in one query of either kind.
        const asked: string[] = [];
        const scanned: string[] = [];
        for (const [at, value] of values.map((text) => literal(type, text)).entries()) {
          for (const [predicate, call] of [
            ["<", `range(${target}, NULL, ${value}, true, false)`],
            ["<=", `range(${target}, NULL, ${value}, true, true)`],
            [">", `range(${target}, ${value}, NULL, false, true)`],
            [">=", `range(${target}, ${value}, NULL, true, true)`],
            ["=", `lookup(${target}, ${value})`],
          ]) {
            const name = `'${predicate} ${at}'`;
            asked.push(`SELECT ${name}, row_id FROM moraine_index_${call}`);
            scanned.push(`SELECT ${name}, rowid FROM every WHERE ${column} ${predicate} ${value}`);
          }
        }
        const all = async (parts: string[]): Promise<string[][]> =>
          await db.rows(`${parts.join(" UNION ALL ")} ORDER BY ALL`);
        expect(await all(asked)).toEqual(await all(scanned));
      }
    },
  );

  it.each([
    ["HUGEINT", "double"],
    ["UHUGEINT", "double"],
    ["INTERVAL", "one count"],
    ["INTEGER[]", "nested"],
    ["STRUCT(x INTEGER)", "nested"],
    ["MAP(INTEGER, INTEGER)", "nested"],
    ["GEOMETRY", "no order"],
    ["VARIANT", ""],
  ])("%s is refused", async (type, reason) => {
    await db.run(`CREATE OR REPLACE TABLE refused(v ${type})`);
    const said = await db.failure("CREATE INDEX i ON refused(v)");
    expect(said).toMatch(/column type .* cannot be indexed/u);
    expect(said).toContain(reason);
    expect(await db.rows("FROM moraine_indexes('lake', 'main', 'refused')")).toEqual([]);
  });
});

describe.skipIf(!extensionAvailable)("values that are the same", () => {
  it.each([
    ["UUID", "'10000000-0000-0000-0000-00000000000a'", "'10000000-0000-0000-0000-00000000000A'"],
    ["TIMESTAMP_MS", "'2020-01-01 00:00:00.001'", "'2020-01-01 00:00:00.001'"],
    ["DOUBLE", "'NaN'", "-'NaN'::DOUBLE"],
    ["DOUBLE", "0", "-0.0::DOUBLE"],
    ["FLOAT", "'NaN'", "-'NaN'::FLOAT"],
    ["VARCHAR", "''", "''"],
  ])("%s are taken once, be they inlined or in a file", async (type, first, second) => {
    await db.run("DROP TABLE IF EXISTS t");
    await db.run(`CREATE TABLE t(v ${type}, n INTEGER); CREATE UNIQUE INDEX u ON t(v)`);
    const byFile = (value: string): string =>
      `INSERT INTO t SELECT CASE WHEN i = 5 THEN ${value}::${type} END, i FROM range(20) r(i)`;
    await db.run(`INSERT INTO t VALUES (${first}, 0)`);
    expect(await db.failure(byFile(second))).toContain("claims a value");
    expect(await db.failure(`INSERT INTO t VALUES (${second}, 1)`)).toContain("claims a value");
    await db.run("DELETE FROM t");
    await db.run(byFile(second));
    expect(await db.failure(`INSERT INTO t VALUES (${first}, 0)`)).toContain("claims a value");
    expect(await db.failure(byFile(first))).toContain("claims a value");
    expect(await rowIds(db, `lookup('lake', 'main', 't', 'u', ${first}::${type})`)).toHaveLength(1);
    expect(await rowIds(db, "nulls('lake', 'main', 't', 'u', NULL)")).toHaveLength(19);
  });

  it("are other ones in composites whose texts meet elsewhere", async () => {
    await db.run("CREATE OR REPLACE TABLE t(a VARCHAR, b VARCHAR, c BLOB); CREATE UNIQUE INDEX u ON t(a, b, c)");
    await db.run(`INSERT INTO t VALUES ('ab', 'c', '\\x00'), ('a', 'bc', '\\x00'), ('ab', 'c', ''), ('abc', '', '\\x00'),
      ('ab', 'c', '\\x00\\x00'), (NULL, 'c', ''), (NULL, 'c', '')`);
    await expectIndex(db, "u", "t", ["a", "b", "c"]);
    expect(await rowIds(db, "lookup('lake', 'main', 't', 'u', 'a', 'bc', '\\x00'::BLOB)")).toEqual(["1"]);
    expect(await db.failure("INSERT INTO t VALUES ('a', 'bc', '\\x00')")).toContain("claims a value");
  });
});

describe.skipIf(!extensionAvailable)("a read", () => {
  beforeAll(async () => {
    await db.run(
      "CREATE OR REPLACE TABLE t(a BIGINT, b VARCHAR); INSERT INTO t SELECT i, 'r' || i % 5 FROM range(500) r(i)",
    );
    await db.run("CREATE INDEX mixed ON t(b, a) WITH (directions = '[desc, asc]')");
    await db.run("CREATE INDEX r ON t(b)");
  });

  it("tells the planner exactly how many rows it has", async () => {
    for (const [call, rows] of [
      ["lookup('lake', 'main', 't', 'r', 'r1')", 100],
      ["in('lake', 'main', 't', 'r', ['r1', 'r2', 'r2', 'none'])", 200],
      ["range('lake', 'main', 't', 'mixed', row('r1', 400), row('r1', 499), true, true)", 20],
    ] as const) {
      const [plan] = await db.rows(`EXPLAIN FROM moraine_index_${call}`);
      expect(plan?.[1]).toMatch(new RegExp(`~${rows} rows`, "u"));
      expect(await rowIds(db, call)).toHaveLength(rows);
    }
  });

  it.each([
    ["row('r1', 1), row('r2', 4)", "differ before the last of columns"],
    ["row(NULL), row('r2')", "is NULL"],
    ["row('a', 1, 2), NULL", "has 3 values"],
    ["row('a'), row(1, 2, 3)", "has 3 values"],
    ["row('a', 'x'), NULL", "cannot be cast"],
  ])("of a range %s is refused", async (bounds, message) => {
    const said = await db.failure(`FROM moraine_index_range('lake', 'main', 't', 'mixed', ${bounds}, true, true)`);
    expect(said).toContain(message);
  });

  it("of one leading value spans what is below it, in both orders", async () => {
    const target = "'lake', 'main', 't', 'mixed'";
    const ids = async (where: string): Promise<string[]> =>
      await db.column(`SELECT rowid FROM t WHERE ${where} ORDER BY rowid`);
    expect(await rowIds(db, `range(${target}, 'r1', 'r3', true, false)`)).toEqual(await ids("b >= 'r1' AND b < 'r3'"));
    expect(await rowIds(db, `range(${target}, row('r1', 10), row('r1', 30), false, true)`)).toEqual(
      await ids("b = 'r1' AND a > 10 AND a <= 30"),
    );
    expect(await rowIds(db, `range(${target}, 'r3', 'r1', true, true)`)).toEqual([]);
    const forward = await db.column(`SELECT row_id FROM moraine_index_range(${target}, NULL, NULL, true, true)`);
    const back = `SELECT row_id FROM moraine_index_range(${target}, NULL, NULL, true, true, reverse := true)`;
    expect(await db.column(back)).toEqual([...forward].reverse());
    expect(forward).toEqual(await db.column("SELECT rowid FROM t ORDER BY b DESC, a"));
  });
});
