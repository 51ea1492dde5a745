import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { mainSchema } from "moraine";
import { type Area, type Benchmark, type BenchmarkContext, expectEqual } from "../benchmark.js";
import { duration } from "../figure.js";
import { createLake, type Lake, registerRows } from "../lake.js";
import { percentile } from "../measure.js";
import { count } from "../report.js";
import { targets } from "../targets.js";

/** A small commit is due this often, whether or not the one before it has landed. */
const smallCommitIntervalMs = 10;

type SmallTable = Lake["table"];

/**
 * One caller loads large files one after the other while others commit single rows. Times are from when a small commit was
 * due: where the thread was busy then, that counts.
 */
export function besideLargeCommitsArea(context: BenchmarkContext): Area {
  return {
    name: "small commits beside large ones",
    benchmarks: [benchmark(context, "another table"), benchmark(context, "the same table")],
  };
}

function benchmark({ sizes, folder }: BenchmarkContext, where: "another table" | "the same table"): Benchmark {
  const { bulkEntries, besideLargeCommits } = sizes;
  const name = `one-row commit beside ${count(bulkEntries)}-entry commits, ${where}`;
  return {
    name,
    async run() {
      await using lake = await createLake(join(folder, name));
      const table = where === "the same table" ? lake.table : await secondTable(lake);
      // Stored values between those that come, so that each has to be looked up.
      await registerRows(lake, "stored.parquet", { first: 0, step: 2, count: bulkEntries * besideLargeCommits });
      let loaded = false;
      const load = async (): Promise<void> => {
        for (let run = 0; run < besideLargeCommits; run++) {
          const first = 1 + 2 * run;
          await registerRows(lake, `large-${run}.parquet`, { first, step: 2 * besideLargeCommits, count: bulkEntries });
        }
        loaded = true;
      };
      const seconds: number[] = [];
      const commitOne = async (number: number, dueMs: number): Promise<void> => {
        const rows = [{ v: -1 - number, g: 0, name: "small" }];
        await lake.catalog.commit((tx) => tx.inlineInsert({ table, rows }));
        seconds.push((performance.now() - dueMs) / 1000);
      };
      const commitMany = async (): Promise<void> => {
        const commits: Promise<void>[] = [];
        const startMs = performance.now();
        do {
          const dueMs = startMs + commits.length * smallCommitIntervalMs;
          const aheadMs = dueMs - performance.now();
          if (aheadMs > 0) await setTimeout(aheadMs);
          commits.push(commitOne(commits.length, dueMs));
        } while (!loaded);
        await Promise.all(commits);
      };
      await Promise.all([load(), commitMany()]);
      const [last] = await lake.catalog.indexLookup({
        index: lake.byValue,
        key: [2 * bulkEntries * besideLargeCommits - 1],
      });
      expectEqual("the last row of the large commits", typeof last, "bigint");
      const note = `${seconds.length} commits, one every ${smallCommitIntervalMs} ms`;
      return [
        duration(`${name}: p50`, "ms", percentile(seconds, 0.5), { note }),
        duration(`${name}: p99`, "ms", percentile(seconds, 0.99), { target: targets.besideLargeCommitP99Ms }),
      ];
    },
  };
}

async function secondTable({ catalog }: Lake): Promise<SmallTable> {
  const { value } = await catalog.commit((tx) => {
    const columns = [
      { name: "v", columnType: "BIGINT" },
      { name: "g", columnType: "BIGINT" },
      { name: "name", columnType: "VARCHAR" },
    ];
    const table = tx.createTable({ schema: mainSchema, name: "small", columns });
    tx.createIndex({ table, name: "small_by_value", columns: ["v"], unique: true });
    return table;
  });
  return value;
}
