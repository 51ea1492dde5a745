// Random workloads on a lake on a moraine store and on one on a DuckDB file, which have to come to the same.
import { mkdtempSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { extensionAvailable } from "../support/available.js";
import { openTestDuckDb, type TestDuckDb } from "../support/duckdb.js";
import { ServiceInside } from "../support/service-inside.js";
import { expectAlike } from "./expect-alike.js";
import { LakePair } from "./lake-pair.js";
import { Random } from "./random.js";
import { otherKinds, runWorkload, type WorkloadResult } from "./run-workload.js";
import { statementKinds } from "./statements.js";

const usualWorkloads = process.env["MORAINE_FAULTS"] === undefined ? 300 : 3000;
const workloads = Number(process.env["MORAINE_WORKLOADS"] ?? usualWorkloads);
const firstSeed = Number(process.env["MORAINE_SEED"] ?? 1);
const stepsPerWorkload = 20;
/** Workloads that share a DuckDB, each on lakes of its own. */
const perDuckDb = 20;
/** Every so many workloads one has a process of its own as service; the others are served by the test's. */
const processEvery = 10;
/** And one has more of the kinds of statements that come seldom. */
const seldomEvery = 7;

/** Metadata that no workload makes: there are no columns of type VARIANT. */
const neverWithRows: readonly string[] = ["ducklake_file_variant_stats"];

const blocks = Array.from({ length: Math.ceil(workloads / perDuckDb) }, (_, at) => firstSeed + at * perDuckDb);
const seedsOf = (first: number): number[] =>
  Array.from({ length: Math.min(perDuckDb, firstSeed + workloads - first) }, (_, at) => first + at);

describe.skipIf(!extensionAvailable)("a lake on a moraine store beside one on a DuckDB file", () => {
  const reached = new Set<string>();
  const tables = new Set<string>();
  const tablesWithRows = new Set<string>();

  describe.each(blocks)("from seed %i on", (first) => {
    let duckDb: TestDuckDb;
    beforeAll(async () => {
      duckDb = await openTestDuckDb();
      // With several threads DuckLake gives row ids in an order that differs from run to run.
      await duckDb.run("SET threads = 1");
    });
    afterAll(() => duckDb.close());

    it.each(seedsOf(first))("come to the same (seed %i)", async (seed) => {
      // Removed with DuckDB's folder, when its services have ended.
      const folder = mkdtempSync(duckDb.path("lakes-"));
      await using _service = seed % processEvery === 0 ? undefined : await ServiceInside.serve(`${folder}/store`);
      const pair = new LakePair(duckDb.connection, folder);
      await pair.attach();
      let result: WorkloadResult;
      try {
        result = await runWorkload(pair, new Random(seed), stepsPerWorkload, seed % seldomEvery === 0);
        for (const [name, rows] of await expectAlike(pair, result)) {
          const table = name.replace(/_#.*$/u, "");
          tables.add(table);
          if (rows.length > 0) tablesWithRows.add(table);
        }
      } catch (error) {
        const again = `MORAINE_SEED=${seed} MORAINE_WORKLOADS=1 npx vitest run apps/extension/test/differential/beside-stock`;
        throw new Error(`run again with ${again}`, { cause: error });
      } finally {
        await pair.rollBack();
        await pair.detach();
      }
      for (const kind of result.reached) reached.add(kind);
    });
  });

  // Of a few alone it would not hold.
  it.each(workloads < usualWorkloads ? [] : [workloads])(
    "%i of them come to every kind of statement, and to rows in all of the metadata",
    () => {
      expect([...statementKinds, ...otherKinds].filter((kind) => !reached.has(kind))).toEqual([]);
      expect([...tables].filter((table) => !tablesWithRows.has(table))).toEqual(neverWithRows);
    },
  );
});
