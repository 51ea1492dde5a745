// `moraine sql` and `moraine duckdb-init` with the extension that was built here.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Writable } from "node:stream";
import { DuckDBInstance } from "@duckdb/node-api";
import { Catalog } from "moraine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { printResult } from "../src/cli/sql-result.js";
import { build, inProcess, moraine } from "./support/command.js";
import { extensionAvailable, stopServices } from "./support/services.js";

const folder = mkdtempSync(join(tmpdir(), "moraine-sql-"));
const store = join(folder, "store");
const dataPath = join(folder, "data");
process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");

describe.skipIf(!extensionAvailable)("with the extension", () => {
  beforeAll(async () => {
    build();
    const setUp =
      "CREATE TABLE t(a BIGINT, b VARCHAR); CREATE UNIQUE INDEX u ON t(a); INSERT INTO t VALUES (1, 'x'), (2, NULL)";
    const made = await inProcess(["sql", store, "--data-path", dataPath, "-c", setUp]);
    expect(made.stderr).toBe("");
    expect(made.stdout).toMatch(/^done .*\ndone .*\n2 rows changed .*\n$/u);
  }, 120_000);
  afterAll(async () => {
    await stopServices(folder);
    rmSync(folder, { recursive: true, force: true });
  });

  describe("moraine sql", () => {
    it("prints one array with the rows of each statement", async () => {
      const sql = "SELECT a, b FROM t ORDER BY a; CREATE TABLE c(d INTEGER); DROP TABLE c; FROM t WHERE a = 9";
      const { code, stdout, stderr } = await inProcess(["sql", store, "--json", "-c", sql]);
      expect([code, stderr]).toEqual([0, ""]);
      expect(JSON.parse(stdout)).toEqual([
        [
          { a: "1", b: "x" },
          { a: "2", b: null },
        ],
        [],
        [],
        [],
      ]);
    });

    it("ends with the first statement that fails, and its status", async () => {
      const refused = await inProcess([
        "sql",
        store,
        "-c",
        "SELECT 7 AS seven; INSERT INTO t VALUES (1, 'y'); SELECT 8",
      ]);
      expect(refused.code).toBe(4);
      expect(refused.stdout).toMatch(/^seven\n +7\n1 row .*\n$/u);
      expect(refused.stderr).toMatch(
        /^moraine: statement 2 of 3: constraint violation: index "u".*\n {2}remedy: Delete.*\n$/u,
      );
      const wrong = await inProcess(["sql", store, "--json", "-c", "SELECT 7; SELECT nosuch FROM t"]);
      expect([wrong.code, wrong.stdout]).toEqual([2, ""]);
      expect(JSON.parse(wrong.stderr)).toMatchObject({ error: { code: "sql", exitStatus: 2 } });
    });

    it("reads stdin to its end, whatever fails", async () => {
      const input = "SELECT 'a;b' AS s;\nSELEC;\nSELECT count(*) AS n\nFROM t";
      const asText = await moraine(["sql", store], input);
      expect(asText.code).toBe(2);
      expect(asText.stdout).toMatch(/^s\na;b\n1 row .*\nn\n2\n1 row .*\n$/u);
      expect(asText.stderr).toMatch(
        /^line 2: Parser Error[^]*\nmoraine: 1 of 3 statements failed; the others have run\n/u,
      );
      const asJson = await inProcess(["sql", store, "--json"], input);
      expect(asJson.code).toBe(2);
      expect(JSON.parse(asJson.stdout)).toEqual([
        [{ s: "a;b" }],
        { error: expect.objectContaining({ code: "sql", exitStatus: 2 }) as unknown },
        [{ n: "2" }],
      ]);
    });

    it("reads only where that is asked for", async () => {
      const { code, stderr } = await inProcess(["sql", store, "--read-only", "-c", "INSERT INTO t VALUES (9, 'z')"]);
      expect(code).toBe(2);
      expect(stderr).toContain("read-only mode");
      const read = await inProcess(["sql", store, "--read-only", "--json", "-c", "SELECT count(*) AS n FROM t"]);
      expect(JSON.parse(read.stdout)).toEqual([[{ n: "2" }]]);
    });

    it("names who else writes", async () => {
      const held = join(folder, "held");
      await using catalog = await Catalog.open({ store: held, dataPath: join(folder, "held-data") });
      expect((await catalog.snapshot()).schemas()).toHaveLength(1);
      const { code, stderr } = await inProcess(["sql", held, "-c", "SELECT 1"]);
      expect(code).toBe(6);
      expect(stderr).toMatch(
        new RegExp(`^moraine: store locked: process ${process.pid} .*\\n {2}remedy: .*--read-only\\.\\n$`, "u"),
      );
      const read = await inProcess(["sql", held, "--read-only", "--json", "-c", "SHOW TABLES"]);
      expect(JSON.parse(read.stdout)).toEqual([[]]);
    });

    it("says what is missing", async () => {
      const nowhere = join(folder, "nowhere");
      const noFolder = await inProcess(["sql", nowhere, "-c", "SELECT 1"]);
      expect(noFolder.code).toBe(3);
      expect(noFolder.stderr).toMatch(/no lake in the store\n {2}remedy: .*--data-path/u);
      const noLake = await inProcess(["sql", nowhere, "--read-only", "-c", "SELECT 1"]);
      expect(noLake.code).toBe(3);
      expect(noLake.stderr).toMatch(/^moraine: not found: .*\n {2}remedy: /u);
      const other = await inProcess(["sql", store, "--data-path", join(folder, "other"), "-c", "SELECT 1"]);
      expect(other.code).toBe(2);
      expect(other.stderr).toMatch(/DATA_PATH[^]*remedy: Leave --data-path out/u);
    });
  });

  describe("moraine duckdb-init", () => {
    it("prints statements that any DuckDB runs, wherever it is started", async () => {
      const { code, stdout } = await inProcess(["duckdb-init", store, "--name", "my lake", "--read-only"]);
      expect(code).toBe(0);
      const statements = stdout.trimEnd().split("\n");
      expect(statements.slice(2)).toEqual([
        `ATTACH 'ducklake:moraine:${store}' AS "my lake" (CREATE_IF_NOT_EXISTS false, READ_ONLY);`,
        'USE "my lake";',
      ]);
      const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
      const connection = await instance.connect();
      await connection.run(stdout);
      expect((await connection.runAndReadAll("SELECT count(*) FROM t")).getRows()).toEqual([[2n]]);
      connection.closeSync();
      instance.closeSync();
      const relative = await inProcess(["duckdb-init", "some/lake", "--data-path", "s3://bucket/data", "--json"]);
      const { statements: listed } = JSON.parse(relative.stdout) as { statements: string[] };
      expect(listed).toContain(
        `ATTACH 'ducklake:moraine:${join(process.cwd(), "some/lake")}' AS "lake" (DATA_PATH 's3://bucket/data')`,
      );
    });
  });
});

describe("without the extension", () => {
  it.each([["sql", "-c", "SELECT 1"], ["duckdb-init"]])("%s says so", async (command, ...rest) => {
    process.env["MORAINE_EXTENSION"] = join(folder, "nothing.duckdb_extension");
    try {
      const { code, stderr } = await inProcess([command, store, ...rest]);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^moraine: configuration: MORAINE_EXTENSION names .*\n {2}remedy: /u);
    } finally {
      delete process.env["MORAINE_EXTENSION"];
    }
  });
});

describe("at a terminal", () => {
  const print = (width: number, columns: readonly string[], rows: readonly string[][], rowCount: number): string[] => {
    const parts: string[] = [];
    const stdout = Object.assign(
      new Writable({
        write: (chunk: Buffer, _, done) => {
          parts.push(chunk.toString("utf8"));
          done();
        },
      }),
      { isTTY: true, columns: width },
    );
    const numeric = columns.map((name) => name === "n");
    const result = { columns, numeric, rows, rowCount, changed: undefined, elapsedMs: 1 };
    printResult({ output: { stdout, stderr: stdout }, stdin: process.stdin }, result);
    return parts.join("").trimEnd().split("\n");
  };

  it("rows beyond a screen are counted, and columns that do not fit", () => {
    expect(print(80, ["n", "b"], [["1", "x"]], 1)).toEqual(["n  b", "1  x", expect.stringMatching(/^1 row \(/u)]);
    expect(print(80, ["n"], [["1"], ["22"]], 1200).at(-1)).toMatch(/^1,200 rows, 1,198 more than shown \(/u);
    expect(print(10, ["n", "abcd", "efgh"], [["1", "x", "y"]], 1)).toEqual([
      "n  abcd",
      "1  x",
      expect.stringMatching(/^1 row, 1 more columns than fit \(/u),
    ]);
    expect(print(3, ["abcdef"], [["x"]], 1)[0]).toBe("abcdef");
  });

  it("a long value is cut", () => {
    expect(print(200, ["b"], [["y".repeat(300)]], 1)[1]).toBe(`${"y".repeat(79)}…`);
  });
});
