import { IndexKeyBuilder, type IndexKeys, type IndexLayout } from "@moraine/codec";
import { BatchBuilder, type RowBlock, type WritableStore, type WriteBatch } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { type FilterEvent, UniquenessFilters } from "../src/index.js";
import { KeyFilter } from "../src/key-filter.js";
import {
  filterMinimumKeys,
  filterRebuildMinimumKeys,
  filterRetryMisses,
  filterScanBlockRows,
  filterScanRowsPerMiss,
} from "../src/limits.js";
import { layout } from "./support.js";

const u = layout(7n, "unique", "int64");
const smallest = KeyFilter.bytesFor(filterMinimumKeys);

/** Takes every batch and keeps nothing; a scan brings what it was given, each block when the test lets it. */
class StubStore {
  readonly scanned: bigint[] = [];
  blocks: readonly (RowBlock | Error)[] = [];
  /** Waited for before each block. */
  gate: Promise<void> = Promise.resolve();
  scansEnded = 0;

  get asStore(): WritableStore {
    return {
      write: () => Promise.resolve({ sequence: 0n }),
      scan: ({ start }: { start: Uint8Array }) => this.#scan(start),
    } as unknown as WritableStore;
  }

  async *#scan(start: Uint8Array): AsyncIterableIterator<RowBlock> {
    this.scanned.push(BigInt(start[9]!));
    try {
      for (const block of this.blocks) {
        await this.gate;
        if (block instanceof Error) throw block;
        yield block;
      }
    } finally {
      this.scansEnded++;
    }
  }
}

function keysFrom(of: IndexLayout, from: number, count: number): IndexKeys {
  const builder = new IndexKeyBuilder(of);
  const values = BigInt64Array.from({ length: count }, (_, i) => BigInt(from + i));
  const rowIds = BigUint64Array.from({ length: count }, (_, i) => BigInt(from + i));
  builder.appendColumns([{ type: "int64", length: count, validity: null, values, offsets: null }], rowIds);
  return builder.finish();
}

function batchOf(keys: IndexKeys, action: "put" | "delete" = "put"): WriteBatch {
  const batch = new BatchBuilder();
  if (action === "delete") batch.deletePacked(keys);
  else batch.putPacked(keys);
  return batch.finish();
}

/** Stored entries as a scan brings them. */
function blockOf(keys: IndexKeys): RowBlock {
  return {
    count: keys.count,
    data: keys.data,
    ends: Uint32Array.from(keys.ends).reduce(twice, new Uint32Array(2 * keys.count)),
  };
}

function twice(ends: Uint32Array, end: number, i: number): Uint32Array {
  ends.fill(end, 2 * i, 2 * i + 2);
  return ends;
}

/** How many of the keys a filter does not take for absent. */
function held(filter: KeyFilter | undefined, keys: IndexKeys): number {
  if (filter === undefined) throw new Error("no filter answers");
  let count = 0;
  for (let i = 0, start = 0; i < keys.count; i++) {
    if (filter.mayHold(keys.data, start + 10, keys.ends[i]!)) count++;
    start = keys.ends[i]!;
  }
  return count;
}

function setUp(options: { rows?: number; maxBytes?: number; store?: WritableStore } = {}) {
  const stub = new StubStore();
  const events: FilterEvent[] = [];
  const told: (() => void)[] = [];
  const rows = new Map<bigint, number | undefined>();
  const filters = new UniquenessFilters({
    store: options.store ?? stub.asStore,
    rowsOf: (indexId) => (rows.has(indexId) ? rows.get(indexId) : (options.rows ?? 0)),
    tell: (event) => {
      events.push(event);
      for (const wake of told.splice(0)) wake();
    },
    ...(options.maxBytes === undefined ? {} : { maxBytes: options.maxBytes }),
  });
  /** Asks for a filter and waits for what comes of the build that this began. */
  const built = async (indexId: bigint): Promise<FilterEvent["outcome"]> => {
    const next = new Promise<void>((resolve) => told.push(resolve));
    expect(filters.filterOf(indexId)).toBeUndefined();
    await next;
    // The next build may begin when this one has let go.
    await new Promise((resolve) => setImmediate(resolve));
    return events.at(-1)!.outcome;
  };
  return { stub, events, rows, filters, built };
}

describe("when a filter is built", () => {
  it("an empty index has one after its first commit, at the cost of one scan that finds nothing", async () => {
    const { stub, events, filters, built } = setUp();
    expect(await built(7n)).toBe("ready");
    const keys = keysFrom(u, 0, 100);
    expect(held(filters.filterOf(7n), keys)).toBe(0);
    await filters.write(batchOf(keys));
    expect(held(filters.filterOf(7n), keys)).toBe(100);
    expect(stub.scanned).toEqual([7n]);
    expect(events).toMatchObject([{ indexId: 7n, outcome: "ready", keys: 0, bytes: smallest, error: undefined }]);
  });

  it("others when their misses have cost as much as the scan will, and not before", async () => {
    const { stub, filters, built } = setUp({ rows: 1000 });
    stub.blocks = [blockOf(keysFrom(u, 0, 1000))];
    const due = 1000 / filterScanRowsPerMiss;
    expect(filters.filterOf(7n)).toBeUndefined();
    filters.noteMisses(7n, due - 1);
    expect(filters.filterOf(7n)).toBeUndefined();
    expect(stub.scanned).toEqual([]);
    filters.noteMisses(7n, 1);
    expect(await built(7n)).toBe("ready");
    expect(held(filters.filterOf(7n), keysFrom(u, 0, 1000))).toBe(1000);
    expect(held(filters.filterOf(7n), keysFrom(u, 1000, 1000))).toBeLessThan(20);
  });

  it("one at a time", async () => {
    const { stub, filters, built } = setUp();
    let open: () => void = () => undefined;
    stub.gate = new Promise((resolve) => (open = resolve));
    stub.blocks = [blockOf(keysFrom(u, 0, 1))];
    const first = built(7n);
    expect(filters.filterOf(8n)).toBeUndefined();
    open();
    expect(await first).toBe("ready");
    expect(stub.scanned).toEqual([7n]);
    expect(await built(8n)).toBe("ready");
    expect(stub.scanned).toEqual([7n, 8n]);
  });

  it("not again at once after a scan that failed", async () => {
    const { stub, events, filters, built } = setUp();
    const failure = new Error("no answer");
    stub.blocks = [blockOf(keysFrom(u, 0, 3)), failure];
    expect(await built(7n)).toBe("failed");
    expect(events[0]).toMatchObject({ keys: 3, error: failure });
    expect([filters.filterOf(7n), filters.bytes]).toEqual([undefined, 0]);
    filters.noteMisses(7n, filterRetryMisses - 1);
    expect(filters.filterOf(7n)).toBeUndefined();
    expect(stub.scanned).toEqual([7n]);
    filters.noteMisses(7n, 1);
    stub.blocks = [];
    expect(await built(7n)).toBe("ready");
  });

  it("never while a batch is in flight, nor after one whose outcome is not known", async () => {
    let fail: (error: Error) => void = () => undefined;
    const stub = new StubStore();
    const store = stub.asStore;
    store.write = () => new Promise((_, reject) => (fail = reject));
    const { filters } = setUp({ store });
    const writing = filters.write(batchOf(keysFrom(u, 0, 1)));
    expect(filters.filterOf(7n)).toBeUndefined();
    fail(new Error("no answer"));
    await expect(writing).rejects.toThrow("no answer");
    expect(filters.filterOf(7n)).toBeUndefined();
    await filters.close();
    expect(stub.scanned).toEqual([]);
  });
});

describe("a filter that is in use", () => {
  it("grows with what is written, without another scan", async () => {
    const { stub, filters, built } = setUp();
    await built(7n);
    const count = 20 * filterMinimumKeys;
    for (let from = 0; from < count; from += count / 8) await filters.write(batchOf(keysFrom(u, from, count / 8)));
    expect(held(filters.filterOf(7n), keysFrom(u, 0, count))).toBe(count);
    expect(held(filters.filterOf(7n), keysFrom(u, count, count))).toBeLessThan(0.02 * count);
    expect(filters.bytes).toBeLessThan(5 * KeyFilter.bytesFor(count));
    expect(stub.scanned).toEqual([7n]);
  });

  it("is built anew when most of its keys are gone, and answers meanwhile", async () => {
    const { stub, events, filters, built } = setUp();
    await built(7n);
    const [dead, alive] = [keysFrom(u, 0, 1.25 * filterRebuildMinimumKeys), keysFrom(u, 1_000_000, 100)];
    await filters.write(batchOf(dead));
    await filters.write(batchOf(alive));
    const before = filters.bytes;
    await filters.write(batchOf(dead, "delete"));
    let open: () => void = () => undefined;
    stub.gate = new Promise((resolve) => (open = resolve));
    stub.blocks = [blockOf(alive)];
    expect(held(filters.filterOf(7n), alive)).toBe(100);
    const late = keysFrom(u, 2_000_000, 100);
    await filters.write(batchOf(late));
    expect(held(filters.filterOf(7n), late)).toBe(100);
    expect(filters.bytes).toBe(before + smallest);
    open();
    await expect.poll(() => events.length).toBe(2);
    expect(filters.bytes).toBe(smallest);
    expect([held(filters.filterOf(7n), alive), held(filters.filterOf(7n), late)]).toEqual([100, 100]);
    expect(held(filters.filterOf(7n), dead)).toBeLessThan(0.01 * dead.count);
    expect(stub.scanned).toEqual([7n, 7n]);
  });

  it("keeps keys that come and go as one", async () => {
    const { stub, filters, built } = setUp();
    await built(7n);
    const keys = keysFrom(u, 0, filterMinimumKeys - 200);
    for (let round = 0; round < 6; round++) {
      await filters.write(batchOf(keys));
      await filters.write(batchOf(keys, "delete"));
    }
    expect([filters.bytes, filters.filterOf(7n)?.keys]).toEqual([smallest, expect.any(Number)]);
    expect(stub.scanned).toEqual([7n]);
  });

  it("is that of the index alone, and of its value-keyed entries", async () => {
    const { filters, built } = setUp();
    await built(7n);
    await built(8n);
    const multi = new IndexKeyBuilder(u);
    multi.append([null], 5n);
    await filters.write(batchOf(multi.finish()));
    await filters.write(batchOf(keysFrom(layout(8n, "unique", "int64"), 0, 50)));
    await filters.write(batchOf(keysFrom(layout(7n, "multi", "int64"), 0, 50)));
    expect([filters.filterOf(7n)?.keys, filters.filterOf(8n)?.keys]).toEqual([0, 50]);
  });
});

describe("the memory of all filters", () => {
  it("goes to the index that was used last", async () => {
    const { events, filters, built } = setUp({ maxBytes: 2 * smallest });
    await built(1n);
    await built(2n);
    filters.filterOf(1n);
    await built(3n);
    expect(events.map(({ indexId, outcome }) => [indexId, outcome])).toEqual([
      [1n, "ready"],
      [2n, "ready"],
      [2n, "evicted"],
      [3n, "ready"],
    ]);
    expect(filters.bytes).toBe(2 * smallest);
    expect(filters.filterOf(1n)).toBeDefined();
  });

  it("is not spent on an index whose keys do not fit, and the scan is not repeated at once", async () => {
    const { stub, events, filters, built } = setUp({ maxBytes: 2 * smallest });
    const perBlock = filterMinimumKeys / 2;
    stub.blocks = [0, 1, 2, 3, 4, 5].map((n) => blockOf(keysFrom(u, n * perBlock, perBlock)));
    expect(await built(7n)).toBe("outgrown");
    expect(filters.bytes).toBe(0);
    filters.noteMisses(7n, filterRetryMisses);
    expect(filters.filterOf(7n)).toBeUndefined();
    filters.noteMisses(7n, 2 * filterMinimumKeys);
    // What it was seen to hold shows before another scan that there is no room.
    expect(filters.filterOf(7n)).toBeUndefined();
    await filters.close();
    expect(stub.scanned).toEqual([7n]);
    expect(events).toHaveLength(1);
  });

  it("is given back by an index that outgrows it", async () => {
    const { events, filters, built } = setUp({ maxBytes: 3 * smallest });
    await built(7n);
    await filters.write(batchOf(keysFrom(u, 0, 4 * filterMinimumKeys)));
    expect(events.at(-1)).toMatchObject({ indexId: 7n, outcome: "outgrown" });
    expect([filters.filterOf(7n), filters.bytes]).toEqual([undefined, 0]);
  });

  it("is given back by dropped indexes when another one wants some", async () => {
    const { events, rows, filters, built } = setUp();
    await built(1n);
    rows.set(1n, undefined);
    await built(2n);
    expect(events.map(({ indexId, outcome }) => [indexId, outcome])).toEqual([
      [1n, "ready"],
      [1n, "dropped"],
      [2n, "ready"],
    ]);
    expect(filters.bytes).toBe(smallest);
    expect(filters.filterOf(1n)).toBeUndefined();
  });
});

describe("closing", () => {
  it("ends a build at its next block and waits for that", async () => {
    const { stub, events, filters } = setUp();
    let open: () => void = () => undefined;
    stub.gate = new Promise((resolve) => (open = resolve));
    stub.blocks = Array.from({ length: 10 }, (_, n) =>
      blockOf(keysFrom(u, n * filterScanBlockRows, filterScanBlockRows)),
    );
    filters.filterOf(7n);
    let closed = false;
    const closing = filters.close().then(() => (closed = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect([closed, stub.scansEnded]).toEqual([false, 0]);
    open();
    await closing;
    expect([stub.scansEnded, filters.bytes]).toEqual([1, 0]);
    expect(events.map(({ outcome, keys }) => [outcome, keys])).toEqual([["stopped", 0]]);
    expect(filters.filterOf(7n)).toBeUndefined();
    await filters.write(batchOf(keysFrom(u, 0, 1)));
  });
});
