// A commit that has landed in the store, and that DuckDB then cannot make in its own tables: for want of memory here.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LakeService, StoreOpener } from "../src/index.js";
import { extensionAvailable, loadExtensions } from "./extensions.js";
import { listenFor } from "./support/scripted-service.js";
import { socketServer } from "./support/socket-server.js";

/** A service in this process that tells of loads, and does something between a commit and its answer. */
class WatchedService extends LakeService {
  loads = 0;
  afterCommit: () => Promise<void> = () => Promise.resolve();

  override async follow(...args: Parameters<LakeService["follow"]>): ReturnType<LakeService["follow"]> {
    if (args[1].revision === undefined) this.loads++;
    return await super.follow(...args);
  }

  override async commit(...args: Parameters<LakeService["commit"]>): Promise<bigint> {
    const revision = await super.commit(...args);
    await this.afterCommit();
    return revision;
  }
}

const rowCount = 20_000;
const slackBytes = 64 * 1024;

let folder: string;
let lake: WatchedService;
let close: () => Promise<void>;
let open: () => Promise<DuckDBInstance>;

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "moraine-sql-")));
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
  lake = new WatchedService(new StoreOpener(join(folder, "store")));
  const server = socketServer(lake);
  await listenFor(server, join(folder, "run"), join(folder, "store"));
  const instances: DuckDBInstance[] = [];
  open = async () => {
    // What does not fit into memory must not go to disk.
    const instance = await DuckDBInstance.create(":memory:", { allow_unsigned_extensions: "true", temp_directory: "" });
    instances.push(instance);
    const connection = await instance.connect();
    await connection.run(loadExtensions());
    const options = `DATA_PATH '${folder}/data/', DATA_INLINING_ROW_LIMIT ${rowCount}`;
    await connection.run(`ATTACH 'ducklake:moraine:${folder}/store' AS lake (${options})`);
    connection.closeSync();
    return instance;
  };
  close = async () => {
    for (const instance of instances) {
      const connection = await instance.connect();
      await connection.run("DETACH lake");
      connection.closeSync();
      instance.closeSync();
    }
    await lake.close();
    server.close();
    rmSync(folder, { recursive: true });
  };
});

afterEach(async () => close());

test.skipIf(!extensionAvailable)("is reported as made, and what the database shows is filled anew", async () => {
  const instance = await open();
  const [one, other] = [await instance.connect(), await instance.connect()];
  const count = async (): Promise<unknown> =>
    (await one.runAndReadAll("SELECT count(*), sum(a) FROM lake.t")).getRows()[0];
  await one.run("CREATE TABLE lake.t(a BIGINT); INSERT INTO lake.t VALUES (-1)");
  expect(await count()).toEqual([1n, -1n]);

  lake.afterCommit = async () => {
    lake.afterCommit = () => Promise.resolve();
    const used = (await other.runAndReadAll("SELECT sum(memory_usage_bytes)::BIGINT FROM duckdb_memory()")).getRows();
    await other.run(`SET memory_limit = '${Number(used[0]?.[0]) + slackBytes}B'`);
  };
  const before = lake.loads;
  await one.run(`INSERT INTO lake.t SELECT * FROM range(${rowCount / 2}) r(i)`);
  await other.run("SET memory_limit = '1GB'");
  const sum = (BigInt(rowCount / 2) * BigInt(rowCount / 2 - 1)) / 2n - 1n;
  expect(await count()).toEqual([BigInt(rowCount / 2) + 1n, sum]);
  // Only a copy that lacks a commit is filled anew.
  expect(lake.loads).toBe(before + 1);

  await one.run("INSERT INTO lake.t VALUES (1)");
  expect(await count()).toEqual([BigInt(rowCount / 2) + 2n, sum + 1n]);
  expect(lake.loads).toBe(before + 1);
  for (const connection of [one, other]) connection.closeSync();

  const fresh = await (await open()).connect();
  const rows = (await fresh.runAndReadAll("SELECT count(*), sum(a) FROM lake.t")).getRows();
  expect(rows).toEqual([[BigInt(rowCount / 2) + 2n, sum + 1n]]);
  fresh.closeSync();
});
