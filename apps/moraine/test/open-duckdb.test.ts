import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  Catalog,
  ConfigurationError,
  InvalidArgumentError,
  mainSchema,
  openDuckDB,
  type OpenDuckDbOptions,
} from "moraine";
import { afterAll, describe, expect, it } from "vitest";
import { extensionAvailable, stopServices } from "./support/services.js";

const folder = mkdtempSync(join(tmpdir(), "moraine-open-duckdb-"));
process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
afterAll(async () => {
  await stopServices(folder);
  rmSync(folder, { recursive: true, force: true });
});

describe("openDuckDB", () => {
  it.each<[string, unknown]>([
    ["options", undefined],
    ["options", "store"],
    ["dataFolder", { store: "x", dataFolder: "y" }],
    ["store", {}],
    ["store", { store: "" }],
    ["store", { store: 1 }],
    ["dataPath", { store: "x", dataPath: null }],
    ["name", { store: "x", name: "" }],
    ["readOnly", { store: "x", readOnly: "yes" }],
    ["database", { store: "x", database: 1 }],
    ["settings", { store: "x", settings: { threads: 4 } }],
    ["settings", { store: "x", settings: ["threads"] }],
    ["engine", { store: "x", engine: "threads" }],
    ["engine", { store: "x", engine: null }],
  ])("refuses wrong %s", async (name, options) => {
    const failed = openDuckDB(options as OpenDuckDbOptions);
    await expect(failed).rejects.toBeInstanceOf(InvalidArgumentError);
    await expect(failed).rejects.toThrow(name);
  });

  it("says where there is no extension", async () => {
    process.env["MORAINE_EXTENSION"] = join(folder, "nothing");
    try {
      await expect(openDuckDB({ store: join(folder, "none") })).rejects.toBeInstanceOf(ConfigurationError);
    } finally {
      delete process.env["MORAINE_EXTENSION"];
    }
  });

  describe.skipIf(!extensionAvailable)("with the extension", () => {
    const store = join(folder, "store");
    const count = async (options: Partial<OpenDuckDbOptions>, sql: string): Promise<unknown> => {
      await using duckDb = await openDuckDB({ store, ...options });
      return (await duckDb.connection.runAndReadAll(sql)).getRows();
    };

    it("works on the lake of the embedding API, and the other way round", async () => {
      {
        await using catalog = await Catalog.open({ store, dataPath: join(folder, "data") });
        await catalog.commit((tx) => {
          const table = tx.createTable({
            schema: mainSchema,
            name: "t",
            columns: [{ name: "a", columnType: "BIGINT" }],
          });
          tx.createIndex({ table, name: "u", columns: ["a"], unique: true });
          tx.inlineInsert({ table, rows: [{ a: 1 }] });
        });
      }
      {
        await using duckDb = await openDuckDB({ store, settings: { threads: "1" } });
        await duckDb.connection.run("INSERT INTO t VALUES (2)");
        await expect(duckDb.connection.run("INSERT INTO t VALUES (1)")).rejects.toThrow(
          /constraint violation: index "u"/u,
        );
        const found = await duckDb.connection.runAndReadAll(
          "SELECT row_id FROM moraine_index_lookup('lake', 'main', 't', 'u', 2)",
        );
        expect(found.getRows()).toEqual([[1n]]);
        const other = await duckDb.instance.connect();
        expect((await other.runAndReadAll("SELECT count(*) FROM lake.main.t")).getRows()).toEqual([[2n]]);
        other.closeSync();
      }
      await using reader = await Catalog.openReadOnly({ store });
      const [table] = (await reader.snapshot()).tablesIn(mainSchema);
      const rows = table === undefined ? [] : await reader.recentRows({ table: table.id });
      expect(rows.map(({ values }) => values["a"])).toEqual([1n, 2n]);
    });

    it("takes a name, a database and the wish to read only", async () => {
      expect(await count({ name: "my lake", readOnly: true }, 'SELECT count(*) FROM "my lake".main.t')).toEqual([[2n]]);
      await expect(count({ readOnly: true }, "INSERT INTO t VALUES (3)")).rejects.toThrow(/read-only/u);
      const database = join(folder, "own.duckdb");
      await count({ database }, "CREATE TABLE own.main.kept AS SELECT count(*) AS n FROM t");
      expect(await count({ database }, "FROM own.main.kept")).toEqual([[2n]]);
    });

    it("has the service in a thread of this process where that is asked for", async () => {
      const threaded = { store: join(folder, "threaded") };
      {
        await using duckDb = await openDuckDB({ ...threaded, dataPath: join(folder, "more"), engine: "thread" });
        await duckDb.connection.run("CREATE TABLE t(a BIGINT)");
        await expect(Catalog.open(threaded)).rejects.toMatchObject({ code: "store_locked" });
        await using catalog = await Catalog.connect(threaded);
        const [table] = (await catalog.snapshot()).tablesIn(mainSchema);
        if (table !== undefined) await catalog.commit((tx) => tx.inlineInsert({ table: table.id, rows: [{ a: 5 }] }));
        expect((await duckDb.connection.runAndReadAll("FROM t")).getRows()).toEqual([[5n]]);
      }
      // With the last of those that were opened so the service has gone.
      await using catalog = await Catalog.open(threaded);
      const [table] = (await catalog.snapshot()).tablesIn(mainSchema);
      expect(table?.name).toBe("t");
    });

    it("leaves nothing open where it fails", async () => {
      await expect(openDuckDB({ store: join(folder, "nowhere") })).rejects.toThrow(/creating a new DuckLake/u);
      await expect(openDuckDB({ store, dataPath: join(folder, "elsewhere") })).rejects.toThrow(/data path/u);
      expect(await count({}, "SELECT count(*) FROM t")).toEqual([[2n]]);
    });
  });
});
