import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LakeService, StoreOpener } from "../src/index.js";
import { extensionAvailable, loadExtensions } from "./extensions.js";
import { listenFor } from "./support/scripted-service.js";
import { socketServer } from "./support/socket-server.js";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "moraine-sql-")));
const store = join(folder, "store");
const lake = new LakeService(new StoreOpener(store));
const server = socketServer(lake);
const instances: DuckDBInstance[] = [];
let one: DuckDBConnection;
/** Of another database, as another process has it. */
let other: DuckDBConnection;

async function attached(options: string): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
  instances.push(instance);
  const connection = await instance.connect();
  await connection.run(loadExtensions());
  await connection.run(`ATTACH 'ducklake:moraine:${store}' AS lake (${options})`);
  return connection;
}

async function rows(connection: DuckDBConnection, sql: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(sql)).getRows();
}

beforeAll(async () => {
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
  await listenFor(server, join(folder, "run"), store);
  one = await attached(`DATA_PATH '${folder}/data/'`);
  await one.run(`CREATE TABLE lake.t(id BIGINT, region VARCHAR);
    INSERT INTO lake.t SELECT i, 'r' || (i % 5) FROM range(500) r(i); INSERT INTO lake.t VALUES (500, NULL);
    CREATE UNIQUE INDEX by_id ON lake.t(id); CREATE INDEX by_region ON lake.t(region, id)`);
  other = await attached("READ_WRITE");
});

afterAll(async () => {
  // Detached while this thread is free to answer: closing blocks it.
  for (const connection of [one, other]) {
    await connection.run("DETACH lake");
    connection.closeSync();
  }
  for (const instance of instances) instance.closeSync();
  await lake.close();
  server.close();
  rmSync(folder, { recursive: true });
});

test.skipIf(!extensionAvailable)(
  "a statement of the same connection, and of another process, sees an index that was created or dropped",
  async () => {
    const names = "SELECT index_name FROM moraine_indexes('lake', 'main', 't') ORDER BY index_name";
    for (const connection of [one, other]) expect(await rows(connection, names)).toEqual([["by_id"], ["by_region"]]);
    await one.run("CREATE INDEX third ON lake.t(region)");
    for (const connection of [one, other]) expect(await rows(connection, names)).toHaveLength(3);
    await other.run("DROP INDEX lake.third");
    for (const connection of [one, other]) expect(await rows(connection, names)).toHaveLength(2);
  },
);

test.skipIf(!extensionAvailable)("reads agree with scans, over files and inlined rows", async () => {
  const cases = [
    ["lookup('lake', 'main', 't', 'by_id', 7)", "id = 7"],
    ["in('lake', 'main', 't', 'by_id', [7, 500, NULL, 9999])", "id IN (7, 500, 9999)"],
    [
      "in('lake', 'main', 't', 'by_region', [row('r1', 6), row('r1', 7), row(NULL, 500)])",
      "region = 'r1' AND id IN (6, 7)",
    ],
    ["range('lake', 'main', 't', 'by_id', 490, NULL, false, true)", "id > 490"],
    [
      "range('lake', 'main', 't', 'by_region', row('r1'), row('r2', 50), true, true)",
      "region = 'r1' OR (region = 'r2' AND id <= 50)",
    ],
    ["nulls('lake', 'main', 't', 'by_region', NULL)", "region IS NULL"],
  ];
  for (const [read, predicate] of cases) {
    const joined = `SELECT t.id FROM lake.t JOIN moraine_index_${read} i ON t.rowid = i.row_id ORDER BY 1`;
    expect(await rows(other, joined)).toEqual(await rows(one, `SELECT id FROM lake.t WHERE ${predicate} ORDER BY 1`));
  }
});

test.skipIf(!extensionAvailable)(
  "S57: a prepared read finds what was found nowhere before, and nothing that is gone",
  async () => {
    const read = await one.prepare(`SELECT t.region FROM lake.t
    JOIN moraine_index_lookup('lake', 'main', 't', 'by_id', 7777) i ON t.rowid = i.row_id`);
    const found = async (): Promise<unknown[][]> => (await read.runAndReadAll()).getRows();
    expect(await found()).toEqual([]);
    await one.run("INSERT INTO lake.t VALUES (7777, 'own')");
    expect(await found()).toEqual([["own"]]);
    await other.run("DELETE FROM lake.t WHERE id = 7777");
    expect(await found()).toEqual([]);
    await other.run("INSERT INTO lake.t VALUES (7777, 'other')");
    expect(await found()).toEqual([["other"]]);
    await one.run("CALL ducklake_flush_inlined_data('lake'); CALL ducklake_merge_adjacent_files('lake')");
    expect(await found()).toEqual([["other"]]);
    await one.run("DROP INDEX lake.by_id");
    await expect(found()).rejects.toThrow('index "by_id"');
    await one.run("CREATE UNIQUE INDEX by_id ON lake.t(id)");
    expect(await found()).toEqual([["other"]]);
  },
);

test.skipIf(!extensionAvailable)("a transaction reads the indexes of its snapshot while others commit", async () => {
  const read = (id: number): Promise<unknown[][]> =>
    rows(
      one,
      `SELECT t.id FROM lake.t JOIN moraine_index_lookup('lake', 'main', 't', 'by_id', ${id}) i ON t.rowid = i.row_id`,
    );
  await one.run("BEGIN");
  expect(await read(10)).toEqual([[10n]]);
  await other.run(
    "DELETE FROM lake.t WHERE id = 10; INSERT INTO lake.t VALUES (8888, 'late'); DROP INDEX lake.by_region",
  );
  expect(await read(10)).toEqual([[10n]]);
  expect(await read(8888)).toEqual([]);
  expect(await rows(one, "FROM moraine_index_lookup('lake', 'main', 't', 'by_region', 'r1', 6)")).toHaveLength(1);
  await one.run("COMMIT");
  expect(await read(10)).toEqual([]);
  expect(await read(8888)).toEqual([[8888n]]);
});

test.skipIf(!extensionAvailable)("a lake that is attached read-only is read and not changed", async () => {
  const reader = await attached("READ_ONLY");
  expect(await rows(reader, "FROM moraine_index_lookup('lake', 'main', 't', 'by_id', 5)")).toHaveLength(1);
  for (const sql of ["CREATE INDEX i ON lake.t(id)", "DROP INDEX lake.by_id", "DROP INDEX IF EXISTS lake.by_id"]) {
    await expect(reader.run(sql)).rejects.toThrow('lake "lake" is attached read-only');
  }
  await reader.run("DETACH lake");
  reader.closeSync();
});
