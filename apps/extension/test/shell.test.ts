// The shell and its statements on DuckDB as it is: they need no lake.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { runStatements, type StatementOptions, type StatementResult } from "../src/shell/run-statements.js";
import { runShell, type ShellSummary } from "../src/shell/shell.js";
import { StatementError } from "../src/shell/statement-error.js";

let instance: DuckDBInstance;
let connection: DuckDBConnection;

beforeAll(async () => {
  instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  connection = await instance.connect();
});
afterAll(() => {
  connection.closeSync();
  instance.closeSync();
});

async function results(sql: string, options: StatementOptions = { form: "text" }): Promise<StatementResult[]> {
  const all: StatementResult[] = [];
  await runStatements(connection, sql, options, (result) => all.push(result));
  return all;
}

const values = `SELECT 9007199254740993 AS i, 12.50::DECIMAL(10, 2) AS d, '\\xAA\\x00b'::BLOB AS b, ['a', NULL] AS l,
  {'x': 1, 'y': 'q'} AS s, MAP {'k': 2} AS m, DATE '2026-02-28' AS day, TIMESTAMP '2026-02-28 12:34:56' AS t,
  INTERVAL 3 DAY AS v, NULL::VARCHAR AS n, true AS yes, 1.5::DOUBLE AS f`;

describe("runStatements", () => {
  it("gives values as DuckDB writes them", async () => {
    const [result] = await results(values);
    expect(result?.rows).toEqual([
      [
        "9007199254740993",
        "12.50",
        "\\xAA\\x00b",
        "['a', NULL]",
        "{'x': 1, 'y': 'q'}",
        "{'k': 2}",
        "2026-02-28",
        "2026-02-28 12:34:56",
        "3 days",
        null,
        "true",
        "1.5",
      ],
    ]);
    const right = result?.columns.filter((_, at) => result.numeric[at]);
    expect(right).toEqual(["i", "d", "f"]);
  });

  it("gives values as JSON has them", async () => {
    const [result] = await results(values, { form: "json" });
    const row = Object.fromEntries((result?.columns ?? []).map((name, at) => [name, result?.rows[0]?.[at]]));
    expect(JSON.parse(JSON.stringify(row))).toEqual({
      i: "9007199254740993",
      d: "12.50",
      b: "\\xAA\\x00b",
      l: ["a", null],
      s: { x: 1, y: "q" },
      m: [{ key: "k", value: 2 }],
      day: "2026-02-28",
      t: "2026-02-28 12:34:56",
      v: { months: 0, days: 3, micros: "0" },
      n: null,
      yes: true,
      f: 1.5,
    });
  });

  it("tells changes from rows, also where none was changed", async () => {
    const all = await results(
      'CREATE OR REPLACE TEMP TABLE c(a BIGINT); INSERT INTO c VALUES (1), (2); DELETE FROM c WHERE a = 9; INSERT INTO c VALUES (3) RETURNING a; SELECT count(*) AS "Count" FROM c',
    );
    expect(all.map(({ changed, rows }) => [changed, rows.length])).toEqual([
      [undefined, 0],
      [2, 1],
      [0, 1],
      [undefined, 1],
      [undefined, 1],
    ]);
    expect(all[0]?.columns).toEqual([]);
    expect(all.at(-1)?.rows).toEqual([["3"]]);
  });

  it("gives no more rows than are wanted, and how many there are", async () => {
    const [result] = await results("FROM range(100000)", { form: "text", rowLimit: 3 });
    expect(result?.rows).toEqual([["0"], ["1"], ["2"]]);
    expect(result?.rowCount).toBe(100_000);
  });

  it("ends with the statement that fails, and names it", async () => {
    const seen: StatementResult[] = [];
    const run = runStatements(connection, "SELECT 1; SELECT nosuch; SELECT 2", { form: "text" }, (one) =>
      seen.push(one),
    );
    await expect(run).rejects.toMatchObject({ statement: 2, statements: 3 });
    await expect(run).rejects.toThrow(/^Binder Error: /u);
    expect(seen).toHaveLength(1);
  });

  it("runs nothing of a text that is no SQL, or has no statement", async () => {
    const seen: StatementResult[] = [];
    const run = runStatements(connection, "SELECT 1; SELEC", { form: "text" }, (one) => seen.push(one));
    await expect(run).rejects.toThrow(/^Parser Error: /u);
    await expect(run).rejects.toBeInstanceOf(StatementError);
    expect(seen).toEqual([]);
    expect(await results(" ;; -- nothing")).toEqual([]);
  });
});

describe("runShell", () => {
  let folder: string;
  const stateHome = process.env["XDG_STATE_HOME"];

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "moraine-shell-"));
    process.env["XDG_STATE_HOME"] = folder;
  });
  afterEach(() => {
    if (stateHome === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = stateHome;
    rmSync(folder, { recursive: true, force: true });
  });

  interface Session {
    readonly summary: ShellSummary;
    readonly shown: readonly (readonly unknown[])[];
    readonly failed: readonly string[];
    readonly warned: readonly string[];
    readonly output: string;
  }

  async function session(
    input: Readable & { isTTY?: boolean },
    onFailure = (): void => undefined,
    output = new PassThrough(),
  ): Promise<Session> {
    const [shown, failed, warned]: [unknown[][], string[], string[]] = [[], [], []];
    const summary = await runShell({
      connection,
      input,
      output,
      form: "text",
      greeting: "hello",
      show: ({ rows }) => shown.push(...rows.map((row) => [...row])),
      failed: (error, line) => {
        failed.push(`${line}: ${error.message.split("\n", 1)[0] ?? ""}`);
        onFailure();
      },
      warn: (message) => warned.push(message),
    });
    output.end();
    return { summary, shown, failed, warned, output: await text(output) };
  }

  const lines = (...typed: string[]): Readable & { isTTY?: boolean } => Readable.from([typed.join("\n")]);

  it("goes on after a statement that fails, over lines and without a last semicolon", async () => {
    const { summary, shown, failed, output } = await session(
      lines("SELECT 1;", "", "SELEC;", "SELECT 'a;", "b',", " 2;", "SELECT nosuch; SELECT 3;", "SELECT 4"),
    );
    expect(shown).toEqual([["1"], ["a;\nb", "2"], ["4"]]);
    expect(failed).toEqual([
      expect.stringMatching(/^3: Parser Error/u) as string,
      expect.stringMatching(/^7: Binder Error/u) as string,
    ]);
    expect([summary.runs, summary.failures.length]).toEqual([5, 2]);
    expect(output).toBe("");
  });

  it.each([".exit", "exit", ".quit", "quit;"])("ends with %s", async (word) => {
    const { shown } = await session(lines("SELECT 1;", word, "SELECT 2;"));
    expect(shown).toEqual([["1"]]);
  });

  it("says which commands it has", async () => {
    const { warned, shown, output } = await session(lines(".tables", ".help", "SELECT 1;"));
    expect(warned).toEqual([expect.stringContaining(".tables")]);
    expect(output).toContain("SHOW TABLES");
    expect(shown).toEqual([["1"]]);
  });

  it("greets, prompts and keeps what was typed at a terminal", async () => {
    const { shown, output } = await session(Object.assign(lines("SELECT 1", "AS a;", ""), { isTTY: true }));
    expect(shown).toEqual([["1"]]);
    expect(output).toMatch(/^hello\n[^]*lake> [^]*\.\.\. /u);
    expect(readFileSync(join(folder, "moraine/sql_history"), "utf8")).toBe("AS a;\nSELECT 1\n");
  });

  it("runs SQL where the history cannot be kept, and says so", async () => {
    writeFileSync(join(folder, "moraine"), "");
    const { shown, warned } = await session(Object.assign(lines("SELECT 1;", ""), { isTTY: true }));
    expect(shown).toEqual([["1"]]);
    expect(warned).toEqual([expect.stringMatching(/history .* cannot be read/u)]);
  });

  it("stops what runs on Ctrl-C", async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    input.write("SELECT count(*) FROM range(100000000000) a(i), range(100000) b(j) WHERE hash(i + j) = 42;\n");
    // Pressed until it has an effect: there is no telling when DuckDB has begun.
    const pressing = setInterval(() => input.write("\u0003"), 100);
    const { failed, shown } = await session(input, () => {
      clearInterval(pressing);
      input.end("SELECT 5;\n");
    });
    expect(failed).toEqual([expect.stringMatching(/INTERRUPT/iu)]);
    expect(shown).toEqual([["5"]]);
  });

  it("forgets on Ctrl-C what was typed", async () => {
    const input = Object.assign(new PassThrough(), { isTTY: true });
    const output = new PassThrough();
    let isPressed = false;
    output.on("data", (chunk: Buffer) => {
      if (isPressed || !chunk.toString("utf8").includes("  ... ")) return;
      isPressed = true;
      input.write("\u0003");
      input.end("SELECT 5;\n");
    });
    input.write("SELECT (1,\n");
    const { failed, shown } = await session(input, undefined, output);
    expect([failed, shown, isPressed]).toEqual([[], [["5"]], true]);
  });
});
