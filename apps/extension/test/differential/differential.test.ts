import { describe, expect, it } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openTestDuckDb } from "../support/duckdb.js";
import { indexDifferences } from "./check-indexes.js";
import { differencesOf, metadataDifferences, readMetadata } from "./compare-metadata.js";
import { LakePair, ours } from "./lake-pair.js";
import { Random } from "./random.js";
import { runWorkload } from "./run-workload.js";

const long = process.env["MORAINE_FAULTS"] !== undefined;
const workloads = long ? 1000 : 300;
const firstSeed = Number(process.env["MORAINE_SEED"] ?? 1);
const stepsPerWorkload = 18;
/** Workloads of one test, which share a DuckDB: a new lake is cheap and a new DuckDB is not. */
const perTest = 10;

describe.each(Array.from({ length: workloads / perTest }, (_, at) => firstSeed + at * perTest))(
  "from seed %i",
  (first) => {
    it("both lakes come to the same, and every index to what a scan makes of it", { timeout: 600_000 }, async () => {
      const duckDb = await openTestDuckDb();
      try {
        // With several threads DuckLake gives row ids in an order that differs from run to run.
        await duckDb.connection.run("SET threads = 1");
        for (let seed = first; seed < first + perTest; seed++) {
          const folder = mkdtempSync(join(tmpdir(), "moraine-differential-"));
          const pair = new LakePair(duckDb.connection, folder);
          await pair.attach();
          const { model, history, indexSnapshots } = await runWorkload(pair, new Random(seed), stepsPerWorkload);
          const told = `seed ${seed}\n${history.join(";\n")};`;
          expect(await metadataDifferences(pair, indexSnapshots), told).toEqual([]);
          expect(await indexDifferences(pair, model), told).toEqual([]);
          const own = await readMetadata(pair, ours, []);
          await pair.reattachOurs();
          expect(differencesOf(await readMetadata(pair, ours, []), own), told).toEqual([]);
          await pair.detach();
          rmSync(folder, { recursive: true, force: true });
        }
      } finally {
        await duckDb.close();
      }
    });
  },
);
