import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Catalog, type IndexId, mainSchema, type SchemaId, type TableId } from "moraine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { build, inProcess, moraine, type Outcome, shell, start } from "./support/command.js";
import { extensionAvailable, stopServices } from "./support/services.js";

const folder = mkdtempSync(join(tmpdir(), "moraine-cli-"));
const store = join(folder, "lake/store");
process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");

let ids: { readonly staging: SchemaId; readonly table: TableId; readonly byNumber: IndexId; readonly byDelay: IndexId };

beforeAll(async () => {
  build();
  await using catalog = await Catalog.open({ store, dataPath: join(folder, "lake/data") });
  const { value } = await catalog.commit(
    (tx) => {
      const table = tx.createTable({
        schema: mainSchema,
        name: "flights",
        columns: [
          { name: "number", columnType: "BIGINT", nullsAllowed: false },
          { name: "origin", columnType: "VARCHAR" },
          { name: "fare", columnType: "DECIMAL(10,2)" },
        ],
      });
      const byNumber = tx.createIndex({ table, name: "flights_number", columns: ["number"], unique: true });
      const byFare = tx.createIndex({
        table,
        name: "flights_fare",
        columns: ["origin", "fare"],
        orders: [{}, { direction: "desc" }],
      });
      tx.inlineInsert({
        table,
        rows: [
          { number: -5, origin: "OSL", fare: "99.50" },
          { number: 9_007_199_254_740_993n, origin: "OSL", fare: null },
          { number: 3, origin: "NULL", fare: "12.00" },
          { number: 4, origin: null, fare: "7.25" },
          { number: 5, origin: "OSL", fare: "120.00" },
        ],
      });
      return { table, byNumber, byDelay: byFare };
    },
    { author: "Ada", message: "first flights" },
  );
  const { value: staging } = await catalog.commit((tx) => {
    const schema = tx.createSchema({ name: "staging" });
    const table = tx.createTable({ schema, name: "flights", columns: [{ name: "number", columnType: "BIGINT" }] });
    tx.createIndex({ table, name: "flights_number", columns: ["number"] });
    const gone = tx.createIndex({ table, name: "gone", columns: ["number"] });
    tx.inlineInsert({ table, rows: [{ number: 1 }] });
    return { schema, gone };
  });
  await catalog.commit((tx) => tx.dropIndex({ index: staging.gone }));
  ids = { ...value, staging: staging.schema };
}, 120_000);
afterAll(async () => {
  // The demonstration starts one.
  await stopServices(folder);
  rmSync(folder, { recursive: true, force: true });
});

/** The JSON document that a command prints; the command must have succeeded. A process of its own. */
async function json(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await moraine([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** The same without a process of its own. */
async function jsonHere(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await inProcess([...args, "--json"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

/** The lines of what a command prints; the command must have succeeded. */
async function lines(...args: string[]): Promise<string[]> {
  const { code, stdout } = await inProcess(args);
  expect(code).toBe(0);
  return stdout.trimEnd().split("\n");
}

/** One line of an error and one of its remedy. */
function expectError({ code, stdout, stderr }: Outcome, status: number, text: RegExp): void {
  expect([code, stdout]).toEqual([status, ""]);
  expect(stderr).toMatch(/^moraine: .+\n {2}remedy: .+\n$/u);
  expect(stderr).toMatch(text);
}

describe("moraine", () => {
  it("explains itself", async () => {
    const help = await moraine(["--help"]);
    expect(help.code).toBe(0);
    const ofCatalogs = ["demo", "tables", "indexes", "lookup", "range", "nulls", "snapshots", "census", "maintain"];
    const commands = [...ofCatalogs, "sql", "duckdb-init", "serve", "status", "stop"];
    for (const command of commands) expect(help.stdout).toMatch(new RegExp(`^ {2}${command} `, "mu"));
    expect(help.stdout).toContain("Exit status:");
    const helps = await Promise.all(commands.map((command) => inProcess([command, "--help"])));
    for (const { code, stdout } of helps) {
      expect(code).toBe(0);
      expect(stdout).toMatch(/Example:\n {2}\$ moraine \w+/u);
      expect(stdout).toContain("--json");
    }
    for (const { stdout } of helps) {
      // Each option with what holds where it is left out.
      const options = stdout
        .slice(stdout.indexOf("Options:"), stdout.indexOf("Example:"))
        .split(/\n {2}(?=-)/u)
        .slice(1);
      for (const option of options.filter((text) => !text.startsWith("-h,"))) expect(option).toContain("(default:");
    }
    expect((await inProcess(["help", "lookup"])).stdout).toBe(helps[commands.indexOf("lookup")]?.stdout);
    expect((await inProcess(["help"])).stdout).toBe(help.stdout);
    expect((await inProcess(["--version"])).stdout).toMatch(/^\d+\.\d+\.\d+/u);
  });

  it("refuses what it does not know, with status 2", async () => {
    expectError(await moraine(["lokup"]), 2, /unknown command 'lokup'.*lookup/u);
    expectError(await inProcess(["help", "nosuch"]), 2, /unknown command 'nosuch'/u);
    expectError(await inProcess(["help", "lokup"]), 2, /unknown command 'lokup'.*lookup/u);
    expectError(await inProcess(["help", "lookup", "range"]), 2, /too many arguments/u);
    expectError(await inProcess(["tables"]), 2, /missing required argument 'store'/u);
    expectError(await inProcess(["tables", store, "--jsn"]), 2, /unknown option '--jsn'.*--json/u);
    expectError(await inProcess(["snapshots", store, "--limit", "-1"]), 2, /--limit/u);
    expect((await inProcess([])).code).toBe(2);
  });

  it("gives errors as JSON where it was asked for JSON", async () => {
    const { code, stdout, stderr } = await moraine(["lookup", store, "flights_weight", "5", "--json"]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "not_found",
        message: 'not found: index "flights_weight"',
        remedy: "List the indexes with `moraine indexes <store>`.",
        exitStatus: 3,
      },
    });
    const usage = await inProcess(["snapshots", store, "--limit", "x", "--json"]);
    expect(JSON.parse(usage.stderr)).toMatchObject({ error: { code: "usage", exitStatus: 2 } });
  });

  it("prints names as they are, whatever words DuckLake looks for", async () => {
    expectError(await inProcess(["indexes", store, "unique_conflicts"]), 3, /table "unique_conflicts"/u);
  });

  it("says that there is no store, with status 3, and makes none", async () => {
    const nowhere = join(folder, "nowhere");
    for (const command of [["tables"], ["maintain"], ["census"], ["lookup", "x", "1"]]) {
      const [name = "", ...rest] = command;
      expectError(await inProcess([name, nowhere, ...rest]), 3, /not found: there is no store/u);
    }
    expect(existsSync(nowhere)).toBe(false);
    expectError(await inProcess(["tables", "ftp://x/y"]), 2, /configuration[^]*remedy: (?!.*memory)/u);
    expectError(await inProcess(["tables", ""]), 2, /location of the store is empty/u);
  });
});

describe("moraine tables", () => {
  it("lists tables with their files, rows and columns", async () => {
    const [titles, ...rows] = await lines("tables", store);
    expect(titles).toMatch(/^schema +table +id +files +rows in files +inline rows +indexes +columns$/u);
    expect(rows).toHaveLength(2);
    expect(rows[0]).toMatch(/^main +flights +\d+ +0 +0 +5 +2 +number BIGINT, origin VARCHAR, fare DECIMAL\(10,2\)$/u);
    expect(await json("tables", store)).toEqual({
      snapshot: "3",
      dataPath: `${folder}/lake/data/`,
      tables: [
        {
          schema: "main",
          table: "flights",
          id: `${ids.table}`,
          columns: [
            { id: "1", name: "number", type: "BIGINT", nullsAllowed: false },
            { id: "2", name: "origin", type: "VARCHAR", nullsAllowed: true },
            { id: "3", name: "fare", type: "DECIMAL(10,2)", nullsAllowed: true },
          ],
          dataFiles: 0,
          deleteFiles: 0,
          fileRows: "0",
          inlineRows: 5,
          indexes: 2,
        },
        expect.objectContaining({ schema: "staging", table: "flights", inlineRows: 1, indexes: 1 }),
      ],
    });
  });
});

describe("moraine indexes", () => {
  it("lists the indexes of a catalog, or of a table by any of its names", async () => {
    const [, ...rows] = await lines("indexes", store);
    expect(rows.map((row) => row.split(/ +/u).slice(0, 3))).toEqual([
      ["main", "flights", "flights_number"],
      ["main", "flights", "flights_fare"],
      ["staging", "flights", "flights_number"],
    ]);
    expect(await json("indexes", store)).toMatchObject({ indexes: { length: 3 } });
    for (const name of ["main.flights", "MAIN.Flights", `${ids.table}`]) {
      const { indexes } = (await jsonHere("indexes", store, name)) as { indexes: unknown[] };
      expect(indexes).toEqual([
        {
          schema: "main",
          table: "flights",
          index: "flights_number",
          id: `${ids.byNumber}`,
          unique: true,
          state: "ready",
          maintenance: "synchronous",
          certifiedAt: null,
          columns: [{ id: "1", name: "number", type: "BIGINT", direction: "asc", nulls: "last" }],
        },
        expect.objectContaining({ index: "flights_fare", unique: false }),
      ]);
    }
    expectError(await inProcess(["indexes", store, "flights"]), 4, /2 tables are called "flights"/u);
    expectError(await inProcess(["indexes", store, "nothing"]), 3, /table "nothing"/u);
  });
});

describe("moraine lookup", () => {
  it("converts values by the types of the columns", async () => {
    const found = { index: "main.flights_number", table: "main.flights" };
    expect(await json("lookup", store, "main.flights_number", "-5")).toEqual({ ...found, rowIds: ["0"] });
    expect(await jsonHere("lookup", store, "main.flights_number", "9007199254740993")).toEqual({
      ...found,
      rowIds: ["1"],
    });
    expect(await jsonHere("lookup", store, "flights_fare", "OSL", "99.5")).toMatchObject({ rowIds: ["0"] });
    expect(await jsonHere("lookup", store, "flights_fare", String.raw`\NULL`, "12")).toMatchObject({ rowIds: ["2"] });
    const plain = await inProcess(["lookup", store, `${ids.byNumber}`, "5"]);
    expect(plain.stdout).toBe("4\n");
    expect(plain.stderr).toMatch(/^1 row of main\.flights in .+\n$/u);
    const none = await inProcess(["lookup", store, "main.flights.flights_number", "77"]);
    expect([none.code, none.stdout]).toEqual([0, ""]);
  });

  it("refuses keys that are not", async () => {
    const lookup = (...words: string[]): Promise<Outcome> => inProcess(["lookup", store, ...words]);
    expectError(
      await lookup("flights_number", "5"),
      4,
      /2 indexes are called "flights_number": "main\.flights\.flights_number"/u,
    );
    expectError(await lookup("flights_weight", "5"), 3, /index "flights_weight"/u);
    expectError(
      await lookup("main.flights_number", "five"),
      2,
      /value 1: column "number" holds "BIGINT"[^]*of type BIGINT as SQL/u,
    );
    expectError(await lookup("main.flights_number", "5", "6"), 2, /2 values/u);
    expectError(await lookup("flights_fare", "OSL"), 2, /the key has 1 value, .* 2 columns \("origin", "fare"\)/u);
    expectError(await lookup("flights_fare", "OSL", "NULL"), 2, /nothing equals NULL[^]*moraine nulls/u);
  });

  it("reads many keys as lines of JSON", async () => {
    const many = await moraine(
      ["lookup", store, "main.flights_number", "--many", "--json"],
      '5\n[-5]\n\n"9007199254740993"\n[1]\n',
    );
    expect(JSON.parse(many.stdout)).toMatchObject({ rowIds: ["0", "1", "4"] });
    const composite = await inProcess(["lookup", store, "flights_fare", "--many"], '["OSL", "99.50"]\n["OSL", 120]\n');
    expect(composite.stdout).toBe("0\n4\n");
    const refuse = (stdin: string): Promise<Outcome> => inProcess(["lookup", store, "flights_fare", "--many"], stdin);
    expectError(await refuse('["OSL", 1]\n[oops]\n'), 2, /key 2 of stdin is no JSON/u);
    expectError(await refuse('["OSL"]\n'), 2, /key 1 of stdin has 1 value/u);
    expectError(await refuse('["OSL", 1e400]\n'), 2, /key 1 of stdin, value 2/u);
    expectError(await refuse('["OSL", null]\n'), 2, /nothing equals NULL/u);
    expectError(await inProcess(["lookup", store, "flights_fare", "OSL", "--many"], ""), 2, /beside --many/u);
  });
});

describe("moraine range and nulls", () => {
  it("print rows in the index's order", async () => {
    expect(await lines("range", store, "flights_fare", "--lower", "OSL", "--upper", "OSL")).toEqual(["4", "0", "1"]);
    expect(
      await lines("range", store, "flights_fare", "--lower", "OSL", "--upper", "OSL", "--reverse", "--limit", "2"),
    ).toEqual(["1", "0"]);
    expect(
      await lines("range", store, "flights_fare", "--lower", "OSL", "99.50", "--lower-exclusive", "--upper", "OSL"),
    ).toEqual(["4"]);
    expect(
      await json("range", store, "main.flights_number", "--lower", "-5", "--upper", "5", "--upper-exclusive"),
    ).toMatchObject({ rowIds: ["0", "2", "3"] });
    expect(await lines("range", store, "main.flights_number", "--limit", "1")).toEqual(["0"]);
    expectError(await inProcess(["range", store, "flights_fare", "--lower", "OSL", "NULL"]), 2, /--lower has NULL/u);
    expectError(
      await inProcess(["range", store, "flights_fare", "--lower", "A", "1", "--upper", "B", "2"]),
      2,
      /Give both bounds the same values/u,
    );
  });

  it("find NULLs, alone and after values", async () => {
    expect(await lines("nulls", store, "flights_fare")).toEqual(["3"]);
    expect(await json("nulls", store, "flights_fare", "OSL", "NULL")).toMatchObject({ rowIds: ["1"] });
    expect(await jsonHere("nulls", store, "main.flights_number")).toMatchObject({ rowIds: [] });
    expectError(await inProcess(["nulls", store, "flights_fare", "OSL"]), 2, /no NULL[^]*moraine lookup/u);
  });
});

describe("moraine snapshots and census", () => {
  it("lists snapshots, the newest first", async () => {
    const { snapshots } = (await json("snapshots", store, "--limit", "3")) as { snapshots: Record<string, unknown>[] };
    expect(snapshots.map(({ id }) => id)).toEqual(["3", "2", "1"]);
    expect(snapshots[2]).toMatchObject({ author: "Ada", message: "first flights", schemaVersion: "1" });
    expect(snapshots[2]?.["time"]).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/u);
    const [, , , first, ...rest] = await lines("snapshots", store);
    expect(first).toMatch(/Ada: first flights$/u);
    expect(rest).toHaveLength(1);
  });

  it("counts what the store holds", async () => {
    const census = (await json("census", store)) as {
      location: string;
      indexes: unknown[];
      total: { entries: number };
    };
    expect(census.location).toBe(`file://${store}`);
    expect(census.indexes).toHaveLength(4);
    const text = (await inProcess(["census", store])).stdout;
    expect(text).toMatch(/^total +\d+ +[\d.]+ \w+ +[\d.]+ \w+$/mu);
    expect(text).toMatch(/^flights_number +\d+ +ready +5 /mu);
    expect(text).toMatch(/^\(dropped\) +\d+ +dropped +1 /mu);
  });
});

describe("moraine maintain", () => {
  it("names a writer that holds the store, and displaces it only when told", async () => {
    const writer = await Catalog.open({ store });
    expectError(
      await moraine(["maintain", store]),
      6,
      new RegExp(`store locked: process ${process.pid} .*is writing[^]*remedy: .*--take-over\\.\n$`, "u"),
    );
    await writer.commit((tx) => tx.setOption({ scope: "global", key: "k", value: "v" }));
    const swept = await json("maintain", store, "--take-over");
    expect(swept).toEqual({ indexesSwept: 1, indexEntriesReclaimed: 1, fileColumnStatsReclaimed: 0 });
    await expect(writer.commit((tx) => tx.setOption({ scope: "global", key: "k", value: "w" }))).rejects.toMatchObject({
      code: "fenced",
    });
    await writer.close();
    expect(await lines("maintain", store)).toEqual([
      "indexes swept                  0",
      "index entries reclaimed        0",
      "column statistics reclaimed    0",
    ]);
    expect((await jsonHere("census", store)) as object).toMatchObject({ indexes: { length: 3 } });
  });
});

describe("output", () => {
  it("may be cut off by its reader", async () => {
    const cut = await shell(`moraine indexes '${store}' --json | head -n 1`);
    expect([cut.code, cut.stdout, cut.stderr]).toEqual([0, "{\n", ""]);
  });
});

describe("an addon that is named and cannot be used", () => {
  it("is told of, and the command works without it", async () => {
    const { code, stdout, stderr } = await shell(`MORAINE_NATIVE_ADDON=/none moraine tables '${store}'`);
    expect([code, stdout]).toEqual([0, expect.stringContaining("flights")]);
    expect(stderr).toMatch(/works without its native loops.*\/none/u);
    expect((await shell(`MORAINE_NATIVE_ADDON= moraine tables '${store}'`)).stderr).toBe("");
  });

  it("is noticed by a demonstration before that deletes a lake", async () => {
    const lake = join(folder, "kept");
    mkdirSync(join(lake, "store"), { recursive: true });
    writeFileSync(join(lake, ".moraine-demo"), "");
    writeFileSync(join(lake, "store/kept"), "");
    const refused = await shell(`MORAINE_NATIVE=on MORAINE_NATIVE_ADDON=/none moraine demo --folder '${lake}'`);
    expectError(refused, 2, /MORAINE_NATIVE is on/u);
    expect(existsSync(join(lake, "store/kept"))).toBe(true);
  });
});

describe("moraine demo", () => {
  it("builds a lake, and every index answers as the scan does", async () => {
    const lake = join(folder, "demo");
    const { code, stdout, stderr } = await moraine(["demo", "--folder", lake, "--rows", "12000"]);
    expect([code, stderr]).toEqual([0, ""]);
    // Three more in SQL, where that can be had.
    const answers = extensionAvailable ? 36 : 33;
    expect(stdout).toMatch(
      new RegExp(`All ${answers} answers equal those of the scans, all \\d+ expectations hold\\.`, "u"),
    );
    expect(stdout).toMatch(extensionAvailable ? /CREATE UNIQUE INDEX .* ms/u : /left out: /u);
    expect(stdout).not.toMatch(/WRONG|DIFFERENT/u);
    expect(readdirSync(lake).sort()).toEqual([".moraine-demo", "data", "store"]);
    expect((await inProcess(["lookup", join(lake, "store"), "flights_id", "4711"])).stdout).toBe("4710\n");
  });

  it("runs once in a folder: a second one leaves the first alone, and says so", async () => {
    const lake = join(folder, "busy");
    const first = start(["demo", "--folder", lake, "--rows", "12000", "--json"]);
    while (!existsSync(join(lake, "store/manifest"))) await new Promise((resolve) => setImmediate(resolve));
    const second = await moraine(["demo", "--folder", lake, "--rows", "12000"]);
    expectError(
      second,
      6,
      new RegExp(`a demonstration is running in ${lake} \\(process ${first.pid}\\)\n.*--folder`, "u"),
    );
    expectError(await moraine(["maintain", `${lake}/store`]), 6, new RegExp(`process ${first.pid} .*is writing`, "u"));
    expect(existsSync(join(lake, "store/manifest"))).toBe(true);
    // Nothing has been printed yet; the interrupt is.
    first.interrupt();
    const { code, stdout, stderr } = await first.outcome;
    expect([code, stdout]).toEqual([130, ""]);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "interrupted", exitStatus: 130 } });
    // The lock of a process that has ended counts for nothing.
    rmSync(lake, { recursive: true });
    const third = start(["demo", "--folder", lake, "--rows", "12000"]);
    while (!existsSync(join(lake, "store/manifest"))) await new Promise((resolve) => setImmediate(resolve));
    third.interrupt();
    expect((await third.outcome).stderr).toMatch(/^moraine: interrupted\n {2}remedy: .+\n$/u);
  });

  it("never deletes what it did not make", async () => {
    writeFileSync(join(folder, "precious"), "");
    expectError(await inProcess(["demo", "--folder", folder]), 2, /is not empty/u);
    expect(existsSync(join(folder, "precious"))).toBe(true);
    expectError(await inProcess(["demo", "--folder", join(folder, "precious")]), 2, /is a file, no folder/u);
    expectError(
      await inProcess(["demo", "--folder", join(folder, "few"), "--rows", "5"]),
      2,
      /'5' is invalid.* from 12,000 to 3,000,000\./u,
    );
    expect(existsSync(join(folder, "few"))).toBe(false);
  });
});
