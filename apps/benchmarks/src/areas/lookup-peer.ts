import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { type BenchmarkContext, expectEqual } from "../benchmark.js";
import { type Figure, latency } from "../figure.js";
import { latencyOf } from "../measure.js";
import { peerLabel, withSqlite } from "../peer/sqlite.js";
import type { SqliteTable } from "../peer/sqlite-table.js";
import { count } from "../report.js";
import type { LookupPlan } from "./lookup-plan.js";

interface PeerRead {
  readonly name: string;
  readonly unit: "us" | "ms";
  readonly calls: number;
  /** Number of row ids that the first call gives. */
  readonly rows: number;
  readonly run: (table: SqliteTable, call: number) => readonly unknown[];
}

/** The same rows and the same reads in SQLite. Reads do not depend on `synchronous`, so there is one set of them. */
export async function lookupPeer({ sizes, folder }: BenchmarkContext, plan: LookupPlan): Promise<Figure[]> {
  const { lookups, lookupFanOut, lookupManyKeys } = sizes;
  const label = peerLabel("NORMAL");
  const range = (rows: number, calls: number): PeerRead => ({
    name: `${label}: range of ${count(rows)}`,
    unit: "ms",
    calls,
    rows,
    run: (table, call) => table.range(plan.rangeStart(call, rows), rows),
  });
  const reads: readonly PeerRead[] = [
    {
      name: `${label}: hit`,
      unit: "us",
      calls: lookups,
      rows: 1,
      run: (table, call) => table.byValue(plan.hit(call)),
    },
    {
      name: `${label}: miss`,
      unit: "us",
      calls: lookups,
      rows: 0,
      run: (table, call) => table.byValue(plan.miss(call)),
    },
    {
      name: `${label}: non-unique, ${lookupFanOut} rows`,
      unit: "us",
      calls: sizes.fanOutLookups,
      rows: lookupFanOut,
      run: (table, call) => table.byGroup(plan.group(call)),
    },
    {
      name: `${label}: ${count(lookupManyKeys)} keys, one by one`,
      unit: "ms",
      calls: sizes.lookupManyCalls,
      rows: lookupManyKeys,
      run: (table, call) => table.byValues(plan.many(call)),
    },
    range(sizes.shortRangeRows, sizes.shortRanges),
    range(sizes.longRangeRows, sizes.longRanges),
  ];
  await mkdir(join(folder, "lookup-peer"), { recursive: true });
  const names = reads.map(({ name }) => name);
  return await withSqlite(join(folder, "lookup-peer", "lookups.db"), "NORMAL", names, async (filled, reopen) => {
    filled.insertRun(plan.rows, lookupFanOut);
    const table = reopen();
    const figures: Figure[] = [];
    for (const { name, unit, calls, rows, run } of reads) {
      expectEqual("the number of rows", run(table, 0).length, rows);
      const measured = await latencyOf(sizes.repeats, calls, (call) => run(table, call));
      figures.push(latency(name, unit, measured));
    }
    return figures;
  });
}
