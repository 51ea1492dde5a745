import { join } from "node:path";
import { type Area, type Benchmark, type BenchmarkContext, expectEqual, type Lazy, lazy } from "../benchmark.js";
import { latency } from "../figure.js";
import { createLake, type Lake, openLake, registerRows } from "../lake.js";
import { latencyOf } from "../measure.js";
import { peerName } from "../peer/sqlite.js";
import { count } from "../report.js";
import type { Sizes } from "../sizes.js";
import { type Target, targets } from "../targets.js";
import { lookupPeer } from "./lookup-peer.js";
import { LookupPlan } from "./lookup-plan.js";

/** Reads of an index: while its entries are in memory, and from sorted tables after the lake was opened again. */
export function lookupArea(context: BenchmarkContext): Area {
  const { folder, sizes } = context;
  const plan = new LookupPlan(sizes);
  const memory = lazy(async () => {
    const lake = await createLake(join(folder, "lookups"), { indexes: "unique and group" });
    await registerRows(lake, "rows.parquet", plan.rows, sizes.lookupFanOut);
    return lake;
  });
  // The same lake: what reads it in memory comes first.
  const reopened = lazy(async () => {
    const { catalog, place } = await memory.get();
    await catalog.close();
    return await openLake(place);
  });
  const reads = readsOf(sizes, plan);
  const benchmarks = (
    [
      ["in memory", memory],
      ["reopened", reopened],
    ] as const
  ).flatMap(([place, lake]) => [
    ...reads.map((read) => readBenchmark(context, read, place, lake)),
    pinnedBenchmark(context, plan, place, lake),
  ]);
  return {
    name: "lookups",
    benchmarks: [...benchmarks, { name: peerName, run: () => lookupPeer(context, plan) }],
    async close() {
      await memory.ifMade(({ catalog }) => catalog.close());
      await reopened.ifMade(({ catalog }) => catalog.close());
    },
  };
}

/** Where the entries lie: in memory, or in sorted tables after the lake was opened again. */
type Place = "in memory" | "reopened";

/** Sets of values that come again and again where those of a `lookupMany` do: about as many values as single lookups ask for. */
const warmSets = 2;

const everywhere = (target: Target): Record<Place, Target> => ({ "in memory": target, reopened: target });

/** Gives row ids; the number of the call picks what is asked for. */
type Call = (number: number) => Promise<ArrayLike<unknown>>;

interface Read {
  readonly name: string;
  readonly unit: "us" | "ms";
  readonly calls: number;
  readonly rows: number;
  readonly targets?: Readonly<Record<Place, Target>>;
  prepare(lake: Lake): Call;
}

function readsOf(sizes: Sizes, plan: LookupPlan): Read[] {
  const { lookups, fanOutLookups, lookupFanOut, lookupManyKeys, lookupManyCalls } = sizes;
  const range = (rows: number, calls: number, target: Target): Read => ({
    name: `range of ${count(rows)}`,
    unit: "ms",
    calls,
    rows,
    targets: everywhere(target),
    prepare: ({ catalog, byValue }) => {
      return (call) =>
        catalog.indexRange({ index: byValue, lower: { values: [plan.rangeStart(call, rows)] }, limit: rows });
    },
  });
  const lookupMany = (which: string, values: (call: number) => number[]): Read => ({
    name: `lookupMany of ${count(lookupManyKeys)}${which}`,
    unit: "ms",
    calls: lookupManyCalls,
    rows: lookupManyKeys,
    targets: everywhere(targets.lookupMany1000Ms),
    prepare:
      ({ catalog, byValue }) =>
      (call) =>
        catalog.indexLookupMany({ index: byValue, keys: values(call).map((value) => [value]) }),
  });
  return [
    {
      name: "lookup, hit",
      unit: "us",
      calls: lookups,
      rows: 1,
      targets: { "in memory": targets.uniqueLookupMemoryUs, reopened: targets.uniqueLookupTablesUs },
      prepare:
        ({ catalog, byValue }) =>
        (call) =>
          catalog.indexLookup({ index: byValue, key: [plan.hit(call)] }),
    },
    {
      name: "lookup, hit, each value once",
      unit: "us",
      calls: lookups,
      rows: 1,
      prepare:
        ({ catalog, byValue }) =>
        (call) =>
          catalog.indexLookup({ index: byValue, key: [plan.once(call)] }),
    },
    {
      name: "lookup, miss",
      unit: "us",
      calls: lookups,
      rows: 0,
      prepare:
        ({ catalog, byValue }) =>
        (call) =>
          catalog.indexLookup({ index: byValue, key: [plan.miss(call)] }),
    },
    {
      name: `lookup, non-unique, ${lookupFanOut} rows`,
      unit: "us",
      calls: fanOutLookups,
      rows: lookupFanOut,
      prepare:
        ({ catalog, byGroup }) =>
        (call) =>
          catalog.indexLookup({ index: byGroup, key: [plan.group(call)] }),
    },
    lookupMany("", (call) => plan.many(call % warmSets)),
    lookupMany(", each value once", (call) => plan.many(call)),
    range(sizes.shortRangeRows, sizes.shortRanges, targets.range100Ms),
    range(sizes.longRangeRows, sizes.longRanges, targets.range10000Ms),
  ];
}

/** Several reads of one cut pin it once. */
function pinnedBenchmark({ sizes }: BenchmarkContext, plan: LookupPlan, place: string, lake: Lazy<Lake>): Benchmark {
  const name = `lookup, hit, in a pinned scope, ${place}`;
  return {
    name,
    async run() {
      const { catalog, byValue } = await lake.get();
      using scope = await catalog.reads();
      const measured = await latencyOf(sizes.repeats, sizes.lookups, (call) => {
        return scope.indexLookup({ index: byValue, key: [plan.hit(call)] });
      });
      return [latency(name, "us", measured)];
    },
  };
}

function readBenchmark({ sizes }: BenchmarkContext, read: Read, place: Place, lake: Lazy<Lake>): Benchmark {
  const name = `${read.name}, ${place}`;
  return {
    name,
    async run() {
      const call = read.prepare(await lake.get());
      expectEqual("the number of rows", (await call(0)).length, read.rows);
      const measured = await latencyOf(sizes.repeats, read.calls, call);
      const target = read.targets?.[place];
      return [latency(name, read.unit, measured, target === undefined ? {} : { target })];
    },
  };
}
