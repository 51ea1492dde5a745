// One lake that two processes write to, in turns and at once, beside a stock lake that one process writes to.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { extensionAvailable } from "../support/available.js";
import { openTestDuckDb, type TestDuckDb } from "../support/duckdb.js";
import { stopServices } from "../../../../packages/duckdb-ext/test/services.js";
import { SqlProcess } from "../support/sql-process.js";
import { writeAtOnce } from "./at-once.js";
import { indexDifferences } from "./check-indexes.js";
import { expectAlike } from "./expect-alike.js";
import { newTable } from "./lake-model.js";
import { ProcessPair } from "./process-pair.js";
import { Random } from "./random.js";
import { runWorkload } from "./run-workload.js";

const workloads = process.env["MORAINE_FAULTS"] === undefined ? 20 : 200;
const firstSeed = Number(process.env["MORAINE_SEED"] ?? 1);
const seeds = Array.from({ length: workloads }, (_, at) => firstSeed + at);
const stepsInTurns = 10;
const transactionsAtOnce = 8;

describe.skipIf(!extensionAvailable)("two processes that write to one lake", () => {
  let duckDb: TestDuckDb;
  let writers: SqlProcess[];
  beforeAll(async () => {
    duckDb = await openTestDuckDb();
    await duckDb.connection.run("SET threads = 1");
    writers = await Promise.all([SqlProcess.open(), SqlProcess.open()]);
  });
  afterAll(async () => {
    await Promise.all(writers.map((writer) => writer.kill()));
    await duckDb.close();
  });

  async function withPair(random: Random, work: (pair: ProcessPair) => Promise<void>): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), "moraine-two-"));
    const pair = new ProcessPair(duckDb.connection, folder, writers, random);
    await pair.attach();
    try {
      await work(pair);
    } finally {
      await pair.detach();
      await stopServices(duckDb.folder);
      rmSync(folder, { recursive: true, force: true });
    }
  }

  it.each(seeds)("in turns and at once come to what one process comes to (seed %i)", async (seed) => {
    const random = new Random(seed);
    await withPair(random, async (pair) => {
      const result = await runWorkload(pair, new Random(seed), stepsInTurns);
      await expectAlike(pair, result);

      const { model, history } = result;
      const told = `seed ${seed}\n${history.join(";\n")};`;
      expect(await writeAtOnce(pair, random, transactionsAtOnce), told).toEqual([]);
      const index = (name: string, column: string, unique = false) => ({ name, unique, columns: [column] });
      for (const [name, indexes] of [
        ["shared", [index("u", "k", true), index("v", "v")]],
        ["own0", [index("o0", "a")]],
        ["own1", [index("o1", "a")]],
      ] as const) {
        model.tables.push({ ...newTable("main", name, []), indexes: [...indexes] });
      }
      expect(await indexDifferences(pair, model), told).toEqual([]);
    });
  });
});
