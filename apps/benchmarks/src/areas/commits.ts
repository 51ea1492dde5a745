import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Area, Benchmark, BenchmarkContext } from "../benchmark.js";
import { type Figure, latency } from "../figure.js";
import { createLake, type LakeOptions } from "../lake.js";
import { latencyOf, type Repeats } from "../measure.js";
import { bothSynchronous, peerLabel, peerName, withSqlite } from "../peer/sqlite.js";
import { type Target, targets } from "../targets.js";

/** Spreads consecutive numbers over the range of an index, each once (a multiplier that shares no factor with the range). */
export function spread(number: number): number {
  return Number((BigInt(number) * 2_654_435_761n) % 4_294_967_296n);
}

interface Variant {
  readonly flush: NonNullable<LakeOptions["flush"]>;
  readonly indexes: NonNullable<LakeOptions["indexes"]>;
  readonly commits: number;
  readonly repeats: Repeats;
  readonly target?: Target;
}

/** Commits of a few inline rows one after the other, each awaited until it is durable. */
export function commitArea(context: BenchmarkContext): Area {
  const { commitsEager, commits10Ms, commits100Ms, repeats, slowRepeats } = context.sizes;
  const target = targets.tenRowCommitEagerMs;
  const variants: Variant[] = [
    { flush: "eager", indexes: "unique", commits: commitsEager, repeats, target },
    { flush: "eager", indexes: "none", commits: commitsEager, repeats, target },
    { flush: { intervalMs: 10 }, indexes: "unique", commits: commits10Ms, repeats: slowRepeats },
    { flush: { intervalMs: 100 }, indexes: "unique", commits: commits100Ms, repeats: slowRepeats },
  ];
  return {
    name: "commits",
    benchmarks: [...variants.map((variant) => commitBenchmark(context, variant)), peerBenchmark(context)],
  };
}

export function flushLabel(flush: NonNullable<LakeOptions["flush"]>): string {
  return flush === "eager" ? "eager" : `flush every ${flush.intervalMs} ms`;
}

export function indexLabel(indexes: NonNullable<LakeOptions["indexes"]>): string {
  return indexes === "none" ? "no index" : "unique index";
}

function rowsOf(commit: number, count: number): { readonly v: number; readonly g: number; readonly name: string }[] {
  return Array.from({ length: count }, (_, i) => {
    const number = commit * count + i;
    return { v: spread(number), g: number, name: `row ${number}` };
  });
}

function commitBenchmark({ sizes, folder }: BenchmarkContext, variant: Variant): Benchmark {
  const { flush, indexes, commits, repeats, target } = variant;
  const name = `${sizes.rowsPerCommit} inline rows, ${indexLabel(indexes)}, ${flushLabel(flush)}`;
  return {
    name,
    async run() {
      await using lake = await createLake(join(folder, name), { flush, indexes });
      const { catalog, table } = lake;
      const measured = await latencyOf(repeats, commits, (number) => {
        const rows = rowsOf(number, sizes.rowsPerCommit);
        return catalog.commit((tx) => tx.inlineInsert({ table, rows }));
      });
      return [latency(name, "ms", measured, target === undefined ? {} : { target })];
    },
  };
}

function peerBenchmark({ sizes, folder }: BenchmarkContext): Benchmark {
  const { rowsPerCommit, commitsEager, repeats } = sizes;
  return {
    name: peerName,
    async run() {
      const figures: Figure[] = [];
      await mkdir(join(folder, "commits"), { recursive: true });
      for (const synchronous of bothSynchronous) {
        const name = `${peerLabel(synchronous)}: ${rowsPerCommit} rows`;
        const path = join(folder, "commits", `${synchronous}.db`);
        const measured = await withSqlite(path, synchronous, [name], async (table) => {
          const time = await latencyOf(repeats, commitsEager, (number) => {
            table.insert(rowsOf(number, rowsPerCommit).map((row) => [row.v, row.g, row.name] as const));
          });
          return [latency(name, "ms", time)];
        });
        figures.push(...measured);
      }
      return figures;
    },
  };
}
