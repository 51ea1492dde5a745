// Several lakes in one store, told apart by DuckLake's METADATA_SCHEMA.
import { existsSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";
import { Catalog, readStoreLakes, writeStoreLakes } from "@moraine/catalog";
import { openStore } from "@moraine/store";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LakeService, StoreOpener } from "../src/index.js";
import { extensionAvailable, loadExtensions } from "./extensions.js";
import { listenFor } from "./support/scripted-service.js";
import { socketServer } from "./support/socket-server.js";

let folder: string;
let store: string;
let service: RunningService;
let instances: DuckDBInstance[] = [];

/** A service in this process, as the one that comes after another's end. */
class RunningService {
  readonly lake: LakeService;
  readonly #opener: StoreOpener;
  readonly #server: ReturnType<typeof socketServer>;
  readonly #sockets = new Set<{ destroy(): void }>();

  private constructor() {
    this.#opener = new StoreOpener(store);
    this.lake = new LakeService(this.#opener);
    this.#server = socketServer(this.lake).on("connection", (socket) => this.#sockets.add(socket));
  }

  static async start(): Promise<RunningService> {
    const started = new RunningService();
    await listenFor(started.#server, join(folder, "run"), store);
    return started;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => void this.#server.close(resolve));
    await this.lake.close();
    await this.#opener.close();
  }
}

/** A DuckDB of its own, as another process has it. */
async function duckDb(): Promise<DuckDBConnection> {
  const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true" });
  instances.push(instance);
  const connection = await instance.connect();
  await connection.run(loadExtensions());
  return connection;
}

function attach(alias: string, schema?: string, more = ""): string {
  const data = `DATA_PATH '${folder}/${alias}/'`;
  const named = schema === undefined ? "" : `, METADATA_SCHEMA '${schema.replaceAll("'", "''")}'`;
  return `ATTACH 'ducklake:moraine:${store}' AS ${alias} (${data}${named}${more})`;
}

async function rows(connection: DuckDBConnection, sql: string): Promise<unknown[][]> {
  return (await connection.runAndReadAll(sql)).getRows();
}

async function failure(connection: DuckDBConnection, sql: string): Promise<string> {
  try {
    await connection.run(sql);
  } catch (error) {
    if (error instanceof Error) return error.message;
  }
  throw new Error(`did not fail: ${sql}`);
}

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "moraine-schemas-")));
  store = join(folder, "store");
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
  service = await RunningService.start();
});

afterEach(async () => {
  for (const instance of instances) {
    const connection = await instance.connect();
    const lakes = await rows(connection, "SELECT database_name FROM duckdb_databases() WHERE type = 'ducklake'");
    // Detached while this thread is free to answer: closing blocks it.
    for (const [name] of lakes) await connection.run(`DETACH "${String(name)}"`);
    connection.closeSync();
    instance.closeSync();
  }
  instances = [];
  await service.stop();
  rmSync(folder, { recursive: true });
});

describe.skipIf(!extensionAvailable)("lakes in one store", () => {
  test("each has its tables, indexes and snapshots, and enforces what it has", async () => {
    const connection = await duckDb();
    await connection.run(attach("a", "s1"));
    await connection.run("CREATE TABLE a.t(id BIGINT, name VARCHAR); INSERT INTO a.t VALUES (1, 'a1'), (2, 'a2')");
    await connection.run(attach("b", "s2"));
    await connection.run("CREATE TABLE b.t(id BIGINT, name VARCHAR); INSERT INTO b.t VALUES (2, 'b2'), (3, 'b3')");
    await connection.run("CREATE UNIQUE INDEX of_a ON a.t(id)");
    await connection.run("CREATE UNIQUE INDEX of_b ON b.t(id)");
    expect(await rows(connection, "FROM a.t ORDER BY id")).toEqual([
      [1n, "a1"],
      [2n, "a2"],
    ]);
    expect(await rows(connection, "FROM b.t ORDER BY id")).toEqual([
      [2n, "b2"],
      [3n, "b3"],
    ]);
    for (const [lake, other] of [
      ["a", "b"],
      ["b", "a"],
    ]) {
      const names = `SELECT index_name FROM moraine_indexes('${lake}', 'main', 't')`;
      expect(await rows(connection, names)).toEqual([[`of_${lake}`]]);
      const found = `SELECT name FROM ${lake}.t WHERE rowid IN
        (SELECT row_id FROM moraine_index_lookup('${lake}', 'main', 't', 'of_${lake}', 2))`;
      expect(await rows(connection, found)).toEqual([[`${lake}2`]]);
      expect(await failure(connection, `INSERT INTO ${lake}.t VALUES (2, 'again')`)).toContain("constraint violation");
      expect(
        await failure(connection, `FROM moraine_index_lookup('${lake}', 'main', 't', 'of_${other}', 2)`),
      ).toContain(`of_${other}`);
    }
    await connection.run("DROP INDEX b.of_b; INSERT INTO b.t VALUES (2, 'twice')");
    expect(await rows(connection, "SELECT count(*) FROM b.t WHERE id = 2")).toEqual([[2n]]);
    expect(await failure(connection, "INSERT INTO a.t VALUES (2, 'again')")).toContain("constraint violation");
  });

  test("a copy holds the tables of its own lake only, and follows what others do to it", async () => {
    const [one, other] = [await duckDb(), await duckDb()];
    await one.run(`${attach("a", "s1")}; CREATE TABLE a.t(id BIGINT)`);
    await one.run(`${attach("b", "s2")}; CREATE TABLE b.u(id BIGINT)`);
    await other.run(attach("b", "s2"));
    for (let round = 1; round <= 5; round++) {
      await one.run(`INSERT INTO a.t VALUES (${round}); INSERT INTO b.u VALUES (${round})`);
      await other.run(`INSERT INTO b.u VALUES (${-round})`);
      expect(await rows(one, "SELECT count(*) FROM b.u")).toEqual([[BigInt(2 * round)]]);
      expect(await rows(other, "SELECT count(*) FROM b.u")).toEqual([[BigInt(2 * round)]]);
    }
    const tables = (schema: string): string => `SELECT table_name FROM __ducklake_metadata_b.${schema}.ducklake_table`;
    for (const connection of [one, other]) {
      expect(await rows(connection, tables("s2"))).toEqual([["u"]]);
      expect(await failure(connection, tables("s1"))).toContain("s1");
    }
    const { schemas: known } = await service.lake.status();
    expect(known.map(({ schema }) => schema)).toEqual(["s1", "s2"]);
  });

  test("they are found again: attached anew, by names in another case, after the service has ended, read-only", async () => {
    const first = await duckDb();
    await first.run(`${attach("plain")}; CREATE TABLE plain.t(id BIGINT); INSERT INTO plain.t VALUES (0)`);
    await first.run(`${attach("odd", "o/d \"d' é.")}; CREATE TABLE odd.t(id BIGINT); INSERT INTO odd.t VALUES (1)`);
    await first.run(`${attach("up", "Upper")}; CREATE TABLE up.t(id BIGINT); INSERT INTO up.t VALUES (2)`);
    await first.run("DETACH odd");
    await first.run(attach("odd", "O/D \"D' é."));
    expect(await rows(first, "SELECT id FROM odd.t")).toEqual([[1n]]);
    await service.stop();
    service = await RunningService.start();
    for (const [lake, id] of [
      ["plain", 0n],
      ["odd", 1n],
      ["up", 2n],
    ]) {
      await first.run(`INSERT INTO ${String(lake)}.t VALUES (10)`);
      expect(await rows(first, `SELECT id FROM ${String(lake)}.t ORDER BY id`)).toEqual([[id], [10n]]);
    }
    for (const lake of ["plain", "odd", "up"]) await first.run(`DETACH ${lake}`);
    await service.stop();
    service = await RunningService.start();
    const reader = await duckDb();
    await reader.run(attach("up", "UPPER", ", READ_ONLY"));
    await reader.run(attach("plain", undefined, ", READ_ONLY"));
    expect(await rows(reader, "SELECT id FROM up.t ORDER BY id")).toEqual([[2n], [10n]]);
    expect(await rows(reader, "SELECT id FROM plain.t ORDER BY id")).toEqual([[0n], [10n]]);
    expect(await failure(reader, "INSERT INTO up.t VALUES (3)")).toContain("read-only");
    expect(await failure(reader, attach("missing", "missing", ", READ_ONLY"))).toContain("does not exist");
    const writer = await duckDb();
    await writer.run(attach("up", "upper"));
    await writer.run("INSERT INTO up.t VALUES (11)");
    expect(await rows(reader, "SELECT id FROM up.t ORDER BY id")).toEqual([[2n], [10n], [11n]]);
  });

  test("the first lake keeps its schema", async () => {
    const connection = await duckDb();
    await connection.run(`${attach("a", "only")}; CREATE TABLE a.t(id BIGINT); INSERT INTO a.t VALUES (7); DETACH a`);
    expect(existsSync(join(store, "lakes"))).toBe(false);
    await service.stop();
    service = await RunningService.start();
    await connection.run(attach("a", "only"));
    expect(await rows(connection, "FROM a.t")).toEqual([[7n]]);
    await connection.run("CREATE INDEX i ON a.t(id)");
    expect(await rows(connection, "SELECT row_id FROM moraine_index_lookup('a', 'main', 't', 'i', 7)")).toEqual([[0n]]);
  });

  test("transactions of several lakes run side by side", async () => {
    const connection = await duckDb();
    await connection.run(`${attach("a", "s1")}; CREATE TABLE a.t(id BIGINT)`);
    await connection.run(`${attach("b", "s2")}; CREATE TABLE b.t(id BIGINT)`);
    const [one, two] = [await duckDb(), await duckDb()];
    await one.run(attach("a", "s1"));
    await two.run(attach("b", "s2"));
    await one.run("BEGIN; INSERT INTO a.t VALUES (1)");
    await two.run("INSERT INTO b.t VALUES (2)");
    await one.run("INSERT INTO a.t VALUES (3); COMMIT");
    expect(await rows(one, "FROM a.t ORDER BY id")).toEqual([[1n], [3n]]);
    expect(await rows(connection, "FROM b.t")).toEqual([[2n]]);
    await connection.run("BEGIN");
    await connection.run(attach("c", "s1").replace("/c/", "/a/"));
    await connection.run("INSERT INTO c.t VALUES (5); COMMIT");
    expect(await rows(one, "FROM a.t ORDER BY id")).toEqual([[1n], [3n], [5n]]);
    await one.run("INSERT INTO a.t VALUES (6)");
    expect(await rows(connection, "FROM c.t ORDER BY id")).toEqual([[1n], [3n], [5n], [6n]]);
    expect(await failure(connection, "FROM __ducklake_metadata_c.s2.ducklake_table")).toContain("s2");
  });

  test("what was recorded of a lake before its maker was killed is in nobody's way", async () => {
    const connection = await duckDb();
    await connection.run(`${attach("a", "s1")}; CREATE TABLE a.t(id BIGINT); DETACH a`);
    await service.stop();
    const writer = await openStore(store);
    await writeStoreLakes(writer, { ...(await readStoreLakes(writer)), others: [{ schema: "s2", folder: "s2" }] });
    await writer.close();
    service = await RunningService.start();
    await connection.run(attach("a", "s1"));
    expect(await rows(connection, "FROM a.t")).toEqual([]);
    await connection.run(`${attach("b", "S2")}; CREATE TABLE b.t(id BIGINT); INSERT INTO b.t VALUES (1); DETACH b`);
    await connection.run(attach("b", "s2"));
    expect(await rows(connection, "FROM b.t")).toEqual([[1n]]);
    // A store that was opened and not filled is no lake either.
    await connection.run("DETACH a; DETACH b");
    await service.stop();
    const again = await openStore(store);
    const lakes = await readStoreLakes(again);
    expect(lakes.others).toHaveLength(1);
    await writeStoreLakes(again, { ...lakes, others: [...lakes.others, { schema: "s3", folder: "s3" }] });
    await again.close();
    await (await openStore(join(store, "lakes", "s3"))).close();
    service = await RunningService.start();
    await connection.run(`${attach("c", "s3")}; CREATE TABLE c.t(id BIGINT); INSERT INTO c.t VALUES (3)`);
    expect(await rows(connection, "FROM c.t")).toEqual([[3n]]);
  });

  test("the embedding API opens the first lake by the store, and each other one by its place", async () => {
    const connection = await duckDb();
    await connection.run(`${attach("a", "s1")}; CREATE TABLE a.of_a(id BIGINT); DETACH a`);
    await connection.run(`${attach("b", "s2")}; CREATE TABLE b.of_b(id BIGINT); DETACH b`);
    await service.stop();
    for (const [place, table] of [
      [store, "of_a"],
      [join(store, "lakes", "s2"), "of_b"],
    ] as const) {
      await using catalog = await Catalog.open({ store: await openStore(place) });
      const snapshot = await catalog.snapshot();
      expect(snapshot.tablesIn(snapshot.schemas()[0]!.id).map(({ name }) => name)).toEqual([table]);
    }
    service = await RunningService.start();
  });

  test("a further lake without DATA_PATH has its data where the first one would have it", async () => {
    const connection = await duckDb();
    await connection.run(`${attach("a", "s1")}; CREATE TABLE a.t(id BIGINT)`);
    await connection.run(`ATTACH 'ducklake:moraine:${store}' AS b (METADATA_SCHEMA 's2')`);
    const recorded = "SELECT value FROM __ducklake_metadata_b.s2.ducklake_metadata WHERE key = 'data_path'";
    expect(await rows(connection, recorded)).toEqual([[`${store}.files/`]]);
  });

  test("data files of another lake may not lie in the store, nor a transaction write to two lakes", async () => {
    const connection = await duckDb();
    await connection.run(attach("a", "s1"));
    const inside = `ATTACH 'ducklake:moraine:${store}' AS inside (DATA_PATH '${store}/lakes/s2/', METADATA_SCHEMA 's2')`;
    expect(await failure(connection, inside)).toContain("overlap");
    await connection.run(attach("b", "s2"));
    const insert = (schema: string): string =>
      `INSERT INTO __ducklake_metadata_b.${schema}.ducklake_tag VALUES (0, 0, NULL, 'a', 'b')`;
    await connection.run(`BEGIN; ${insert("s2")}; CREATE SCHEMA __ducklake_metadata_b.third`);
    expect(await failure(connection, "COMMIT")).toContain("2 lakes");
    expect(await failure(connection, "CREATE SCHEMA __ducklake_metadata_b.third")).toContain("third");
  });
});
