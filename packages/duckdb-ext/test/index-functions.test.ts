import type { RowBatch } from "@moraine/catalog";
import { BIGINT, LIST, listValue } from "@duckdb/node-api";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { extensionAvailable } from "./extensions.js";
import type { Message } from "../src/index.js";
import { batchOf, column, type TestValue } from "./support/columns.js";
import { ScriptedLake } from "./support/scripted-lake.js";

let lake: ScriptedLake;
/** Row ids and data files that the service answers with. */
let found: readonly (readonly [bigint, bigint | null])[];

const shapes: Readonly<Record<string, readonly { name: string; type: string }[]>> = {
  by_a: [{ name: "a", type: "BIGINT" }],
  by_ab: [
    { name: "a", type: "BIGINT" },
    { name: "b", type: "VARCHAR" },
  ],
  by_d: [{ name: "d", type: "DATE" }],
  by_f: [{ name: "f", type: "FLOAT" }],
  by_m: [{ name: "m", type: "DECIMAL(10,2)" }],
};

function answer(request: Message): Message {
  switch (request.type) {
    case "describe_index": {
      const columns = shapes[request.index];
      if (columns !== undefined) return { type: "index_shape", index: 7n, unique: false, columns };
      const message = `table "${request.table}" has no index "${request.index}"`;
      return { type: "failed", code: "not_found", exception: "Binder", retryable: false, message };
    }
    case "read_index": {
      const rowIds = column(
        "BIGINT",
        found.map(([row]) => row),
      );
      const files = column(
        "UBIGINT",
        found.map(([, file]) => file),
      );
      return { type: "row_ids", batch: batchOf(rowIds, files) };
    }
    case "list_indexes": {
      const flags = [column("BOOLEAN", [true]), column("BOOLEAN", [false])];
      const state = [column("VARCHAR", ["ready"]), column("BIGINT", [null])];
      return {
        type: "indexes",
        batch: batchOf(column("BIGINT", [7n]), column("VARCHAR", ["by_a"]), ...flags, ...state),
      };
    }
    default:
      throw new Error(`not expected: ${request.type}`);
  }
}

beforeAll(async () => {
  lake = await ScriptedLake.open();
  await lake.connection.run("CREATE TABLE lake.t(a BIGINT, b VARCHAR)");
});

afterAll(async () => lake.close());

beforeEach(() => {
  found = [
    [5n, 3n],
    [9n, null],
  ];
  lake.service.script = answer;
  lake.service.take();
});

const call = (name: string, index: string, rest: string): string =>
  `FROM moraine_index_${name}('lake', 'main', 't', '${index}'${rest === "" ? "" : `, ${rest}`})`;

/** What a read asks the service for, without what every request has. */
async function read(
  name: string,
  index: string,
  rest: string,
): Promise<{ kind: string; keys: RowBatch[]; flags: string[] }> {
  lake.service.take();
  await lake.rows(call(name, index, rest));
  const request = lake.service.take().at(-1);
  if (request?.type !== "read_index") throw new Error("asked for no rows");
  const flags = Object.entries(request.flags).flatMap(([flag, isSet]) => (isSet ? [flag] : []));
  return { kind: request.kind, keys: [...request.keys], flags };
}

const keys = (...columns: readonly (readonly [type: string, ...values: TestValue[]])[]): RowBatch =>
  batchOf(...columns.map(([type, ...values]) => column(type, values)));
const open: RowBatch = { rows: 1, columns: [] };

describe.skipIf(!extensionAvailable)("what is asked and answered", () => {
  test("moraine_index_lookup", async () => {
    expect(await lake.rows(call("lookup", "by_a", "1"))).toEqual(found);
    const snapshot = 1n;
    expect(lake.service.take()).toEqual([
      { type: "describe_index", attachment: 1n, snapshot, schema: "main", table: "t", index: "by_a" },
      {
        type: "read_index",
        attachment: 1n,
        snapshot,
        index: 7n,
        kind: "lookup",
        flags: { lowerInclusive: false, upperInclusive: false, reverse: false },
        keys: [keys(["BIGINT", 1n])],
      },
    ]);
    const described = await lake.rows(`SELECT column_name, column_type FROM (DESCRIBE ${call("lookup", "by_a", "1")})`);
    expect(described).toEqual([
      ["row_id", "BIGINT"],
      ["data_file_id", "UBIGINT"],
    ]);
    expect((await read("lookup", "by_ab", "1, 'x'")).keys).toEqual([keys(["BIGINT", 1n], ["VARCHAR", "x"])]);
  });

  test("moraine_index_in, without keys that hold a NULL", async () => {
    const { kind, keys: sent } = await read("in", "by_a", "[1, NULL, 2, 2]");
    expect([kind, sent]).toEqual(["in", [keys(["BIGINT", 1n, 2n, 2n])]]);
    const rows = "[row(1, 'x'), row(2, NULL), NULL, row(3, 'z')]";
    expect((await read("in", "by_ab", rows)).keys).toEqual([keys(["BIGINT", 1n, 3n], ["VARCHAR", "x", "z"])]);
    expect((await read("in", "by_ab", "[{'a': 1, 'B': 'x'}]")).keys).toEqual([keys(["BIGINT", 1n], ["VARCHAR", "x"])]);
    expect((await read("in", "by_a", "[1, 2]::INTEGER[2]")).keys).toEqual([keys(["BIGINT", 1n, 2n])]);
  });

  test.each(["[]", "NULL", "[NULL]", "[NULL]::INTEGER[]"])("moraine_index_in(%s) has no rows", async (list) => {
    expect(await lake.rows(call("in", "by_a", list))).toEqual([]);
    expect(lake.service.take().filter(({ type }) => type !== "describe_index")).toEqual([]);
  });

  test("moraine_index_range", async () => {
    const window = await read("range", "by_a", "1, 5, true, false");
    expect(window).toEqual({
      kind: "range",
      keys: [keys(["BIGINT", 1n]), keys(["BIGINT", 5n])],
      flags: ["lowerInclusive"],
    });
    const half = await read("range", "by_ab", "row(1), NULL, false, true, reverse := true");
    expect(half).toEqual({ kind: "range", keys: [keys(["BIGINT", 1n]), open], flags: ["upperInclusive", "reverse"] });
    const tuples = await read("range", "by_ab", "row(1, 'a'), row(1, 'b'), true, true");
    expect(tuples.keys).toEqual([keys(["BIGINT", 1n], ["VARCHAR", "a"]), keys(["BIGINT", 1n], ["VARCHAR", "b"])]);
  });

  test("moraine_index_nulls", async () => {
    expect(await read("nulls", "by_a", "NULL")).toEqual({ kind: "nulls", keys: [keys(["BIGINT", null])], flags: [] });
    const prefix = await read("nulls", "by_ab", "'1', NULL, reverse := true");
    expect(prefix).toEqual({ kind: "nulls", keys: [keys(["BIGINT", 1n], ["VARCHAR", null])], flags: ["reverse"] });
  });

  test("moraine_indexes, by the lake's name and its metadata catalog's", async () => {
    for (const catalog of ["lake", "LAKE", "__ducklake_metadata_lake"]) {
      const sql = `FROM moraine_indexes('${catalog}', 'main', 't')`;
      expect(await lake.rows(sql)).toEqual([[7n, "by_a", true, false, "ready", null]]);
      expect(lake.service.take()).toMatchObject([{ type: "list_indexes", schema: "main", table: "t" }]);
    }
  });

  test("a million rows, in the order in which they came", async () => {
    const values = new Uint8Array(BigInt64Array.from({ length: 1_000_000 }, (_, at) => BigInt(999_999 - at)).buffer);
    const rowIds = { ...column("BIGINT", []), rows: 1_000_000, values };
    const files = { ...rowIds, type: "UBIGINT" };
    lake.service.script = (request) =>
      request.type === "read_index" ? { type: "row_ids", batch: batchOf(rowIds, files) } : answer(request);
    const ordered = `SELECT count(*), bool_and(row_id = data_file_id), bool_and(row_id = 999_999 - place)
      FROM (SELECT *, row_number() OVER () - 1 AS place ${call("lookup", "by_a", "1")})`;
    expect(await lake.rows(ordered)).toEqual([[1_000_000n, true, true]]);
  });

  test("the planner knows how many rows there are", async () => {
    const [plan] = await lake.rows(`EXPLAIN ${call("lookup", "by_a", "1")}`);
    expect(plan?.[1]).toMatch(/MORAINE_INDEX_LOOKUP[^]*Index: by_a[^]*lake\.main\.t[^]*Rows: 2[^]*~2 rows/);
  });
});

describe.skipIf(!extensionAvailable)("values are cast as DuckDB casts them", () => {
  test.each([
    ["by_a", "'12'", keys(["BIGINT", 12n])],
    ["by_a", "2.0", keys(["BIGINT", 2n])],
    ["by_a", "2::DOUBLE", keys(["BIGINT", 2n])],
    ["by_d", "'2020-01-01'", keys(["DATE", 18_262n])],
    ["by_d", "TIMESTAMP '2020-01-01'", keys(["DATE", 18_262n])],
    ["by_f", "0.1::DOUBLE", keys(["FLOAT", 0.1])],
    ["by_m", "1.5", keys(["DECIMAL(10,2)", 150n])],
  ])("%s: %s", async (index, value, expected) => {
    expect((await read("lookup", index, value)).keys).toEqual([expected]);
  });

  test.each([
    ["lookup", "by_a", "'secret'", 'the value for column "a" of index "by_a" cannot be cast from VARCHAR to BIGINT'],
    ["lookup", "by_a", "99999999999999999999", "cannot be cast from HUGEINT to BIGINT"],
    ["lookup", "by_a", "[1]", "cannot be cast from LIST to BIGINT"],
    ["lookup", "by_a", "1.5", 'for column "a" of index "by_a" is a DECIMAL that BIGINT does not hold exactly'],
    ["lookup", "by_m", "1.234", "is a DECIMAL that DECIMAL(10,2) does not hold exactly"],
    ["lookup", "by_d", "TIMESTAMP '2020-01-01 10:00'", "is a TIMESTAMP that DATE does not hold exactly"],
    ["in", "by_a", "[1, 1.5]", "does not hold exactly"],
    ["in", "by_a", "[row(1)]", "cannot be cast from STRUCT to BIGINT"],
    [
      "lookup",
      "by_a",
      "NULL",
      "is NULL, which equals nothing; rows that are NULL there are read by moraine_index_nulls",
    ],
    ["range", "by_ab", "row(1, NULL), NULL, true, true", 'column "b" of index "by_ab" is NULL'],
    ["lookup", "by_ab", "1", 'index "by_ab" takes 2 values (a, b), not 1'],
    ["lookup", "by_a", "", 'index "by_a" takes 1 value (a), not 0'],
    ["in", "by_a", "5", 'the keys of index "by_a" come as one list, such as [1, 2]'],
    ["in", "by_ab", "[1]", 'each key of index "by_ab" is a row(...) of 2 values (a, b)'],
    ["in", "by_ab", "[{'b': 1, 'a': 'x'}]", 'a field is named "b" where index "by_ab" has column "a"'],
    ["range", "by_a", "row(1, 2), NULL, true, true", 'the lower bound of index "by_a" has 2 values'],
    ["range", "by_a", "1, 2, NULL, true", "lower_inclusive is NULL; say true or false"],
    ["nulls", "by_a", "1, 2", "at most 1 value (a), not 2"],
    ["lookup", "none", "1", 'table "t" has no index "none"'],
  ])("moraine_index_%s on %s refuses %s", async (name, index, rest, message) => {
    expect(await lake.failure(call(name, index, rest))).toContain(message);
    expect(lake.service.take().filter(({ type }) => type !== "describe_index")).toEqual([]);
  });

  test("an error holds no value", async () => {
    for (const value of ["'secret'", "'secret'::ENUM('secret', 'other')", "['secret']", "row('secret')"]) {
      const message = await lake.failure(call("lookup", "by_a", value));
      expect(message).toContain("cannot be cast from");
      expect(message).not.toContain("secret");
    }
  });
});

test.skipIf(!extensionAvailable).each([
  ["moraine_index_lookup(NULL, 'main', 't', 'by_a', 1)", "the catalog is NULL"],
  ["moraine_index_lookup('nowhere', 'main', 't', 'by_a', 1)", 'no catalog "nowhere" is attached'],
  ["moraine_index_lookup('memory', 'main', 't', 'by_a', 1)", 'catalog "memory" is not a moraine lake'],
  ["moraine_indexes('memory', 'main', 't')", 'catalog "memory" is not a moraine lake'],
])("%s is refused", async (sql, message) => {
  expect(await lake.failure(`FROM ${sql}`)).toContain(message);
});

describe.skipIf(!extensionAvailable)("no result outlives the transaction that asked", () => {
  test("PREPARE and EXECUTE, with and without parameters", async () => {
    await lake.connection.run(`PREPARE constant AS ${call("lookup", "by_a", "1")};
      PREPARE given AS ${call("in", "by_ab", "[row($1, $2)]")}`);
    for (const rows of [[], [[1n, 1n]], [[2n, null]]] as const) {
      found = rows;
      expect(await lake.rows("EXECUTE constant")).toEqual(rows);
      expect(await lake.rows("EXECUTE given('1', 'x')")).toEqual(rows);
    }
    lake.service.take();
    await lake.rows("EXECUTE given(3, 'y')");
    expect(lake.service.take().at(-1)).toMatchObject({ keys: [keys(["BIGINT", 3n], ["VARCHAR", "y"])] });
    expect(await lake.rows("EXECUTE given(NULL, NULL)")).toEqual([]);
  });

  test("statements that the host prepares", async () => {
    const constant = await lake.connection.prepare(call("lookup", "by_a", "1"));
    const given = await lake.connection.prepare(call("in", "by_a", "$1"));
    for (const rows of [[], [[1n, 1n]], [[2n, null]]] as const) {
      found = rows;
      expect((await constant.runAndReadAll()).getRows()).toEqual(rows);
      given.bindList(1, listValue([1n, null]), LIST(BIGINT));
      expect((await given.runAndReadAll()).getRows()).toEqual(rows);
    }
  });

  test("views and plans that are copied", async () => {
    await lake.connection.run(`CREATE TEMP VIEW saved AS ${call("lookup", "by_a", "1")}`);
    found = [[4n, 4n]];
    expect(await lake.rows("FROM saved")).toEqual(found);
    const copied = `WITH c AS NOT MATERIALIZED (${call("range", "by_ab", "row(1), NULL, true, true, reverse := true")})
      FROM c x, c y`;
    expect(await lake.rows(copied)).toEqual([[4n, 4n, 4n, 4n]]);
  });

  test("the snapshot is the one that the transaction has pinned", async () => {
    const snapshots = async (): Promise<unknown[]> => {
      await lake.rows(call("lookup", "by_a", "1"));
      return [...new Set(lake.service.take().map((request) => (request as { snapshot?: bigint }).snapshot))];
    };
    const [before] = await snapshots();
    await lake.connection.run("BEGIN");
    expect(await snapshots()).toEqual([before]);
    const other = await lake.connect();
    await other.run("INSERT INTO lake.t VALUES (1, 'x')");
    other.closeSync();
    expect(await snapshots()).toEqual([before]);
    await lake.connection.run("COMMIT");
    expect(await snapshots()).toEqual([(before as bigint) + 1n]);
  });

  test("what an index looks like is asked once, and again when the lake has changed", async () => {
    const asked = async (index: string): Promise<string[]> => {
      await lake.rows(call("lookup", index, "1"));
      return lake.service.take().map(({ type }) => type);
    };
    for (let round = 1; round <= 2; round++) {
      await lake.connection.run(`INSERT INTO lake.t VALUES (${round}, 'x')`);
      expect(await asked("by_a")).toEqual(["describe_index", "read_index"]);
      expect(await asked("by_a")).toEqual(["read_index"]);
      expect(await asked("by_m")).toEqual(["describe_index", "read_index"]);
      expect(await asked("by_m")).toEqual(["read_index"]);
      expect(await asked("by_a")).toEqual(["read_index"]);
    }
  });
});

test.skipIf(!extensionAvailable)("a read that is interrupted while it waits ends, and the next one works", async () => {
  let running: Promise<string> | undefined;
  await new Promise<void>((waits) => {
    lake.service.script = () => {
      waits();
      return undefined;
    };
    running = lake.failure(call("lookup", "by_a", "1"));
  });
  lake.connection.interrupt();
  expect(await running).toContain("INTERRUPT");
  lake.service.script = answer;
  expect(await lake.rows(call("lookup", "by_a", "1"))).toEqual(found);
});
