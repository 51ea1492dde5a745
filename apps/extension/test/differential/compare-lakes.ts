import { mkdtempSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { extensionAvailable } from "../support/available.js";
import { openTestDuckDb } from "../support/duckdb.js";
import { indexDifferences } from "./check-indexes.js";
import { differencesOf, metadataDifferences, readMetadata } from "./compare-metadata.js";
import { LakePair, ours } from "./lake-pair.js";
import { Random } from "./random.js";
import { runWorkload } from "./run-workload.js";

const workloads = process.env["MORAINE_FAULTS"] === undefined ? 100 : 1000;
const shift = Number(process.env["MORAINE_SEED"] ?? 0);
const stepsPerWorkload = 18;
/** Workloads of one test, which share a DuckDB: a new lake is cheap and a new DuckDB is not. */
const perTest = 10;

/** Tests that run workloads on two lakes, from a seed on. */
export function compareLakes(firstSeed: number): void {
  const firsts = Array.from({ length: workloads / perTest }, (_, at) => firstSeed + shift + at * perTest);
  describe.skipIf(!extensionAvailable)("a lake on a moraine store beside one on a DuckDB file", () => {
    it.each(firsts)("come to the same from seed %i on", { timeout: 600_000 }, async (first) => {
      await using duckDb = await openTestDuckDb();
      // With several threads DuckLake gives row ids in an order that differs from run to run.
      await duckDb.run("SET threads = 1");
      for (let seed = first; seed < first + perTest; seed++) {
        // Removed with DuckDB's folder, when its services have ended.
        const pair = new LakePair(duckDb.connection, mkdtempSync(duckDb.path("lakes-")));
        await pair.attach();
        await expectAlike(pair, seed);
        await pair.detach();
      }
    });
  });
}

async function expectAlike(pair: LakePair, seed: number): Promise<void> {
  const { model, history, indexSnapshots } = await runWorkload(pair, new Random(seed), stepsPerWorkload);
  const told = (differences: readonly string[]): string =>
    [`seed ${seed}`, ...differences, ...history.map((sql) => `${sql};`)].join("\n");
  const metadata = await metadataDifferences(pair, indexSnapshots);
  expect(metadata, told(metadata)).toEqual([]);
  const indexes = await indexDifferences(pair, model);
  expect(indexes, told(indexes)).toEqual([]);
  const own = await readMetadata(pair, ours, []);
  await pair.reattachOurs();
  const served = differencesOf(await readMetadata(pair, ours, []), own);
  expect(served, told(served)).toEqual([]);
}
