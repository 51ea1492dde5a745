// A lake whose store and data are on an S3 server, through DuckDB: secrets, a second process, wrong credentials.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { setEnvironment } from "../../../../packages/store/test/s3-environment.js";
import { hasS3Server, type S3Server, startS3Server } from "../../../../packages/store/test/s3-server.js";
import { officialExtensionFile } from "../../src/duckdb/official-extension.js";
import { literal } from "../../src/duckdb/sql-text.js";
import { extensionAvailable } from "../support/available.js";
import { stopServices } from "../../../../packages/duckdb-ext/test/services.js";
import { SqlProcess } from "../support/sql-process.js";

/** What DuckDB and the service take their S3 settings from where there is no secret. */
const noSettings = Object.fromEntries(
  ["ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "REGION", "ENDPOINT", "ENDPOINT_URL", "PROFILE"].map((name) => [
    `AWS_${name}`,
    undefined,
  ]),
);
const answerLimitMs = 15_000;

describe.skipIf(!extensionAvailable || !hasS3Server("SQL on lakes in S3"))("a lake in S3, in SQL", () => {
  const folder = mkdtempSync(join(tmpdir(), "moraine-s3-sql-"));
  let server: S3Server;
  let restore: () => void;
  let lakes = 0;

  beforeAll(async () => {
    server = await startS3Server();
    await server.createBucket("lakes");
    restore = setEnvironment({ ...noSettings, MORAINE_RUNTIME_DIR: join(folder, "run") });
  });
  afterAll(async () => {
    await stopServices(folder);
    restore();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function secret(key = server.credentials.secretAccessKey): string {
    const { region, port, credentials } = server;
    return (
      `CREATE OR REPLACE SECRET (TYPE s3, KEY_ID '${credentials.accessKeyId}', SECRET '${key}', REGION '${region}', ` +
      `ENDPOINT '127.0.0.1:${port}', URL_STYLE 'path', USE_SSL false)`
    );
  }

  /** The statement that attaches a lake of that name. */
  function attach(name: string, options: readonly string[] = [`DATA_PATH 's3://lakes/${name}/data/'`]): string {
    const list = options.length === 0 ? "" : ` (${options.join(", ")})`;
    return `ATTACH 'ducklake:moraine:s3://lakes/${name}/store' AS lake${list}`;
  }

  /** A DuckDB process with httpfs; it goes with the test. */
  async function open(
    statements: readonly string[],
    env: Readonly<Record<string, string | undefined>> = {},
  ): Promise<SqlProcess> {
    const opened = await SqlProcess.open(
      [`LOAD ${literal(await officialExtensionFile("httpfs"))}`, ...statements],
      env,
    );
    onTestFinished(() => opened.kill());
    return opened;
  }

  function fresh(): string {
    return `lake-${++lakes}`;
  }

  const indexed = "SELECT row_id FROM moraine_index_range('lake', 'main', 't', 'u', NULL, NULL, true, true) ORDER BY 1";

  it("takes rows in and gives them out, to a second process as well", { timeout: 120_000 }, async () => {
    const name = fresh();
    const first = await open([secret(), attach(name), "USE lake", "CREATE TABLE t(a BIGINT, b VARCHAR)"]);
    await first.rows("CREATE UNIQUE INDEX u ON t(a)");
    await first.rows("INSERT INTO t VALUES (1, 'one'), (2, 'two')");
    await first.rows("INSERT INTO t SELECT i, 'v' || i FROM range(100, 1100) r(i)");
    await first.rows("UPDATE t SET a = 5 WHERE a = 2");
    await first.rows("DELETE FROM t WHERE a = 600");
    expect(await first.failure("INSERT INTO t VALUES (700, 'again')")).toMatch(/claims a value/u);
    expect(await first.failure("INSERT INTO t SELECT i, '' FROM range(1090, 2000) r(i)")).toMatch(/claims a value/u);
    const lookup = (key: number): string =>
      `SELECT a, b FROM t WHERE rowid IN (SELECT row_id FROM moraine_index_lookup('lake', 'main', 't', 'u', ${key}))`;
    expect(await first.rows(lookup(5))).toEqual([["5", "two"]]);
    expect(await first.rows(lookup(700))).toEqual([["700", "v700"]]);
    expect(await first.rows(lookup(600))).toEqual([]);

    const second = await open([secret(), attach(name, []), "USE lake"]);
    for (const [at, change] of [
      "SELECT 1",
      "CALL ducklake_flush_inlined_data('lake')",
      "CALL ducklake_merge_adjacent_files('lake')",
      "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
    ].entries()) {
      await first.rows(change);
      await second.rows(`INSERT INTO t VALUES (${-at - 1}, 'second')`);
      for (const reader of [first, second]) {
        expect(await reader.rows("SELECT count(*), sum(a) FROM t WHERE a > 0")).toEqual([["1001", "598906"]]);
        expect(await reader.column(indexed)).toEqual(await reader.column("SELECT rowid FROM t ORDER BY 1"));
      }
      expect(await first.rows(lookup(-at - 1))).toEqual([[String(-at - 1), "second"]]);
    }
    await first.close();
    await second.close();
    const third = await open([secret(), attach(name, ["READ_ONLY"])]);
    expect(await third.column("SELECT count(*) FROM lake.t")).toEqual(["1005"]);
    await third.close();
  });

  it("takes data in S3 by the secret of its bucket, with the store on this machine", { timeout: 120_000 }, async () => {
    const name = fresh();
    const store = join(folder, name);
    const attachLocal = (options: string): string => `ATTACH 'ducklake:moraine:${store}' AS lake${options}`;
    const maker = await open([
      secret(),
      attachLocal(` (DATA_PATH 's3://lakes/${name}/')`),
      "CREATE TABLE lake.t(a BIGINT)",
    ]);
    await maker.rows("CREATE UNIQUE INDEX u ON lake.t(a)");
    await maker.rows("INSERT INTO lake.t SELECT * FROM range(100)");
    await maker.close();
    await stopServices(folder);
    // A service that is new learns by the second attachment of a client where the data lies, and by which secret.
    const scoped = secret().replace("(TYPE", `(SCOPE 's3://lakes/${name}', TYPE`);
    const next = await open([scoped, attachLocal("")]);
    await next.rows("INSERT INTO lake.t SELECT * FROM range(100, 200)");
    expect(await next.failure("INSERT INTO lake.t SELECT * FROM range(150, 300)")).toMatch(/claims a value/u);
    expect(await next.column("SELECT count(*) FROM lake.t")).toEqual(["200"]);
  });

  it("holds several lakes, each with the secret for its own data", { timeout: 120_000 }, async () => {
    const name = fresh();
    const attachAs = (lake: string, options: string): string =>
      `ATTACH 'ducklake:moraine:s3://lakes/${name}/store' AS ${lake} (METADATA_SCHEMA 'of ${lake}'${options})`;
    const maker = await open([
      secret(),
      attachAs("a", `, DATA_PATH 's3://lakes/${name}/a/'`),
      attachAs("b", `, DATA_PATH 's3://lakes/${name}/b/'`),
    ]);
    for (const lake of ["a", "b"]) {
      await maker.rows(`CREATE TABLE ${lake}.t(id BIGINT)`);
      await maker.rows(`CREATE UNIQUE INDEX u ON ${lake}.t(id)`);
      await maker.rows(`INSERT INTO ${lake}.t SELECT * FROM range(100)`);
    }
    await maker.close();
    await stopServices(folder);
    // One secret fits the store, and one the data of one lake: the other's cannot be read.
    const scoped = (scope: string, key?: string): string =>
      secret(key).replace("SECRET (TYPE", `SECRET "${scope}" (SCOPE 's3://lakes/${name}/${scope}', TYPE`);
    const next = await open([scoped("store"), scoped("a", "wrong"), scoped("b"), attachAs("b", "")]);
    await next.rows("INSERT INTO b.t SELECT * FROM range(100, 200)");
    expect(await next.failure("INSERT INTO b.t SELECT * FROM range(150, 300)")).toMatch(/claims a value/u);
    expect(await next.column("SELECT count(*) FROM b.t")).toEqual(["200"]);
    await next.rows(attachAs("a", ""));
    expect(await next.column('SELECT next_row_id FROM __ducklake_metadata_a."of a".ducklake_table_stats')).toEqual([
      "100",
    ]);
    expect(await next.failure("SELECT sum(id) FROM a.t")).toMatch(/403|Forbidden/u);
  });

  describe("wrong credentials are told within 15 s", () => {
    it.each(["an existing lake", "a new lake"])("%s", { timeout: 120_000 }, async (which) => {
      const name = fresh();
      if (which === "an existing lake") {
        const maker = await open([secret(), attach(name), "CREATE TABLE lake.t(a BIGINT)"]);
        await maker.close();
        await stopServices(folder);
      }
      const stranger = await open([secret("wrong")]);
      const beganMs = performance.now();
      const message = await stranger.failure(attach(name));
      expect(performance.now() - beganMs).toBeLessThan(answerLimitMs);
      expect(message).toMatch(/^(IO|Permission|Invalid Configuration) Error.*s3:\/\/lakes/su);
      expect(message).not.toContain("wrong");
      // The same service takes the right ones.
      await stranger.rows(secret());
      await stranger.rows(attach(name));
      await stranger.rows("CREATE OR REPLACE TABLE lake.t(a BIGINT)");
      await stranger.close();
    });
  });

  it("goes by the environment of the service where there is no secret", { timeout: 120_000 }, async () => {
    const name = fresh();
    const { endpoint, region, credentials } = server;
    const env = {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_REGION: region,
      AWS_ENDPOINT: endpoint,
    };
    const data = `${join(folder, `${name}-data`)}/`;
    const client = await open([attach(name, [`DATA_PATH ${literal(data)}`])], env);
    await client.rows("CREATE TABLE lake.t(a BIGINT)");
    await client.rows("INSERT INTO lake.t SELECT * FROM range(50)");
    expect(await client.column("SELECT sum(a) FROM lake.t")).toEqual(["1225"]);
    // It is the service that has the credentials: another client needs none.
    const other = await open([attach(name, [])]);
    expect(await other.column("SELECT count(*) FROM lake.t")).toEqual(["50"]);
  });
});
