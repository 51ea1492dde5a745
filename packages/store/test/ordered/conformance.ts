import { describe, expect, test, vi } from "vitest";
import {
  BatchBuilder,
  collectRows,
  getOne,
  packKeys,
  type ReadView,
  rowKey,
  storeLimits,
  type StoreSnapshot,
  valueAt,
} from "../../src/index.js";
import { describeEveryLoops, type Openers } from "./every-loops.js";
import { bytes, closing, rows, text, write } from "./helpers.js";

/** A kind of place for stores. */
export interface StorePlace {
  readonly name: string;
  /** The location of a store that does not exist yet. */
  freshUrl(): string;
}

const numbered = (i: number): string => `k${String(i).padStart(6, "0")}`;

/** What every store must do, whatever it is kept in and whichever loops it uses. */
export function describeStore(place: StorePlace): void {
  describeEveryLoops(place.name, (openers) => describeStoreWith(place, openers));
}

function describeStoreWith(place: StorePlace, { openStore, openStoreReader }: Openers): void {
  describe(`store in ${place.name}: batches and gets`, () => {
    test("values come back in the order of the keys asked for, absent ones marked", async () => {
      const store = closing(await openStore(place.freshUrl()));
      await write(store, { a: "1", b: "", c: "3" });
      const values = await store.getMany(packKeys(["c", "x", "a", "b", "a"].map(bytes)));
      expect([0, 1, 2, 3, 4].map((i) => text(valueAt(values, i)))).toEqual(["3", undefined, "1", "", "1"]);
      expect(await getOne(store, bytes("b"))).toEqual(new Uint8Array(0));
      expect(await getOne(store, bytes("x"))).toBeUndefined();
      expect((await store.getMany(packKeys([]))).lengths.length).toBe(0);
    });

    test("a batch is applied in order: the later entry for a key wins", async () => {
      const store = closing(await openStore(place.freshUrl()));
      const batch = new BatchBuilder();
      batch.put(bytes("a"), bytes("first"));
      batch.put(bytes("a"), bytes("second"));
      batch.put(bytes("b"), bytes("gone"));
      batch.delete(bytes("b"));
      batch.delete(bytes("c"));
      batch.put(bytes("c"), bytes("back"));
      expect(batch.count).toBe(6);
      await store.write(batch.finish());
      expect(await rows(store)).toEqual(["a=second", "c=back"]);
    });

    test("sequence numbers grow", async () => {
      const store = closing(await openStore(place.freshUrl()));
      const first = await write(store, { a: "1" });
      const second = await write(store, { a: "2" });
      expect(second.sequence).toBeGreaterThan(first.sequence);
    });

    test("writes that were started together are all applied, in the order of their calls", async () => {
      const url = place.freshUrl();
      const store = closing(await openStore(url));
      const writes = Array.from({ length: 100 }, (_, i) => write(store, { shared: `${i}`, [numbered(i)]: "v" }));
      await Promise.all(writes);
      expect(text(await getOne(store, bytes("shared")))).toBe("99");
      // The next writer sees them without the first one being closed: they were durable when acknowledged.
      const next = closing(await openStore(url));
      expect(text(await getOne(next, bytes("shared")))).toBe("99");
      expect((await rows(next, "k", "l")).length).toBe(100);
    });

    test("the largest key and a large value survive; a longer key is refused", async () => {
      const url = place.freshUrl();
      const store = closing(await openStore(url));
      const key = new Uint8Array(storeLimits.keyBytes).fill(7);
      const value = new Uint8Array(4 * 1024 * 1024).map((_, i) => i % 251);
      const batch = new BatchBuilder();
      batch.put(key, value);
      expect(() => batch.put(new Uint8Array(storeLimits.keyBytes + 1), value)).toThrow(/a key has 65536 bytes/u);
      await store.write(batch.finish());
      await store.checkpointMemory();
      const found = await getOne(store, key);
      expect(found?.length).toBe(value.length);
      expect(Buffer.compare(found ?? new Uint8Array(0), value)).toBe(0);
    });

    test("more keys than the window holds, in memory and in tables", async () => {
      const store = closing(await openStore(place.freshUrl()));
      const batch = new BatchBuilder();
      for (let i = 0; i < 3000; i += 2) batch.put(bytes(numbered(i)), bytes(`${i}`));
      await store.write(batch.finish());
      const keys = packKeys(Array.from({ length: 3000 }, (_, i) => bytes(numbered((i * 7919) % 3000))));
      for (const flushed of [false, true]) {
        if (flushed) await store.checkpointMemory();
        const values = await store.getMany(keys);
        for (let i = 0; i < 3000; i++) {
          const number = (i * 7919) % 3000;
          expect(text(valueAt(values, i))).toBe(number % 2 === 0 ? `${number}` : undefined);
        }
      }
    });

    test("any number of reads and writes at once, none of them cached", async () => {
      const store = closing(await openStore(place.freshUrl(), { blockCache: false }));
      const batch = new BatchBuilder();
      for (let i = 0; i < 1000; i++) batch.put(bytes(numbered(i)), bytes(`${i}`));
      await store.write(batch.finish());
      await store.checkpointMemory();
      // More than 256 that complete on other threads at the same time would crash the process (see CallSlots).
      const single = Array.from({ length: 500 }, (_, i) => getOne(store, bytes(numbered(i))));
      const many = Array.from({ length: 3 }, () =>
        store.getMany(packKeys(Array.from({ length: 100 }, (_, i) => bytes(numbered(i))))),
      );
      const writes = Array.from({ length: 1000 }, (_, i) => write(store, { [`w${i}`]: "v" }));
      expect((await Promise.all(single)).map(text)).toEqual(Array.from({ length: 500 }, (_, i) => `${i}`));
      for (const values of await Promise.all(many)) expect(text(valueAt(values, 99))).toBe("99");
      await Promise.all(writes);
      expect((await rows(store, "w", "x")).length).toBe(1000);
    });

    test("lookups that go on without end do not keep a write from finishing", async () => {
      const store = closing(await openStore(place.freshUrl()));
      await write(store, { a: "1" });
      let written = false;
      const lookUp = async (): Promise<void> => {
        while (!written) await getOne(store, bytes("a"));
      };
      const lookups = Array.from({ length: 20 }, lookUp);
      await write(store, { b: "1" });
      written = true;
      await Promise.all(lookups);
      expect(await rows(store)).toEqual(["a=1", "b=1"]);
    });

    test("bad arguments are refused by name and leave the store usable", async () => {
      const store = closing(await openStore(place.freshUrl()));
      const bad = { code: "invalid_argument" };
      await expect(getOne(store, new Uint8Array(0))).rejects.toMatchObject(bad);
      await expect(store.getMany(packKeys([bytes("a"), new Uint8Array(0)]))).rejects.toMatchObject(bad);
      await expect(store.getMany({ data: bytes("ab"), ends: Uint32Array.of(1, 9) })).rejects.toMatchObject(bad);
      await expect(store.write(new BatchBuilder().finish())).rejects.toMatchObject(bad);
      await expect(store.write({ count: 1, data: bytes("ab"), ends: Uint32Array.of(1, 9) })).rejects.toMatchObject(bad);
      await expect(store.write({ count: 1, data: bytes("ab"), ends: Uint32Array.of(0, 1) })).rejects.toMatchObject(bad);
      await expect(store.write({ count: 2, data: bytes("ab"), ends: Uint32Array.of(1, 2) })).rejects.toMatchObject(bad);
      expect(() => new BatchBuilder().put(new Uint8Array(0), bytes("v"))).toThrow(/a key is empty/u);
      expect(() => store.scan({ start: new Uint8Array(0) })).toThrow(/start is empty/u);
      expect(() => store.scan({ start: bytes("b"), end: bytes("a") })).toThrow(/start is above end/u);
      expect(() => store.scan({}, { limit: -1 })).toThrow(/limit/u);
      expect(() => store.scan({}, { blockRows: 0 })).toThrow(/blockRows/u);
      expect(store.failure).toBeNull();
      await write(store, { a: "1" });
    });
  });

  describe(`store in ${place.name}: scans`, () => {
    test("start is inclusive, end exclusive, either may be open, both directions", async () => {
      const store = closing(await openStore(place.freshUrl()));
      await write(store, { a: "1", b: "2", c: "3", d: "4" });
      for (const flushed of [false, true]) {
        if (flushed) await store.checkpointMemory();
        expect(await rows(store)).toEqual(["a=1", "b=2", "c=3", "d=4"]);
        expect(await rows(store, "b", "d")).toEqual(["b=2", "c=3"]);
        expect(await rows(store, "b", "d", { reverse: true })).toEqual(["c=3", "b=2"]);
        expect(await rows(store, undefined, "c")).toEqual(["a=1", "b=2"]);
        expect(await rows(store, "bb")).toEqual(["c=3", "d=4"]);
        expect(await rows(store, undefined, undefined, { reverse: true, limit: 2 })).toEqual(["d=4", "c=3"]);
        expect(await rows(store, "b", "b")).toEqual([]);
        expect(await rows(store, undefined, undefined, { limit: 0 })).toEqual([]);
        expect(await rows(store, "x", "y")).toEqual([]);
      }
    });

    test("blocks hold as many rows as asked for, and a scan can be left and resumed", async () => {
      const store = closing(await openStore(place.freshUrl()));
      const batch = new BatchBuilder();
      for (let i = 0; i < 2500; i++) batch.put(bytes(numbered(i)), bytes(`${i}`));
      await store.write(batch.finish());
      const counts: number[] = [];
      for await (const block of store.scan({})) counts.push(block.count);
      expect(counts).toEqual([1000, 1000, 500]);
      counts.length = 0;
      for await (const block of store.scan({}, { blockRows: 7, limit: 20 })) counts.push(block.count);
      expect(counts).toEqual([7, 7, 6]);
      let last: Uint8Array | undefined;
      for await (const block of store.scan({}, { blockRows: 100 })) {
        last = rowKey(block, block.count - 1).slice();
        break;
      }
      expect(text(last)).toBe(numbered(99));
      const rest = await rows(store, `${text(last)}\0`, undefined, { limit: 2 });
      expect(rest).toEqual([`${numbered(100)}=100`, `${numbered(101)}=101`]);
    });

    test("a scan shows the state at its start, whatever is written meanwhile", async () => {
      const store = closing(await openStore(place.freshUrl()));
      await write(store, { a: "1", b: "1", c: "1" });
      const scan = store.scan({}, { blockRows: 1 });
      const first = await scan.next();
      await write(store, { b: "2", c: undefined, d: "2" });
      const rest = await collectRows(scan);
      expect(first.done).toBe(false);
      expect(rest.map(({ key, value }) => `${text(key)}=${text(value)}`)).toEqual(["b=1", "c=1"]);
    });

    test("timers run during a long scan and a long getMany", async () => {
      const store = closing(await openStore(place.freshUrl()));
      const batch = new BatchBuilder();
      for (let i = 0; i < 4000; i++) batch.put(bytes(numbered(i)), bytes("v"));
      await store.write(batch.finish());
      const keys = packKeys(Array.from({ length: 4000 }, (_, i) => bytes(numbered(i))));
      // So long that only calls that keep timers from running can account for a handful of ticks.
      const ticksDuring = async (call: () => Promise<void>): Promise<number> => {
        let ticks = 0;
        const timer = setInterval(() => ticks++, 1);
        for (const end = performance.now() + 60; performance.now() < end;) await call();
        clearInterval(timer);
        return ticks;
      };
      const duringScans = await ticksDuring(async () => {
        for await (const block of store.scan({}, { blockRows: 4000 })) expect(block.count).toBe(4000);
      });
      const duringGets = await ticksDuring(async () => void (await store.getMany(keys)));
      expect(duringScans).toBeGreaterThan(5);
      expect(duringGets).toBeGreaterThan(5);
    });
  });

  describe(`store in ${place.name}: snapshots`, () => {
    test("a snapshot keeps showing its cut, through flushes too", async () => {
      const store = closing(await openStore(place.freshUrl()));
      await write(store, { a: "1", b: "1" });
      const snapshot = await store.snapshot();
      await write(store, { a: "2", b: undefined, c: "2" });
      await store.checkpointMemory();
      expect(await rows(snapshot)).toEqual(["a=1", "b=1"]);
      expect(await rows(snapshot, undefined, undefined, { reverse: true })).toEqual(["b=1", "a=1"]);
      expect(text(await getOne(snapshot, bytes("a")))).toBe("1");
      expect(await getOne(snapshot, bytes("c"))).toBeUndefined();
      expect(await rows(store)).toEqual(["a=2", "c=2"]);
      snapshot.release();
    });

    test("snapshots that read the same keys again and again each keep their own cut", async () => {
      const store = closing(await openStore(place.freshUrl()));
      const keys = packKeys(["a", "b", "absent"].map(bytes));
      const read = async (view: ReadView): Promise<(string | undefined)[]> => {
        const values = await view.getMany(keys);
        return [0, 1, 2].map((i) => text(valueAt(values, i)));
      };
      const cuts: { view: StoreSnapshot; held: (string | undefined)[] }[] = [];
      for (let i = 0; i < 6; i++) {
        await write(store, i % 2 === 0 ? { a: `${i}` } : { b: i === 3 ? undefined : `${i}`, absent: undefined });
        if (i === 3) await store.checkpointMemory();
        cuts.push({ view: await store.snapshot(), held: await read(store) });
        // Twice: what was read once may come from a cache.
        for (let repeat = 0; repeat < 2; repeat++) {
          for (const { view, held } of cuts) expect(await read(view)).toEqual(held);
          for (const { view, held } of cuts) expect(text(await getOne(view, bytes("a")))).toBe(held[0]);
        }
      }
      expect(cuts.map(({ held }) => held[0])).toEqual(["0", "0", "2", "2", "4", "4"]);
      await store.close();
      for (const { view } of cuts) await expect(read(view)).rejects.toMatchObject({ code: "closed" });
    });

    test("a displaced writer serves nothing from memory for longer than it trusts its engine", async () => {
      const url = place.freshUrl();
      const store = closing(await openStore(url));
      await write(store, { a: "1" });
      const snapshot = await store.snapshot();
      expect(text(await getOne(snapshot, bytes("a")))).toBe("1");
      const next = closing(await openStore(url));
      await write(next, { a: "2" });
      await vi.waitFor(() => expect(getOne(snapshot, bytes("a"))).rejects.toMatchObject({ code: "fenced" }), {
        timeout: 20_000,
        interval: 50,
      });
    });

    test("a released snapshot fails with closed; releasing again does nothing", async () => {
      const store = closing(await openStore(place.freshUrl()));
      await write(store, { a: "1" });
      const snapshot = await store.snapshot();
      const scan = snapshot.scan({}, { blockRows: 1 });
      snapshot.release();
      snapshot.release();
      await expect(getOne(snapshot, bytes("a"))).rejects.toMatchObject({ code: "closed" });
      await expect(scan.next()).rejects.toMatchObject({ code: "closed" });
      expect(text(await getOne(store, bytes("a")))).toBe("1");
    });

    // So many single keys that some wait for the next turn of the event loop.
    test.each([
      ["one key", 1, 1],
      ["two keys", 1, 2],
      ["as many keys as wait for each other", 1, 100],
      ["many single keys", 300, 1],
    ])("a snapshot answers what it was asked before its release: %s", async (_, calls, keys) => {
      const store = closing(await openStore(place.freshUrl()));
      const names = Array.from({ length: 100 }, (__, i) => numbered(i));
      await write(store, Object.fromEntries(names.map((name) => [name, `of ${name}`])));
      await store.checkpointMemory();
      const snapshot = await store.snapshot();
      const asked = names.slice(0, keys);
      const reads = Array.from({ length: calls }, () => snapshot.getMany(packKeys(asked.map(bytes))));
      snapshot.release();
      for (const values of await Promise.all(reads)) {
        expect(asked.map((___, i) => text(valueAt(values, i)))).toEqual(asked.map((name) => `of ${name}`));
      }
      await expect(getOne(snapshot, bytes(numbered(0)))).rejects.toMatchObject({ code: "closed" });
    });
  });

  describe(`store in ${place.name}: lifetime`, () => {
    test("what was written is there after closing and opening", async () => {
      const url = place.freshUrl();
      const store = closing(await openStore(url));
      await write(store, { a: "1" });
      await write(store, { a: "2", b: "2" });
      await store.close();
      const again = closing(await openStore(url));
      expect(again.location).toBe(store.location);
      expect(await rows(again)).toEqual(["a=2", "b=2"]);
    });

    test("a closed store refuses every call with closed; closing twice is harmless", async () => {
      const store = closing(await openStore(place.freshUrl()));
      await write(store, { a: "1" });
      const snapshot = await store.snapshot();
      const closed = { code: "closed" };
      await Promise.all([store.close(), store.close()]);
      expect(store.failure).toMatchObject(closed);
      await expect(write(store, { a: "2" })).rejects.toMatchObject(closed);
      await expect(getOne(store, bytes("a"))).rejects.toMatchObject(closed);
      await expect(store.scan({}).next()).rejects.toMatchObject(closed);
      await expect(store.snapshot()).rejects.toMatchObject(closed);
      await expect(store.checkpointMemory()).rejects.toMatchObject(closed);
      await expect(getOne(snapshot, bytes("a"))).rejects.toMatchObject(closed);
      snapshot.release();
      await store.close();
    });

    test("calls in flight when the store is closed finish or fail with closed, and nothing acknowledged is missing", async () => {
      const url = place.freshUrl();
      const store = closing(await openStore(url));
      const writes = Array.from({ length: 50 }, (_, i) => write(store, { [numbered(i)]: "v" }));
      const reads = Array.from({ length: 50 }, (_, i) => getOne(store, bytes(numbered(i))));
      const outcomes = Promise.allSettled(writes);
      const readOutcomes = Promise.allSettled(reads);
      await store.close();
      const acknowledged = (await outcomes).flatMap((outcome, i) => {
        if (outcome.status === "fulfilled") return [numbered(i)];
        expect(outcome.reason).toMatchObject({ code: "closed" });
        return [];
      });
      for (const outcome of await readOutcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "closed" });
      }
      const again = closing(await openStore(url));
      expect(await rows(again)).toEqual(expect.arrayContaining(acknowledged.map((key) => `${key}=v`)));
    });

    test("a second writer fences the first one, which then fails for good with fenced", async () => {
      const url = place.freshUrl();
      const first = closing(await openStore(url));
      await write(first, { a: "1" });
      const second = closing(await openStore(url));
      await write(second, { a: "2" });
      const fenced = { code: "fenced" };
      await expect(write(first, { a: "lost", b: "lost" })).rejects.toMatchObject(fenced);
      expect(first.failure).toMatchObject(fenced);
      await expect(write(first, { b: "lost" })).rejects.toMatchObject(fenced);
      await expect(getOne(first, bytes("a"))).rejects.toMatchObject(fenced);
      await expect(first.scan({}).next()).rejects.toMatchObject(fenced);
      await expect(first.snapshot()).rejects.toMatchObject(fenced);
      await expect(first.checkpointMemory()).rejects.toMatchObject(fenced);
      await first.close();
      expect(first.failure).toMatchObject(fenced);
      await write(second, { c: "2" });
      expect(await rows(second)).toEqual(["a=2", "c=2"]);
    });

    test("closing a writer that was displaced without noticing is harmless", async () => {
      const url = place.freshUrl();
      const first = await openStore(url);
      await write(first, { a: "1" });
      const second = closing(await openStore(url));
      await first.close();
      await write(second, { b: "2" });
      expect(await rows(second)).toEqual(["a=1", "b=2"]);
    });

    test("an interval collects writes and makes them durable together", async () => {
      const url = place.freshUrl();
      const store = closing(await openStore(url, { flush: { intervalMs: 40 } }));
      const began = performance.now();
      await Promise.all(Array.from({ length: 20 }, (_, i) => write(store, { [numbered(i)]: "v" })));
      expect(performance.now() - began).toBeGreaterThan(35);
      const next = closing(await openStore(url));
      expect((await rows(next)).length).toBe(20);
    });
  });

  describe(`store in ${place.name}: readers`, () => {
    test("a reader follows the writer and does not fence it", async () => {
      const url = place.freshUrl();
      const store = closing(await openStore(url));
      await write(store, { a: "1" });
      const reader = closing(await openStoreReader(url, { pollIntervalMs: 20 }));
      expect(await rows(reader)).toEqual(["a=1"]);
      await write(store, { a: "2", b: "2" });
      await vi.waitFor(async () => expect(await rows(reader)).toEqual(["a=2", "b=2"]), { timeout: 10_000 });
      expect(text(await getOne(reader, bytes("b")))).toBe("2");
      await write(store, { c: "3" });
      await store.close();
      await vi.waitFor(async () => expect((await rows(reader)).length).toBe(3), { timeout: 10_000 });
      await reader.close();
      await reader.close();
      await expect(getOne(reader, bytes("a"))).rejects.toMatchObject({ code: "closed" });
      await expect(reader.scan({}).next()).rejects.toMatchObject({ code: "closed" });
    });

    test("where there is no store, a reader fails with not_found and creates nothing", async () => {
      const url = place.freshUrl();
      await expect(openStoreReader(url)).rejects.toMatchObject({ code: "not_found" });
      await expect(openStoreReader(url)).rejects.toMatchObject({ code: "not_found" });
    });
  });
}
