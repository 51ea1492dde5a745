import { cp, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Area, type Benchmark, type BenchmarkContext, type Lazy, lazy } from "../benchmark.js";
import { ChildProcess, runInChild } from "../child/child-process.js";
import { duration, type Figure, latency } from "../figure.js";
import { type LakePlace, movedTo } from "../lake.js";
import { medianOf, percentile, secondsSync } from "../measure.js";
import { peerLabel, withSqlite } from "../peer/sqlite.js";
import { randomIntegers } from "../random.js";
import { count } from "../report.js";
import { type Target, targets } from "../targets.js";

const valueStep = 2;
const rowsPerCommit = 100_000;

/** Opening a large lake in a process that has not opened one before, and what its first answer takes. */
export function openArea(context: BenchmarkContext): Area {
  const { sizes, folder, nodeArguments } = context;
  const { openEntries, smallCommits } = sizes;
  const clean = lazy(() => {
    return runInChild(nodeArguments, "fill-store", {
      folder: join(folder, "open-clean"),
      rows: openEntries,
      step: valueStep,
      rowsPerCommit,
    });
  });
  const killed = lazy(async () => {
    const copy = join(folder, "open-killed");
    await cp(join(folder, "open-clean", "store"), join(copy, "store"), { recursive: true });
    const place = movedTo(await clean.get(), copy);
    const writer = new ChildProcess(nodeArguments, "small-commits", {
      lake: place,
      commits: smallCommits,
      first: 1,
      step: valueStep,
    });
    await writer.result();
    await writer.kill();
    return place;
  });
  return {
    name: "open",
    benchmarks: [
      openBenchmark(context, `${count(openEntries)} entries, clean close`, clean, targets.openCleanMs),
      openBenchmark(
        context,
        `${count(openEntries)} entries, ${count(smallCommits)} small commits, SIGKILL`,
        lazy(async () => {
          await clean.get();
          return await killed.get();
        }),
        targets.openAfterKillMs,
      ),
      peerBenchmark(context),
    ],
  };
}

function openBenchmark(context: BenchmarkContext, name: string, lake: Lazy<LakePlace>, target: Target): Benchmark {
  const { sizes, folder, nodeArguments } = context;
  return {
    name,
    async run() {
      const place = await lake.get();
      const values = randomIntegers(4, sizes.lookups, sizes.openEntries).map((row) => row * valueStep);
      // The last row of the small commits, or of what was there before: an acknowledged row that must be found.
      const first = name.includes("SIGKILL")
        ? 1 + (sizes.smallCommits - 1) * valueStep
        : (sizes.openEntries - 1) * valueStep;
      const opened: number[] = [];
      const p50s: number[] = [];
      const p99s: number[] = [];
      const toFirstAnswer = await medianOf(sizes.processRepeats, async (run) => {
        // A copy: opening and closing tidies up, and every run is to find what the first one found.
        const copy = join(folder, `open-run-${run}`);
        await cp(new URL(place.store), join(copy, "store"), { recursive: true });
        const result = await runInChild(nodeArguments, "open-store", {
          lake: movedTo(place, copy),
          values: [first, ...values],
        });
        await rm(copy, { recursive: true });
        opened.push(result.openSeconds);
        const warm = result.lookupSeconds.slice(Math.floor(result.lookupSeconds.length / 2));
        p50s.push(percentile(warm, 0.5));
        p99s.push(percentile(warm, 0.99));
        return result.openSeconds + result.firstLookupSeconds;
      });
      const lookups = { p50Seconds: percentile(p50s, 0.5), p99Seconds: percentile(p99s, 0.5) };
      return [
        duration(`open, ${name}`, "ms", percentile(opened, 0.5), { target }),
        duration(`open and first lookup, ${name}`, "ms", toFirstAnswer, { target }),
        latency(`lookup, hit, warm, ${name}`, "us", lookups, { target: targets.uniqueLookupUs }),
      ];
    },
  };
}

function peerBenchmark({ sizes, folder }: BenchmarkContext): Benchmark {
  const { openEntries, processRepeats } = sizes;
  return {
    name: "better-sqlite3",
    async run(): Promise<Figure[]> {
      await mkdir(join(folder, "open-peer"), { recursive: true });
      const name = `${peerLabel("NORMAL")}: open and first lookup, ${count(openEntries)} rows`;
      return await withSqlite(join(folder, "open-peer", "open.db"), "NORMAL", [name], async (filled, reopen) => {
        filled.insertRun({ first: 0, step: valueStep, count: openEntries });
        const toFirstAnswer = await medianOf(processRepeats, (run) => {
          return secondsSync(() => reopen().byValue(run * valueStep));
        });
        return [duration(name, "ms", toFirstAnswer)];
      });
    },
  };
}
