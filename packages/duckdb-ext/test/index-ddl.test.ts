import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { extensionAvailable } from "./extensions.js";
import type { Message } from "../src/index.js";
import { ScriptedLake } from "./support/scripted-lake.js";

let lake: ScriptedLake;

beforeAll(async () => {
  lake = await ScriptedLake.open();
  await lake.connection.run(`CREATE TABLE lake.t(a BIGINT, b VARCHAR, s STRUCT(x INTEGER), "Odd ""Name" INTEGER);
    CREATE VIEW lake.v AS FROM lake.t; CREATE SCHEMA lake."S 1"; CREATE TABLE lake."S 1"."T.1"("select" INTEGER);
    CREATE TABLE plain(a INTEGER)`);
});

afterAll(async () => lake.close());

beforeEach(() => {
  lake.service.take();
  lake.service.script = (request) =>
    request.type === "drop_index" && request.name === "missing" && !request.ifExists
      ? { type: "failed", code: "not_found", exception: "Catalog", retryable: false, message: "no index missing" }
      : { type: "done", changed: true };
});

/** What a statement asks of the service. */
async function asked(sql: string): Promise<Message[]> {
  expect(await lake.rows(sql)).toEqual([]);
  return lake.service.take();
}

function creation(table: string, name: string, columns: string[], more: object = {}): object {
  const schema = "main";
  const rest = { unique: false, ifNotExists: false, options: new Map(), attachment: 1n };
  return { type: "create_index", schema, table, name, columns, ...rest, ...more };
}

function removal(schema: string, name: string, ifExists = false): object {
  return { type: "drop_index", attachment: 1n, schema, name, ifExists };
}

describe.skipIf(!extensionAvailable)("what a statement asks", () => {
  test("CREATE INDEX", async () => {
    expect(await asked("CREATE INDEX i ON lake.t(a)")).toEqual([creation("t", "i", ["a"])]);
    expect(await asked("CREATE INDEX i ON LAKE.main.T USING art (A, b DESC)")).toEqual([
      creation("t", "i", ["a", "b"]),
    ]);
    const unique = { unique: true, ifNotExists: true };
    expect(await asked("CREATE UNIQUE INDEX IF NOT EXISTS i ON lake.t(a)")).toEqual([
      creation("t", "i", ["a"], unique),
    ]);
    expect(await asked(`CREATE INDEX "My.I" ON lake.t("odd ""name")`)).toEqual([creation("t", "My.I", ['Odd "Name'])]);
    const quoted = creation("T.1", "i", ["select"], { schema: "S 1" });
    expect(await asked(`CREATE INDEX i ON lake."s 1"."t.1"("SELECT")`)).toEqual([quoted]);
  });

  test("options, as text", async () => {
    const options = new Map([
      ["directions", "[desc]"],
      ["staged", "true"],
      ["step_entries", "100000"],
    ]);
    const sql = "CREATE INDEX i ON lake.t(a) WITH (STAGED, step_entries = 100_000, directions = '[desc]')";
    expect(await asked(sql)).toEqual([creation("t", "i", ["a"], { options })]);
  });

  test("DROP INDEX", async () => {
    expect(await asked("DROP INDEX lake.main.i")).toEqual([removal("main", "i")]);
    expect(await asked("DROP INDEX lake.i CASCADE")).toEqual([removal("main", "i")]);
    expect(await asked("DROP INDEX IF EXISTS lake.main.missing")).toEqual([removal("main", "missing", true)]);
    expect(await asked(`DROP INDEX lake."S 1"."i.x"`)).toEqual([removal("S 1", "i.x")]);
    expect(await lake.failure("DROP INDEX lake.missing")).toBe("Catalog Error: no index missing");
  });

  test("names resolve by the search path", async () => {
    await lake.connection.run("USE lake");
    expect(await asked("CREATE INDEX i ON t(a)")).toEqual([creation("t", "i", ["a"])]);
    expect(await asked("DROP INDEX i")).toEqual([removal("main", "i")]);
    expect(await asked("DROP INDEX IF EXISTS main.i")).toEqual([removal("main", "i", true)]);
    await lake.connection.run(`USE lake."S 1"`);
    expect(await asked(`CREATE INDEX i ON "T.1"("select")`)).toEqual([
      creation("T.1", "i", ["select"], { schema: "S 1" }),
    ]);
    expect(await asked("DROP INDEX i")).toEqual([removal("S 1", "i")]);
    await lake.connection.run("USE memory");
  });

  test("several statements in one string, with comments", async () => {
    const both = [creation("t", "i", ["a"]), removal("main", "j")];
    expect(await asked("/* ; */ CREATE INDEX i ON lake.t(a); -- a\nDROP INDEX lake.j")).toEqual(both);
  });
});

describe.skipIf(!extensionAvailable)("when it is asked", () => {
  test("EXPLAIN shows a plan and asks nothing", async () => {
    const [create] = await lake.rows("EXPLAIN CREATE INDEX i ON lake.t(a, b)");
    expect(create?.[1]).toMatch(/CREATE_INDEX[^]*Index: i [^]*lake\.main\.t[^]*Columns: a, b/);
    for (const sql of ["EXPLAIN DROP INDEX lake.i", "EXPLAIN DROP INDEX IF EXISTS lake.i"]) {
      const [drop] = await lake.rows(sql);
      expect(drop?.[1]).toMatch(/DROP_INDEX[^]*lake\.main\.i/);
    }
    expect(lake.service.take()).toEqual([]);
  });

  test("EXPLAIN ANALYZE runs it", async () => {
    await lake.rows("EXPLAIN ANALYZE CREATE INDEX i ON lake.t(a)");
    await lake.rows("EXPLAIN ANALYZE DROP INDEX IF EXISTS lake.i");
    expect(lake.service.take()).toEqual([creation("t", "i", ["a"]), removal("main", "i", true)]);
  });

  test("once for each execution of a prepared statement, bound anew when the table has changed", async () => {
    const create = await lake.connection.prepare("CREATE INDEX i ON lake.t(b)");
    const drop = await lake.connection.prepare("DROP INDEX IF EXISTS lake.i");
    expect(lake.service.take()).toEqual([]);
    await create.run();
    await drop.run();
    await create.run();
    await drop.run();
    const once = [creation("t", "i", ["b"]), removal("main", "i", true)];
    expect(lake.service.take()).toEqual([...once, ...once]);
    await lake.connection.run("ALTER TABLE lake.t RENAME b TO renamed");
    await expect(create.run()).rejects.toThrow('table "t" has no column "b"');
    await lake.connection.run("ALTER TABLE lake.t RENAME renamed TO b");
    await create.run();
    expect(lake.service.take()).toEqual(once.slice(0, 1));
  });

  test("never inside a transaction that was begun, which stays usable", async () => {
    const create = await lake.connection.prepare("CREATE INDEX i ON lake.t(b)");
    await lake.connection.run("BEGIN; CREATE TABLE lake.kept(a INTEGER)");
    const message =
      'CREATE INDEX "i" commits by itself and cannot run inside a transaction that was begun; COMMIT or ROLLBACK it first';
    expect(await lake.failure("CREATE INDEX i ON lake.t(a)")).toBe(`Binder Error: ${message}`);
    expect(await lake.failure("DROP INDEX lake.i")).toContain("commits by itself");
    expect(await lake.failure("DROP INDEX IF EXISTS lake.i")).toContain("commits by itself");
    await expect(create.run()).rejects.toThrow(message);
    await lake.rows("EXPLAIN CREATE INDEX i ON lake.t(a)");
    await lake.connection.run("COMMIT");
    expect(lake.service.take()).toEqual([]);
    expect(await lake.rows("FROM lake.kept")).toEqual([]);
  });

  test("a statement that is interrupted while it waits ends", async () => {
    let running: Promise<string> | undefined;
    await new Promise<void>((waits) => {
      lake.service.script = () => {
        waits();
        return undefined;
      };
      running = lake.failure("CREATE INDEX i ON lake.t(a)");
    });
    lake.connection.interrupt();
    expect(await running).toContain("INTERRUPT");
    lake.service.script = () => ({ type: "done", changed: true });
    lake.service.take();
    expect(await asked("CREATE INDEX i ON lake.t(a)")).toHaveLength(1);
  });
});

describe.skipIf(!extensionAvailable)("what is refused", () => {
  test.each([
    ["CREATE INDEX i ON lake.t(nope)", 'table "t" has no column "nope"; it has: a, b, s, Odd "Name'],
    ["CREATE INDEX i ON lake.t(rowid)", 'table "t" has no column "rowid"'],
    ["CREATE INDEX i ON lake.t(a, A)", 'column "a" is named twice; name each column once'],
    ["CREATE INDEX i ON lake.t((a + 1))", "is on columns, not on expressions"],
    ["CREATE INDEX i ON lake.t(lower(b))", "is on columns, not on expressions"],
    ["CREATE INDEX i ON lake.t((s.x))", "or on fields of columns"],
    ["CREATE INDEX i ON lake.v(a)", '"v" is a view; index the table that it reads'],
    ["CREATE INDEX i ON lake.t USING hash (a)", "USING HASH is not offered"],
    ["CREATE INDEX i ON lake.t(a) WITH (staged = NULL)", 'option "staged" is NULL'],
    ["CREATE INDEX i ON __ducklake_metadata_lake.ducklake_table(table_id)", "is DuckLake's own metadata"],
    ["CREATE INDEX i ON lake.t(a) WHERE a > 1", "partial indexes"],
  ])("%s", async (sql, message) => {
    expect(await lake.failure(sql)).toContain(message);
    expect(lake.service.take()).toEqual([]);
  });
});

describe.skipIf(!extensionAvailable)("what stays DuckDB's", () => {
  test("its own errors", async () => {
    expect(await lake.failure("CREATE INDEX i ON lake.nope(a)")).toBe(
      "Catalog Error: Table with name nope does not exist!",
    );
    expect(await lake.failure("CREATE INDEX i ON plain(b)")).toContain(
      'Table "plain" does not have a column named "b"',
    );
    expect(await lake.failure("DROP INDEX i")).toBe("Catalog Error: Index with name i does not exist!");
    expect(await lake.failure("DROP INDEX nowhere.main.i")).toContain('Catalog "nowhere" does not exist');
    expect(await lake.failure("CREATE TABLE lake.u(a INTEGER PRIMARY KEY)")).toContain("not supported in DuckLake");
    expect(lake.service.take()).toEqual([]);
  });

  test("indexes of its own tables, wherever the search path finds them", async () => {
    expect(await asked("CREATE INDEX own ON plain(a); DROP INDEX own; CREATE INDEX own ON plain(a)")).toEqual([]);
    await lake.connection.run("SET search_path = 'lake.main,memory.main'");
    expect(await asked("DROP INDEX own")).toEqual([]);
    expect(await asked("DROP INDEX own")).toEqual([removal("main", "own")]);
    await lake.connection.run("USE memory");
  });

  test("lakes on a DuckDB file", async () => {
    await lake.connection.run(`ATTACH 'ducklake:${lake.folder}/stock.db' AS stock (DATA_PATH '${lake.folder}/stock/')`);
    await lake.connection.run("CREATE TABLE stock.t(a INTEGER)");
    expect(await lake.failure("CREATE INDEX i ON stock.t(a)")).toContain("DuckLake does not support indexes");
    expect(await lake.failure("DROP INDEX stock.main.i")).toBe("Catalog Error: Index with name i does not exist!");
    expect(await asked("DROP INDEX IF EXISTS stock.main.i")).toEqual([]);
  });
});
