import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { ConfigurationError } from "@moraine/codec";
import { type Area, type Benchmark, type BenchmarkContext, expectEqual, lazy } from "../benchmark.js";
import { duration, type Figure, latency, rate } from "../figure.js";
import { latencyOf, medianOf, seconds } from "../measure.js";
import { count } from "../report.js";
import { PostgresServer } from "../sql/postgres.js";
import { type CatalogKind, registerFiles, SqlLake } from "../sql/sql-lake.js";
import { type Target, targets } from "../targets.js";

/** Medians of the same statement on the catalogs that were measured so far, by its name. */
type Medians = Map<string, Map<CatalogKind, number>>;

/** SQL statements on stock DuckDB and DuckLake, with the catalog on a moraine store, in a DuckDB file and in Postgres. */
export function sqlArea(context: BenchmarkContext): Area {
  const medians: Medians = new Map();
  const postgres = lazy(() => Promise.resolve(PostgresServer.start()));
  const statements = (["DuckDB file", "Postgres", "moraine"] as const).map((kind): Benchmark => ({
    name: `statements, ${kind}`,
    run: async () => {
      const server = kind === "Postgres" ? await postgres.get() : undefined;
      if (kind === "Postgres" && server === undefined) return [];
      return await measureStatements(context, kind, medians, server);
    },
  }));
  return {
    name: "sql",
    benchmarks: [...statements, indexBenchmark(context), attachBenchmark(context)].map(whereItCanBe),
    close: () => postgres.ifMade((server) => server?.stop()),
  };
}

/** The extension needs a compiler, DuckLake a way to fetch it: where one is missing the figure says so. */
function whereItCanBe({ name, run }: Benchmark): Benchmark {
  return {
    name,
    async run() {
      try {
        return await run();
      } catch (error) {
        if (!(error instanceof ConfigurationError)) throw error;
        return [{ name, value: null, unit: "ms", note: error.message }];
      }
    },
  };
}

async function folderOf({ folder }: BenchmarkContext, name: string): Promise<string> {
  const path = join(folder, name.replaceAll(" ", "-"));
  await mkdir(path, { recursive: true });
  return path;
}

async function measureStatements(
  context: BenchmarkContext,
  kind: CatalogKind,
  medians: Medians,
  server: PostgresServer | undefined,
): Promise<Figure[]> {
  const { repeats, slowRepeats, sqlStatements, sqlBulkRows, sqlFiles } = context.sizes;
  await using lake = await SqlLake.open(kind, await folderOf(context, `sql ${kind}`), server);
  const figures: Figure[] = [];
  const timed = async (name: string, statement: (call: number) => string, calls = sqlStatements): Promise<void> => {
    const measured = await latencyOf(repeats, calls, (call) => lake.run(statement(call)));
    figures.push(latency(`${kind}: ${name}`, "ms", measured, ratio(medians, name, kind, measured.p50Seconds)));
  };
  const slow = async (name: string, work: (run: number) => Promise<void>): Promise<void> => {
    const median = await medianOf(slowRepeats, (run) => seconds(() => work(run)));
    figures.push(duration(`${kind}: ${name}`, "ms", median, ratio(medians, name, kind, median)));
  };
  await lake.run("CREATE TABLE t(a BIGINT, b VARCHAR)");
  await timed("INSERT of 1 row", (call) => `INSERT INTO t VALUES (${call}, 'row ${call}')`);
  await timed("UPDATE of 1 row", (call) => `UPDATE t SET b = 'new ${call}' WHERE a = ${call}`);
  await timed("DELETE of 1 row", (call) => `DELETE FROM t WHERE a = ${call}`);
  await timed(
    "INSERT of 100 rows",
    (call) => `INSERT INTO t SELECT i, 'row ' || i FROM range(${call * 100}, ${call * 100 + 100}) r(i)`,
  );
  await lake.run("CREATE TABLE bulk(a BIGINT, b VARCHAR)");
  await slow(`INSERT of ${count(sqlBulkRows)} rows`, (run) =>
    lake.run(
      `INSERT INTO bulk SELECT i, 'row ' || i FROM range(${run * sqlBulkRows}, ${(run + 1) * sqlBulkRows}) r(i)`,
    ),
  );
  await timed("SELECT of an aggregate", () => "SELECT count(*), max(a) FROM bulk");
  await timed("list of snapshots", () => "SELECT count(*) FROM ducklake_snapshots('lake')");
  await lake.run("CREATE TABLE files(a BIGINT, b BIGINT, c BIGINT)");
  await lake.run("INSERT INTO files VALUES (0, 0, 0)");
  await registerFiles(lake, "files", sqlFiles);
  const attach = async (): Promise<void> => {
    await lake.attach();
    expectEqual(
      "data files",
      await lake.number("SELECT file_count FROM ducklake_table_info('lake') WHERE table_name = 'files'"),
      sqlFiles,
    );
  };
  const timedAttach = async (name: string, before: () => Promise<void>): Promise<void> => {
    const median = await medianOf(slowRepeats, async () => {
      await before();
      await lake.detach();
      return await seconds(attach);
    });
    figures.push(duration(`${kind}: ${name}`, "ms", median, ratio(medians, name, kind, median)));
  };
  const files = `${count(sqlFiles)} data files`;
  // A service remembers what it has rendered, and what was committed since.
  await timedAttach(`attach with ${files}, after a commit`, () =>
    lake.run("INSERT INTO t VALUES (0, 'changes the lake')"),
  );
  await timedAttach(`attach with ${files}, again`, () => Promise.resolve());
  return figures;
}

/** How a median compares with the DuckDB file's, which runs first; a target for moraine's. */
function ratio(
  medians: Medians,
  name: string,
  kind: CatalogKind,
  median: number,
): { readonly note?: string; readonly target?: Target } {
  const known = medians.get(name) ?? new Map<CatalogKind, number>();
  medians.set(name, known.set(kind, median));
  const file = known.get("DuckDB file");
  if (file === undefined || kind === "DuckDB file") return {};
  const note = `${(median / file).toFixed(2)} of the DuckDB file`;
  return kind === "moraine"
    ? { note, target: { relation: "at most", value: file * 1000 * targets.sqlRatio.value } }
    : { note };
}

function indexBenchmark(context: BenchmarkContext): Benchmark {
  const { repeats, slowRepeats, sqlStatements, sqlBulkRows, sqlIndexedRows } = context.sizes;
  return {
    name: "unique index",
    async run() {
      await using lake = await SqlLake.open("moraine", await folderOf(context, "sql index"));
      const insert = (table: string, rows: number) => (call: number) =>
        lake.run(`INSERT INTO ${table} SELECT i, 'row ' || i FROM range(${call * rows}, ${(call + 1) * rows}) r(i)`);
      for (const table of ["plain", "indexed", "bulk"]) await lake.run(`CREATE TABLE ${table}(a BIGINT, b VARCHAR)`);
      for (const table of ["indexed", "bulk"]) await lake.run(`CREATE UNIQUE INDEX ${table}_a ON ${table}(a)`);
      const plain = await latencyOf(repeats, sqlStatements, insert("plain", sqlIndexedRows));
      const indexed = await latencyOf(repeats, sqlStatements, insert("indexed", sqlIndexedRows));
      const bulkSeconds = await medianOf(slowRepeats, (run) => seconds(() => insert("bulk", sqlBulkRows)(run)));
      const lookups = await latencyOf(repeats, sqlStatements, async (call) => {
        const sql = `SELECT row_id FROM moraine_index_lookup('lake', 'main', 'bulk', 'bulk_a', ${(call * 7919) % sqlBulkRows})`;
        expectEqual("rows found", (await lake.connection.runAndReadAll(sql)).currentRowCount, 1);
      });
      return [
        latency(`INSERT of ${count(sqlIndexedRows)} rows, no index`, "ms", plain),
        latency(`INSERT of ${count(sqlIndexedRows)} rows, unique index`, "ms", indexed, {
          target: { relation: "at most", value: plain.p50Seconds * 1000 + targets.sqlUniqueAddsMs.value },
        }),
        rate(`INSERT of ${count(sqlBulkRows)} rows, unique index`, "rows", sqlBulkRows / bulkSeconds, {
          target: targets.sqlUniqueBulkPerSecond,
        }),
        latency("moraine_index_lookup, one key", "ms", lookups, { target: targets.sqlLookupMs }),
      ];
    },
  };
}

function attachBenchmark(context: BenchmarkContext): Benchmark {
  const { slowRepeats, sqlManyFiles } = context.sizes;
  return {
    name: "attach of a large lake",
    async run() {
      await using lake = await SqlLake.open("moraine", await folderOf(context, "sql attach"));
      await lake.run("CREATE TABLE files(a BIGINT, b BIGINT, c BIGINT)");
      await lake.run("INSERT INTO files VALUES (0, 0, 0)");
      await registerFiles(lake, "files", sqlManyFiles);
      await lake.detach();
      const before = process.memoryUsage.rss();
      await lake.attach();
      // What was freed meanwhile can hide a small lake.
      const grown = Math.max(0, (process.memoryUsage.rss() - before) / 2 ** 20);
      const afterCommit = await medianOf(slowRepeats, async () => {
        await lake.run("INSERT INTO files VALUES (1, 1, 1)");
        await lake.detach();
        return await seconds(() => lake.attach());
      });
      const again = await medianOf(slowRepeats, async () => {
        await lake.detach();
        return await seconds(() => lake.attach());
      });
      const files = `${count(sqlManyFiles)} data files`;
      return [
        duration(`attach with ${files}, after a commit`, "ms", afterCommit, { target: targets.sqlAttachMs }),
        duration(`attach with ${files}, again`, "ms", again, { target: targets.sqlAttachMs }),
        { name: `memory of that in DuckDB's process`, value: grown, unit: "MiB", target: targets.sqlAttachMiB },
      ];
    },
  };
}
