import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { type Area, type Benchmark, type BenchmarkContext, type Lazy, lazy } from "../benchmark.js";
import { runInChild } from "../child/child-process.js";
import { type Figure, rate } from "../figure.js";
import { copyLake, fillLake, type LakePlace, tableFolder, type ValueRun } from "../lake.js";
import { medianOf, secondsSync } from "../measure.js";
import { type WrittenParquet, writeParquet } from "../parquet.js";
import { peerLabel, peerName, withSqlite } from "../peer/sqlite.js";
import type { Synchronous } from "../peer/sqlite-table.js";
import { count } from "../report.js";
import { targets } from "../targets.js";

const fileName = "bulk.parquet";

/** A file whose rows nobody reads needs no size; these stand in for one. */
const unread: WrittenParquet = { sizeBytes: 1_000_000, footerSizeBytes: 512 };

interface Variant {
  readonly name: string;
  /** A closed lake; each run gets a copy of its store. */
  readonly lake: Lazy<LakePlace>;
  readonly entries: "supplied" | "scoped-read";
  readonly rows: ValueRun;
  /** Rows that the same process commits first, whose probes make the index's filter resident. */
  readonly before?: readonly ValueRun[];
}

/**
 * One commit that registers a file of many rows, each with a value that the unique index does not hold and has to be
 * checked. Stored entries, where there are any, stand between the new ones, so that none is known to be absent without a
 * look. Each run has a process and a copy of the store of its own.
 */
export function bulkCommitArea(context: BenchmarkContext): Area {
  const { sizes, folder } = context;
  const rowCount = sizes.bulkEntries;
  const many = count(rowCount);
  const lake = (name: string, stored: ValueRun): Lazy<LakePlace> => lazy(() => fillLake(join(folder, name), stored));
  const empty = lake("bulk-empty", { first: 0, step: 2, count: 0 });
  const interleaved = lake("bulk-interleaved", { first: 0, step: 2, count: rowCount });
  const rows = newRows(rowCount);
  const between = `${many} entries between as many stored ones`;
  const variants: Variant[] = [
    { name: between, lake: interleaved, entries: "supplied", rows },
    {
      name: `${many} entries between three times as many stored ones, with the filter resident`,
      lake: lake("bulk-quarters", { first: 0, step: 4, count: rowCount }),
      entries: "supplied",
      before: [1, 2].map((first) => ({ first, step: 4, count: rowCount })),
      rows: { first: 3, step: 4, count: rowCount },
    },
    { name: `${many} entries into an empty index`, lake: empty, entries: "supplied", rows },
    { name: `${between}, scoped read`, lake: interleaved, entries: "scoped-read", rows },
  ];
  return {
    name: "unique-checked commit of one file",
    benchmarks: [...variants.map((variant) => bulkBenchmark(context, variant)), peerBenchmark(context)],
  };
}

/** The new values: the odd numbers. */
function newRows(rowCount: number): ValueRun {
  return { first: 1, step: 2, count: rowCount };
}

function bulkBenchmark(
  { sizes, folder, nodeArguments }: BenchmarkContext,
  { name, lake, entries, rows, before }: Variant,
): Benchmark {
  return {
    name,
    async run() {
      const place = await lake.get();
      const { sizeBytes, footerSizeBytes } = entries === "scoped-read" ? await writeRows(place, rows) : unread;
      const peaks: number[] = [];
      const perSecond = await medianOf(sizes.processRepeats, async (run) => {
        const copy = join(folder, `bulk-${entries}-${before === undefined ? "" : "filter-"}${run}`);
        const result = await runInChild(nodeArguments, "bulk-commit", {
          lake: await copyLake(place, copy),
          rows,
          path: fileName,
          sizeBytes,
          footerBytes: footerSizeBytes,
          entries,
          ...(before === undefined ? {} : { before }),
        });
        await rm(copy, { recursive: true });
        peaks.push(result.peakAboveIdleMiB);
        return rows.count / result.seconds;
      });
      const target =
        before === undefined ? targets.uniqueCheckedEntriesPerSecond : targets.uniqueCheckedByFilterPerSecond;
      const figure = rate(name, "entries", perSecond, { target });
      // What the process needed for the commits before counts in its peak.
      if (before !== undefined) return [figure];
      const peak = await medianOf({ warmUps: 0, runs: peaks.length }, (run) => peaks[run] ?? Number.NaN);
      return [
        figure,
        {
          name: `${name}: peak memory above the idle process`,
          value: peak,
          unit: "MiB",
          target: targets.largeCommitPeakMiB,
        },
      ];
    },
  };
}

async function writeRows({ dataPath }: LakePlace, rows: ValueRun): Promise<WrittenParquet> {
  const files = join(dataPath, tableFolder);
  await mkdir(files, { recursive: true });
  const query = `SELECT ${rows.first} + i * ${rows.step} AS v, i AS g, 'row ' || i AS name FROM range(${rows.count}) x(i)`;
  return await writeParquet(join(files, fileName), query, "{v: 1, g: 2, name: 3}");
}

/** A database of its own for each run, as for moraine. */
function peerBenchmark({ sizes, folder }: BenchmarkContext): Benchmark {
  const { bulkEntries, processRepeats } = sizes;
  const measure = async (synchronous: Synchronous): Promise<Figure> => {
    const name = `${peerLabel(synchronous)}: one transaction`;
    let missing: Figure | undefined;
    const perSecond = await medianOf(processRepeats, async (run) => {
      const path = join(folder, "bulk-peer", `${synchronous}-${run}.db`);
      const [figure] = await withSqlite(path, synchronous, [name], (table) => {
        table.insertRun({ first: 0, step: 2, count: bulkEntries });
        return [rate(name, "entries", bulkEntries / secondsSync(() => table.insertRun(newRows(bulkEntries))))];
      });
      if (figure?.value === null) missing = figure;
      return figure?.value ?? Number.NaN;
    });
    return missing ?? rate(name, "entries", perSecond);
  };
  return {
    name: peerName,
    async run() {
      await mkdir(join(folder, "bulk-peer"), { recursive: true });
      return [await measure("NORMAL"), await measure("FULL")];
    },
  };
}
