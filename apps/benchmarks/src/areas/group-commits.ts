import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Area, Benchmark, BenchmarkContext } from "../benchmark.js";
import { type Figure, rate } from "../figure.js";
import { createLake, type Lake, type LakeOptions } from "../lake.js";
import { medianOf, seconds, secondsSync } from "../measure.js";
import { bothSynchronous, peerLabel, peerName, withSqlite } from "../peer/sqlite.js";
import { type Target, targets } from "../targets.js";
import { flushLabel, indexLabel, spread } from "./commits.js";

interface Variant {
  readonly flush: NonNullable<LakeOptions["flush"]>;
  readonly indexes: NonNullable<LakeOptions["indexes"]>;
  readonly commitsPerMember: number;
  readonly target?: Target;
}

/** Many callers that each commit one inline row after the other; the catalog lets those that wait share a durable write. */
export function groupCommitArea(context: BenchmarkContext): Area {
  const { groupCommitsEager, groupCommits10Ms, groupCommits100Ms } = context.sizes;
  const eager = targets.groupCommitsEagerPerSecond;
  const variants: Variant[] = [
    { flush: "eager", indexes: "unique", commitsPerMember: groupCommitsEager, target: eager },
    { flush: "eager", indexes: "none", commitsPerMember: groupCommitsEager, target: eager },
    {
      flush: { intervalMs: 10 },
      indexes: "unique",
      commitsPerMember: groupCommits10Ms,
      target: targets.groupCommits10MsPerSecond,
    },
    {
      flush: { intervalMs: 100 },
      indexes: "unique",
      commitsPerMember: groupCommits100Ms,
      target: targets.groupCommits100MsPerSecond,
    },
  ];
  return {
    name: "group commits",
    benchmarks: [...variants.map((variant) => groupBenchmark(context, variant)), peerBenchmark(context)],
  };
}

function groupBenchmark({ sizes, folder }: BenchmarkContext, variant: Variant): Benchmark {
  const { flush, indexes, commitsPerMember, target } = variant;
  const { groupMembers, repeats } = sizes;
  const name = `${groupMembers} callers, 1 row a commit, ${indexLabel(indexes)}, ${flushLabel(flush)}`;
  return {
    name,
    async run() {
      await using lake = await createLake(join(folder, name), { flush, indexes });
      let next = 0;
      const member = async (): Promise<void> => {
        for (let i = 0; i < commitsPerMember; i++) await commitRow(lake, next++);
      };
      const perSecond = await medianOf(repeats, async () => {
        const elapsed = await seconds(() => Promise.all(Array.from({ length: groupMembers }, member)));
        return (groupMembers * commitsPerMember) / elapsed;
      });
      return [rate(name, "commits", perSecond, target === undefined ? {} : { target })];
    },
  };
}

async function commitRow({ catalog, table }: Lake, number: number): Promise<void> {
  const rows = [{ v: spread(number), g: number, name: `row ${number}` }];
  await catalog.commit((tx) => tx.inlineInsert({ table, rows }));
}

/** SQLite has one writer and no group commit: the same transactions, one after the other. */
function peerBenchmark({ sizes, folder }: BenchmarkContext): Benchmark {
  const { groupMembers, groupCommitsEager, slowRepeats } = sizes;
  const transactions = groupMembers * groupCommitsEager;
  return {
    name: peerName,
    async run() {
      const figures: Figure[] = [];
      await mkdir(join(folder, "group-commits"), { recursive: true });
      for (const synchronous of bothSynchronous) {
        const name = `${peerLabel(synchronous)}: one after the other`;
        const path = join(folder, "group-commits", `${synchronous}.db`);
        const measured = await withSqlite(path, synchronous, [name], async (table) => {
          let next = 0;
          const perSecond = await medianOf(slowRepeats, () => {
            return (
              transactions /
              secondsSync(() => {
                for (let i = 0; i < transactions; i++, next++) table.insert([[spread(next), next, `row ${next}`]]);
              })
            );
          });
          return [rate(name, "commits", perSecond)];
        });
        figures.push(...measured);
      }
      return figures;
    },
  };
}
