import { join } from "node:path";
import {
  BatchBuilder,
  openStore,
  packKey,
  packKeys,
  type PackedKeys,
  type WritableStore,
  type WriteBatch,
} from "@moraine/store";
import { type Area, type Benchmark, type BenchmarkContext, expectEqual, type Lazy, lazy } from "../benchmark.js";
import { type Figure, latency, rate } from "../figure.js";
import { latencyOf, medianOf, seconds, settle } from "../measure.js";
import { randomIntegers } from "../random.js";
import { count } from "../report.js";
import { targets } from "../targets.js";

const keyBytes = 20;
const valueBytes = 8;

/** Which keys of the store a benchmark asks for: stored entries have even numbers. */
type Wanted = "hit" | "miss";

/** The ordered store alone: no catalog, no index. Keys of 20 bytes, values of 8, on the local disk, eager flush. */
export function storeArea(context: BenchmarkContext): Area {
  const { sizes, folder } = context;
  const memory = lazy(() => filledStore(join(folder, "store-memory"), sizes.storeEntries));
  const tables = lazy(async () => {
    const store = await filledStore(join(folder, "store-tables"), sizes.storeEntries);
    await store.checkpointMemory();
    return store;
  });
  const reads = (
    [
      ["memory", memory],
      ["tables", tables],
    ] as const
  ).flatMap(([place, store]) => [
    getBenchmark(context, place, store, "hit"),
    getBenchmark(context, place, store, "miss"),
    scanBenchmark(context, place, store),
  ]);
  return {
    name: "store",
    benchmarks: [writeBenchmark(context), eventLoopBenchmark(context), durableBatchBenchmark(context), ...reads],
    async close() {
      await memory.ifMade((store) => store.close());
      await tables.ifMade((store) => store.close());
    },
  };
}

async function withStore<T>(url: string, use: (store: WritableStore) => Promise<T>): Promise<T> {
  const store = await openStore(url);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

async function filledStore(url: string, entries: number): Promise<WritableStore> {
  const store = await openStore(url);
  await writeEntries(store, 0, entries);
  return store;
}

async function writeEntries(store: WritableStore, first: number, entries: number): Promise<void> {
  await store.write(batchOf(first, entries));
}

function batchOf(first: number, entries: number): WriteBatch {
  const batch = new BatchBuilder(entries * (keyBytes + valueBytes));
  const value = new Uint8Array(valueBytes);
  for (let i = first; i < first + entries; i++) batch.put(keyOf(2 * i), value);
  return batch.finish();
}

/** Keys in the order of their numbers. */
function keyOf(number: number): Uint8Array {
  const key = new Uint8Array(keyBytes).fill(0x6b);
  new DataView(key.buffer).setUint32(keyBytes - 4, number);
  return key;
}

function writeBenchmark({ sizes, folder }: BenchmarkContext): Benchmark {
  return {
    name: "put",
    async run() {
      const { storeEntries, slowRepeats } = sizes;
      const perSecond = await withStore(join(folder, "store-put"), (store) => {
        return medianOf(slowRepeats, async (run) => {
          return storeEntries / (await seconds(() => writeEntries(store, run * storeEntries, storeEntries)));
        });
      });
      return [
        rate(`put, ${count(storeEntries)} entries in one durable batch`, "entries", perSecond, {
          target: targets.storePutPerSecond,
        }),
      ];
    },
  };
}

/** How long timers and I/O wait while a very large batch is written. Building the batch, which is the caller's work, is left out. */
function eventLoopBenchmark({ sizes, folder }: BenchmarkContext): Benchmark {
  return {
    name: "event loop during a large put",
    async run() {
      const { storeLargeBatchEntries, slowRepeats } = sizes;
      const longestMs = await withStore(join(folder, "store-large"), (store) => {
        return medianOf(slowRepeats, async (run) => {
          const batch = batchOf(run * storeLargeBatchEntries, storeLargeBatchEntries);
          await settle();
          return await longestBlockMs(() => store.write(batch));
        });
      });
      const name = `put, ${count(storeLargeBatchEntries)} entries: longest the main thread is blocked`;
      return [{ name, value: longestMs, unit: "ms", target: targets.mainThreadBlockedMs }];
    },
  };
}

/** The longest time between two looks of a timer, one a millisecond, while a call runs, its synchronous part included. */
async function longestBlockMs(call: () => Promise<unknown>): Promise<number> {
  let last = performance.now();
  let longest = 0;
  const look = (): void => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const called = call();
  const timer = setInterval(look, 1);
  await called;
  clearInterval(timer);
  look();
  return longest;
}

function durableBatchBenchmark({ sizes, folder }: BenchmarkContext): Benchmark {
  return {
    name: "durable batch",
    async run() {
      const { durableBatches, durableBatchEntries, repeats } = sizes;
      const measured = await withStore(join(folder, "store-batches"), (store) => {
        return latencyOf(repeats, durableBatches, (number) => {
          return writeEntries(store, number * durableBatchEntries, durableBatchEntries);
        });
      });
      return [latency(`durable write of a batch of ${durableBatchEntries} entries`, "ms", measured)];
    },
  };
}

function getBenchmark(
  context: BenchmarkContext,
  place: string,
  lazyStore: Lazy<WritableStore>,
  wanted: Wanted,
): Benchmark {
  const { storeEntries, storeGets, storeGetWindow, storeSingleGets, repeats, slowRepeats } = context.sizes;
  return {
    name: `get ${wanted}, ${place}`,
    async run() {
      const store = await lazyStore.get();
      const numbers = randomIntegers(1, storeGets, storeEntries).map((i) => 2 * i + (wanted === "hit" ? 0 : 1));
      const windows: PackedKeys[] = [];
      for (let i = 0; i < storeGets; i += storeGetWindow) {
        windows.push(packKeys(numbers.slice(i, i + storeGetWindow).map(keyOf)));
      }
      const first = await store.getMany(packKey(keyOf(numbers[0] ?? 0)));
      expectEqual("the value's presence", first.lengths[0] === valueBytes, wanted === "hit");
      const many = await medianOf(slowRepeats, async () => {
        return (
          storeGets /
          (await seconds(async () => {
            for (const window of windows) await store.getMany(window);
          }))
        );
      });
      const single = await latencyOf(repeats, storeSingleGets, (number) => {
        return store.getMany(packKey(keyOf(numbers[number % numbers.length] ?? 0)));
      });
      const figures: Figure[] = [
        rate(`getMany of ${count(storeGetWindow)}, ${wanted}, from ${place}`, "keys", many, {
          target: place === "memory" ? targets.storeGetMemoryPerSecond : targets.storeGetTablesPerSecond,
        }),
        latency(`getMany of 1, ${wanted}, from ${place}`, "us", single),
      ];
      return figures;
    },
  };
}

function scanBenchmark(context: BenchmarkContext, place: string, lazyStore: Lazy<WritableStore>): Benchmark {
  const { storeEntries, slowRepeats } = context.sizes;
  return {
    name: `scan, ${place}`,
    async run() {
      const store = await lazyStore.get();
      const perSecond = await medianOf(slowRepeats, async () => {
        let rows = 0;
        const elapsed = await seconds(async () => {
          for await (const block of store.scan({})) rows += block.count;
        });
        expectEqual("the number of rows", rows, storeEntries);
        return rows / elapsed;
      });
      return [
        rate(`scan of ${count(storeEntries)} rows, from ${place}`, "rows", perSecond, {
          target: targets.storeScanPerSecond,
        }),
      ];
    },
  };
}
