import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listServices } from "@moraine/extension";
import { Catalog, type ConnectOptions, mainSchema, MoraineError, openDuckDB, type TableId } from "moraine";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable, stopServices } from "./support/services.js";

const folder = mkdtempSync(join(tmpdir(), "moraine-connect-"));
process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
let lakes = 0;
let store: string;
let dataPath: string;
beforeEach(() => {
  lakes += 1;
  store = join(folder, `store-${lakes}`);
  dataPath = join(folder, `data-${lakes}/`);
});
afterAll(async () => {
  await stopServices(folder);
  rmSync(folder, { recursive: true, force: true });
});

async function failureOf(work: Promise<unknown>): Promise<MoraineError> {
  const error: unknown = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(MoraineError);
  return error as MoraineError;
}

async function killService(): Promise<void> {
  for (const { status } of await listServices()) {
    if ("store" in status && status.store === store) process.kill(status.pid, "SIGKILL");
  }
}

const columns = [
  { name: "k", columnType: "BIGINT" },
  { name: "writer", columnType: "VARCHAR" },
];

describe("options of connect", () => {
  it.each<[string, unknown, RegExp]>([
    ["none", undefined, /options must be an object/u],
    ["an unknown one", { store: "x", flush: "eager" }, /"flush"/u],
    ["no store", {}, /store must be/u],
    ["an empty data path", { store: "x", dataPath: "" }, /dataPath must be/u],
    ["a word for encrypted", { store: "x", encrypted: "no" }, /encrypted must be/u],
    ["no time at all", { store: "x", requestTimeoutMs: 0 }, /requestTimeoutMs must be/u],
  ])("with %s are refused by name", async (_, options, message) => {
    const refused = await failureOf(Catalog.connect(options as ConnectOptions));
    expect(refused.code).toBe("invalid_argument");
    expect(refused.message).toMatch(message);
  });
});

describe("a connected catalog", () => {
  it("makes a lake with its data path, which another one may not change", async () => {
    {
      await using catalog = await Catalog.connect({ store, dataPath, encrypted: true });
      expect((await catalog.snapshot()).dataPath()).toBe(dataPath);
      expect((await catalog.snapshot()).option("global", "encrypted")).toBe("true");
      expect((await catalog.census()).location).toBe(store);
    }
    const refused = await failureOf(Catalog.connect({ store, dataPath: join(folder, "other") }));
    expect(refused.code).toBe("configuration");
    expect(refused.message).toContain(dataPath);
    await (await Catalog.connect({ store, dataPath })).close();
  });

  it("says who has the store where that is no service", async () => {
    await using opened = await Catalog.open({ store, dataPath });
    const refused = await failureOf(Catalog.connect({ store }));
    expect(refused.code).toBe("store_locked");
    expect((await opened.snapshot()).dataPath()).toBe(dataPath);
  });

  it("is closed once and for all", async () => {
    const catalog = await Catalog.connect({ store, dataPath });
    await catalog.close();
    await catalog.close();
    expect((await failureOf(catalog.snapshot())).code).toBe("closed");
    expect((await failureOf(catalog.commit(() => undefined))).code).toBe("closed");
  });

  it("starts a service where there is none, and goes on where it was killed", async () => {
    await using catalog = await Catalog.connect({ store, dataPath });
    const { value: table } = await catalog.commit((tx) => tx.createTable({ schema: mainSchema, name: "t", columns }));
    for (let k = 0; k < 4; k++) {
      await killService();
      await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k, writer: "a" }] }));
      expect(await catalog.recentRows({ table })).toHaveLength(k + 1);
    }
    expect((await catalog.snapshots()).map(({ id }) => id)).toEqual([5n, 4n, 3n, 2n, 1n, 0n]);
  });
});

/** What one writer knows of the keys that it has tried to insert. */
interface Outcome {
  readonly acknowledged: number[];
  /** Where the connection broke: the row may be there or not. */
  readonly unknown: number[];
  readonly refused: number[];
}

type Insert = (k: number) => Promise<void>;

function newOutcome(): Outcome {
  return { acknowledged: [], unknown: [], refused: [] };
}

describe.skipIf(!extensionAvailable)("two applications and DuckDB on one store", () => {
  it("never give two rows one id, though DuckLake keeps a table's next row id from before", async () => {
    await using catalog = await Catalog.connect({ store, dataPath });
    const { value: table } = await catalog.commit((tx) => tx.createTable({ schema: mainSchema, name: "t", columns }));
    await using duckDb = await openDuckDB({ store });
    const rowIds: bigint[] = [];
    // DuckLake keeps from its first look that the table has no inlined rows.
    expect((await duckDb.connection.runAndReadAll("SELECT count(*) FROM lake.t")).getRows()).toEqual([[0n]]);
    for (let k = 0; k < 3; k++) {
      await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k, writer: "a" }] }));
      await duckDb.connection.run(`INSERT INTO lake.t VALUES (${k}, 'duckdb')`);
    }
    for (const { rowId } of await catalog.recentRows({ table })) rowIds.push(rowId);
    expect(rowIds).toEqual([0n, 1n, 2n, 3n, 4n, 5n]);
    const maxima = await duckDb.connection.runAndReadAll("SELECT max(rowid), count(*) FROM lake.t");
    expect(maxima.getRows()).toEqual([[5n, 6n]]);
  });

  it.each<[string, string, (catalog: Catalog, table: TableId) => Promise<unknown>, readonly bigint[]]>([
    ["a delete", "DELETE FROM lake.t WHERE k = 1", flush, [1n, 2n]],
    ["an update", "UPDATE lake.t SET k = 3 WHERE k = 1", flush, [1n, 2n]],
    ["a flush", "CALL ducklake_flush_inlined_data('lake')", deleteFirst, [2n]],
  ])("refuse %s in SQL of inlined rows that an application has moved or deleted", async (_, sql, other, left) => {
    await using duckDb = await openDuckDB({ store, dataPath });
    const { connection } = duckDb;
    await connection.run("CREATE TABLE lake.t(k BIGINT); INSERT INTO lake.t VALUES (1), (2)");
    await using catalog = await Catalog.connect({ store });
    const table = (await catalog.snapshot()).tablesIn(mainSchema)[0]!.id;
    await connection.run(`BEGIN; ${sql}`);
    await other(catalog, table);
    await expect(connection.run("COMMIT")).rejects.toThrow("Transaction conflict");
    const rows = await connection.runAndReadAll("SELECT k FROM lake.t ORDER BY k");
    expect(rows.getRows().flat()).toEqual(left);
  });

  it("find each other's rows, also beyond what SQL knew of a column's values", async () => {
    const types = {
      i8: ["TINYINT", 1, 50],
      b: ["BIGINT", 1, 50n],
      ub: ["UBIGINT", 1, 50n],
      d: ["DOUBLE", 1, 50],
      dec: ["DECIMAL(9,2)", 1, "50.00"],
      thousandths: ["DECIMAL(3,3)", 0.1, "0.500"],
      flag: ["BOOLEAN", false, true],
      s: ["VARCHAR", "'a'", "mmm"],
      day: ["DATE", "'2020-01-01'", "2021-01-01"],
      t: ["TIME", "'01:00:00'", "12:00:00"],
      ts: ["TIMESTAMP", "'2020-01-01'", "2021-01-01 00:00:00"],
      tz: ["TIMESTAMPTZ", "'2020-01-01 00:00:00+00'", "2021-01-01 00:00:00+00"],
      u: ["UUID", "'00000000-0000-0000-0000-000000000001'", "80000000-0000-0000-0000-000000000001"],
    } as const;
    const entries = Object.entries(types);
    await using duckDb = await openDuckDB({ store, dataPath });
    const sql = duckDb.connection;
    await sql.run(`CREATE TABLE v(${entries.map(([name, [type]]) => `${name} ${type}`).join(", ")})`);
    const small = `INSERT INTO v VALUES (${entries.map(([, [, least]]) => String(least)).join(", ")})`;
    const countsOf = async (): Promise<Record<string, unknown>> => {
      const counts: Record<string, unknown> = {};
      for (const [name, [, , value]] of entries) {
        const found = await sql.runAndReadAll(`SELECT count(*) FROM v WHERE ${name} = '${String(value)}'`);
        counts[name] = found.getRows()[0]?.[0];
      }
      return counts;
    };
    const each = (count: bigint): Record<string, unknown> => Object.fromEntries(entries.map(([name]) => [name, count]));
    await sql.run(small);
    expect(await countsOf()).toEqual(each(0n));
    await using catalog = await Catalog.connect({ store });
    const table = (await catalog.snapshot()).tablesIn(mainSchema)[0]!.id;
    const row = Object.fromEntries(entries.map(([name, [, , value]]) => [name, value]));
    await catalog.commit((tx) => tx.inlineInsert({ table, rows: [row] }));
    expect(await countsOf()).toEqual(each(1n));
    // What DuckLake makes of its next rows must not make the bounds narrow again.
    await sql.run(small);
    expect(await countsOf()).toEqual(each(1n));
    await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{}] }));
    const missing = await sql.runAndReadAll("SELECT count(*) FROM v WHERE s IS NULL AND b IS NULL");
    expect(missing.getRows()).toEqual([[1n]]);
  });

  it(
    "insert the same keys at once: each is there once, whoever was told so, though the service is killed meanwhile",
    { timeout: 120_000 },
    async () => {
      const keys = 40;
      await using first = await Catalog.connect({ store, dataPath });
      await using second = await Catalog.connect({ store });
      const { value: table } = await first.commit((tx) => {
        const made = tx.createTable({ schema: mainSchema, name: "t", columns });
        tx.createIndex({ table: made, name: "by_k", columns: ["k"], unique: true });
        return made;
      });
      await using duckDb = await openDuckDB({ store });
      const outcomes = [newOutcome(), newOutcome(), newOutcome()] as const;
      const note = async ({ acknowledged, refused, unknown }: Outcome, k: number, insert: Insert): Promise<void> => {
        try {
          await insert(k);
          acknowledged.push(k);
        } catch (error) {
          (isRefusal(error) ? refused : unknown).push(k);
        }
      };
      const byCatalog =
        (catalog: Catalog, writer: string): Insert =>
        async (k) => {
          await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k, writer }] }));
        };
      const bySql: Insert = async (k) => {
        await duckDb.connection.run(`INSERT INTO lake.t VALUES (${k}, 'duckdb')`);
      };
      for (let at = 0; at < keys; at++) {
        const round = [
          note(outcomes[0], at, byCatalog(first, "first")),
          note(outcomes[1], keys - 1 - at, byCatalog(second, "second")),
          note(outcomes[2], (at * 7 + 3) % keys, bySql),
        ];
        if (at === keys / 4) await killService();
        await Promise.all(round);
      }
      const rows = await second.recentRows({ table });
      const found = rows.map(({ values }) => Number(values["k"])).sort((a, b) => a - b);
      expect(found).toEqual([...new Set(found)]);
      const acknowledged = outcomes.flatMap((outcome) => outcome.acknowledged);
      expect(new Set(acknowledged).size).toBe(acknowledged.length);
      for (const k of acknowledged) expect(found).toContain(k);
      // Whatever no writer got in was refused because it was there, or is not known.
      for (const k of outcomes.flatMap(({ refused }) => refused)) expect(found).toContain(k);
      expect(outcomes.flatMap(({ unknown }) => unknown).length).toBeLessThan(keys / 2);
      const writers = outcomes.map((outcome) => outcome.acknowledged.length);
      expect(Math.min(...writers)).toBeGreaterThan(0);
      const counted = (await duckDb.connection.runAndReadAll("SELECT count(*) FROM lake.t")).getRows();
      expect(counted).toEqual([[BigInt(found.length)]]);
      const index = (await first.snapshot()).indexesOf(table)[0]!.id;
      for (const k of found) expect(await first.indexLookup({ index, key: [k] })).toHaveLength(1);
    },
  );
});

async function flush(catalog: Catalog, table: TableId): Promise<void> {
  await catalog.flushInlined({ table });
}

async function deleteFirst(catalog: Catalog, table: TableId): Promise<void> {
  await catalog.commit((tx) => tx.inlineDelete({ table, rowId: 0n }));
}

/** What an index says, in both worlds. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && /claims a value/u.test(error.message);
}
