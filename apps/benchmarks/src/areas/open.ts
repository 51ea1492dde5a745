import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Area, type Benchmark, type BenchmarkContext, type Lazy, lazy } from "../benchmark.js";
import { ChildProcess, runInChild } from "../child/child-process.js";
import { duration, type Figure, latency } from "../figure.js";
import { copyLake, fillLake, type LakePlace } from "../lake.js";
import { medianOf, percentile, secondsSync } from "../measure.js";
import { peerLabel, peerName, withSqlite } from "../peer/sqlite.js";
import { randomIntegers } from "../random.js";
import { count } from "../report.js";
import { type Target, targets } from "../targets.js";

const valueStep = 2;

/** A lake to open, and a value in it that is looked up first. */
interface Prepared {
  readonly place: LakePlace;
  readonly first: number;
}

/** Opening a large lake in a process that has not opened one before, and what its first answer takes. */
export function openArea(context: BenchmarkContext): Area {
  const { openEntries, smallCommits } = context.sizes;
  const clean = lazy(() => fill(context));
  const killed = lazy(async () => killWriter(context, await clean.get()));
  const entries = `${count(openEntries)} entries`;
  return {
    name: "open",
    benchmarks: [
      openBenchmark(context, `${entries}, clean close`, clean, targets.openCleanMs),
      openBenchmark(
        context,
        `${entries}, ${count(smallCommits)} small commits, SIGKILL`,
        killed,
        targets.openAfterKillMs,
      ),
      peerBenchmark(context),
    ],
  };
}

async function fill({ sizes, folder }: BenchmarkContext): Promise<Prepared> {
  const rows = { first: 0, step: valueStep, count: sizes.openEntries };
  return { place: await fillLake(join(folder, "open-clean"), rows), first: (rows.count - 1) * valueStep };
}

/** Small commits on a copy of the lake, and an end without warning. The last acknowledged row is the one to find. */
async function killWriter({ sizes, folder, nodeArguments }: BenchmarkContext, filled: Prepared): Promise<Prepared> {
  const place = await copyLake(filled.place, join(folder, "open-killed"));
  const input = { lake: place, commits: sizes.smallCommits, first: 1, step: valueStep };
  const writer = new ChildProcess(nodeArguments, "small-commits", input);
  try {
    await writer.result();
  } finally {
    await writer.kill();
  }
  return { place, first: 1 + (sizes.smallCommits - 1) * valueStep };
}

function openBenchmark(context: BenchmarkContext, name: string, prepared: Lazy<Prepared>, target: Target): Benchmark {
  const { sizes, folder, nodeArguments } = context;
  return {
    name,
    async run() {
      const { place, first } = await prepared.get();
      const values = randomIntegers(4, sizes.lookups, sizes.openEntries).map((row) => row * valueStep);
      const opened: number[] = [];
      const p50s: number[] = [];
      const p99s: number[] = [];
      const toFirstAnswer = await medianOf(sizes.processRepeats, async (run) => {
        // A copy: opening and closing tidies up, and every run is to find what the first one found.
        const copy = join(folder, `open-run-${run}`);
        const input = { lake: await copyLake(place, copy), first, values };
        const result = await runInChild(nodeArguments, "open-store", input);
        await rm(copy, { recursive: true });
        opened.push(result.openSeconds);
        p50s.push(percentile(result.warmLookupSeconds, 0.5));
        p99s.push(percentile(result.warmLookupSeconds, 0.99));
        return result.openSeconds + result.firstLookupSeconds;
      });
      const lookups = { p50Seconds: percentile(p50s, 0.5), p99Seconds: percentile(p99s, 0.5) };
      return [
        duration(`open, ${name}`, "ms", percentile(opened, 0.5), { target }),
        duration(`open and first lookup, ${name}`, "ms", toFirstAnswer, { target }),
        latency(`lookup, hit, warm, ${name}`, "us", lookups, { target: targets.uniqueLookupTablesUs }),
      ];
    },
  };
}

function peerBenchmark({ sizes, folder }: BenchmarkContext): Benchmark {
  const { openEntries, processRepeats } = sizes;
  return {
    name: peerName,
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
