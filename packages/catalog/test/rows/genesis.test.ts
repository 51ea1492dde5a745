import { CommitConflictError, ConstraintError, UnsupportedError } from "@moraine/codec";
import { dropMemoryStore, openStore } from "@moraine/store";
import { afterEach, describe, expect, it } from "vitest";
import { Catalog, genesisOf } from "../../src/index.js";
import { metadataTables } from "../../src/rows/metadata-tables.js";
import type { RowChanges } from "../../src/rows/row-changes.js";
import { ddl } from "../support/row-batches.js";
import { MetadataDatabase } from "../support/metadata-database.js";

const uuid = "5eed0000-0000-4000-8000-000000000001";
const timeMicros = 1_234_567n;

interface Variant {
  readonly version?: string;
  readonly encrypted?: string;
  readonly dataPath?: string | null;
}

/** The transaction by which DuckLake creates a lake. */
function creation({ version = "1.0", encrypted = "false", dataPath = "/lake/data/" }: Variant = {}): RowChanges {
  const database = new MetadataDatabase();
  database.insert("ducklake_snapshot", [0n, timeMicros, 0n, 1n, 0n]);
  database.insert("ducklake_snapshot_changes", [0n, 'created_schema:"main"', null, null, null]);
  database.insert("ducklake_metadata", ["version", version], ["created_by", "DuckDB abc"], ["encrypted", encrypted]);
  if (dataPath !== null) database.insert("ducklake_metadata", ["data_path", dataPath]);
  database.insert("ducklake_schema", [0n, uuid, 0n, null, "main", "main/", true]);
  const created = Object.entries(metadataTables).map(([name, columns]) => ddl("create_table", name, columns));
  return { ddl: [ddl("create_schema", "main", []), ...created], tables: database.changes().tables };
}

const location = `memory://genesis-${process.pid}`;
afterEach(() => dropMemoryStore(location));

describe("the transaction that creates a lake", () => {
  it("gives the lake what DuckLake chose for it", async () => {
    expect(genesisOf(creation({ encrypted: "true" }))).toEqual({
      schemaUuid: uuid,
      snapshotTimeMicros: timeMicros,
      dataPath: "/lake/data/",
      encrypted: true,
    });
    const catalog = await Catalog.open({ store: await openStore(location), genesis: creation() });
    const snapshot = await catalog.snapshot();
    expect(catalog.revision).toBe(0n);
    expect(snapshot.currentSnapshot).toMatchObject({ id: 0n, timeMicros });
    expect(snapshot.schemaByName("main")).toMatchObject({ uuid });
    expect(snapshot.dataPath()).toBe("/lake/data/");
    expect(snapshot.option("global", "encrypted")).toBe("false");
    await catalog.close();
  });

  it("is overtaken where the lake is there", async () => {
    await (await Catalog.open({ store: await openStore(location) })).close();
    await expect(openStore(location).then((store) => Catalog.open({ store, genesis: creation() }))).rejects.toThrow(
      CommitConflictError,
    );
  });

  it("is refused for another version of the catalog", () => {
    const error = (() => {
      try {
        return genesisOf(creation({ version: "1.1" }));
      } catch (cause) {
        return cause;
      }
    })();
    expect(error).toBeInstanceOf(UnsupportedError);
    expect((error as Error).message).toMatch(/1\.1.*1\.0/);
  });

  const good = creation();
  const without = (name: string): RowChanges => ({
    ...good,
    tables: good.tables.filter((table) => table.name !== name),
  });
  it.each<[string, RowChanges]>([
    ["nothing", { ddl: [], tables: [] }],
    ["a table less", { ...good, ddl: good.ddl.filter(({ name }) => name !== "ducklake_macro") }],
    ["a table more", { ...good, ddl: [...good.ddl, ddl("create_table", "mine", [])] }],
    ["no snapshot", without("ducklake_snapshot")],
    ["no schema", without("ducklake_schema")],
    ["no data path", creation({ dataPath: null })],
    ["no word on encryption", creation({ encrypted: "maybe" })],
    ["rows twice", { ...good, tables: [...good.tables, ...good.tables] }],
  ])("has to be whole, and nothing else: %s", (_, changes) => {
    expect(() => genesisOf(changes)).toThrow(ConstraintError);
  });
});
