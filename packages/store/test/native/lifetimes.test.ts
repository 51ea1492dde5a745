import type { Db } from "@slatedb/uniffi";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { type PackedValues, packKeys, type RowBlock, rowKey, rowValue, valueAt } from "../../src/index.js";
import { NativeLoops } from "../../src/native/native-loops.js";
import { rangeRecord, scanOptionsRecord } from "../../src/native/records.js";
import { plainLoops } from "../../src/plain-loops.js";
import { turns } from "../../src/turns.js";
import { detach, nextTurn } from "../../src/within.js";
import { nativeLoops, nativeLoopsAvailable } from "../ordered/every-loops.js";
import { bytes, text } from "../ordered/helpers.js";
import { nativeAddon } from "./addon.js";
import { buildDb, endQuietly, flushMemory, memoryPlace } from "./databases.js";
import { collectGarbage } from "./garbage.js";
import { batchOf, numberedEntries, numberedKey, rowsOf, valuesOf, writeEntries } from "./loops.js";
import { openDb, openDbReader } from "./open-for-test.js";

const count = 2000;
const allKeys = Array.from({ length: count }, (_, i) => numberedKey(i));
const allRows = allKeys.map((key, i) => `${key}=v${i}`);

/** A database with `count` entries, in tables, so that many reads wait for another thread. */
async function filledDb(open: (place: ReturnType<typeof memoryPlace>) => Promise<Db> = openDb): Promise<Db> {
  const db = await open(memoryPlace());
  await writeEntries(nativeLoops(), db, numberedEntries(count));
  await flushMemory(db);
  return db;
}

function detachBuffer(array: Uint8Array | Uint32Array): void {
  structuredClone(array.buffer, { transfer: [array.buffer as ArrayBuffer] });
}

function expectAllValues(values: PackedValues): void {
  const found = allKeys.map((_, i) => text(valueAt(values, i)));
  expect(found).toEqual(allKeys.map((_, i) => `v${i}`));
}

function letterOf(i: number): string {
  return String.fromCharCode("a".charCodeAt(0) + i);
}

function outcomeOf(settled: PromiseSettledResult<unknown>): string {
  if (settled.status === "fulfilled") return "answered";
  const { tag, reason } = settled.reason as { readonly tag: unknown; readonly reason: unknown };
  return `${String(tag)} ${String(reason)}`;
}

const available = nativeLoopsAvailable("lifetimes of the native loops");

describe.skipIf(!available)("what native calls hold on to", () => {
  test.each(["changed", "detached", "collected"])("keys that are %s right after the call", async (fate) => {
    const loops = nativeLoops();
    const db = await filledDb();
    const reading = (() => {
      const keys = packKeys(allKeys.map(bytes));
      const call = loops.getMany(db, keys, false);
      if (fate === "changed") {
        keys.data.fill(0);
        keys.ends.fill(0);
      } else if (fate === "detached") {
        detachBuffer(keys.data);
        detachBuffer(keys.ends);
      }
      return call;
    })();
    collectGarbage();
    expectAllValues(await reading);
  });

  test.each(["changed", "detached", "collected"])("a batch that is %s right after the call", async (fate) => {
    const loops = nativeLoops();
    const db = await openDb(memoryPlace());
    const writing = (() => {
      const batch = batchOf(numberedEntries(count));
      const call = loops.write(db, batch);
      if (fate === "changed") {
        batch.data.fill(0);
        batch.ends.fill(0);
      } else if (fate === "detached") {
        detachBuffer(batch.data);
        detachBuffer(batch.ends);
      }
      return call;
    })();
    collectGarbage();
    await writing;
    expect(await rowsOf(loops, db)).toEqual(allRows);
  });

  // More calls than there are in one turn of the event loop: some wait for the next one.
  test.each(["changed", "detached"])("single keys that are %s right after the call, side by side", async (fate) => {
    for (const loops of [nativeLoops(), plainLoops]) {
      const db = await filledDb();
      const calls = allKeys.slice(0, 600).map((name) => {
        const key = bytes(name);
        const ends = Uint32Array.of(key.length);
        const call = loops.getMany(db, { data: key, ends }, false);
        if (fate === "changed") key.fill(0);
        else detachBuffer(key);
        ends.fill(0);
        return call;
      });
      const found = (await Promise.all(calls)).map((values) => text(valueAt(values, 0)));
      expect(found).toEqual(found.map((_, i) => `v${i}`));
    }
  });

  test("results live on after the store is closed and collected", async () => {
    const loops = nativeLoops();
    const results = await (async (): Promise<[PackedValues, PackedValues, RowBlock[]]> => {
      const db = await filledDb(buildDb);
      const many = await loops.getMany(db, packKeys(allKeys.map(bytes)), false);
      const one = await loops.getMany(db, packKeys([bytes("k000007")]), false);
      const blocks: RowBlock[] = [];
      for await (const block of loops.scan(db, {}, { blockRows: 700 })) blocks.push(block);
      await endQuietly(db);
      return [many, one, blocks];
    })();
    collectGarbage();
    await nextTurn();
    collectGarbage();
    const [many, one, blocks] = results;
    expectAllValues(many);
    expect(text(valueAt(one, 0))).toBe("v7");
    const rows = blocks.flatMap((block) =>
      Array.from({ length: block.count }, (_, i) => `${text(rowKey(block, i))}=${text(rowValue(block, i))}`),
    );
    expect(rows).toEqual(allRows);
  });

  test("large results, whose memory is handed over, live for as long as a part of them is held", async () => {
    const loops = nativeLoops();
    const db = await openDb(memoryPlace());
    const names = Array.from({ length: 16 }, (_, i) => numberedKey(i));
    const valueBytes = 16 * 1024;
    await writeEntries(loops, db, Object.fromEntries(names.map((name, i) => [name, letterOf(i).repeat(valueBytes)])));
    const keys = packKeys(names.map(bytes));
    /** One value of each result, which is all that is held of it, and whether it still is what was written. */
    const readOne = async (i: number): Promise<() => boolean> => {
      const values = await loops.getMany(db, keys, false);
      const { value: block } = (await loops.scan(db, {}, {}).next()) as { readonly value: RowBlock };
      for (const { data } of [values, block]) expect(data.length).toBeGreaterThanOrEqual(64 * 1024);
      const parts = [valueAt(values, i), rowValue(block, i)];
      const expected = letterOf(i).repeat(valueBytes);
      return () => parts.every((part) => text(part) === expected);
    };
    const held: (() => boolean)[] = [];
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < names.length; i++) held.push(await readOne(i));
      held.splice(0, names.length / 2);
      // What is freed too early is used again by the next round.
      collectGarbage();
      await nextTurn();
    }
    expect(held.map((isWhole) => isWhole())).toEqual(held.map(() => true));
  });

  test("scans that are forgotten before, during and after a block, and results that nobody waits for", async () => {
    const loops = nativeLoops();
    const addon = nativeAddon();
    const db = await filledDb();
    for (let round = 0; round < 8; round++) {
      await (async () => {
        addon.scan(0, db.uniffiHandle, rangeRecord({}), scanOptionsRecord(false, false));
        const busy = addon.scan(0, db.uniffiHandle, rangeRecord({}), scanOptionsRecord(true, true));
        void addon.scanNext(busy, count, 0xffff_ffff, 0);
        const left = loops.scan(db, {}, { blockRows: 10 });
        expect((await left.next()).value).toMatchObject({ count: 10 });
        const leftAhead = loops.scan(db, {}, { blockRows: 10 });
        await leftAhead.next();
        await leftAhead.next();
        detach(loops.getMany(db, packKeys(allKeys.map(bytes)), false));
      })();
      collectGarbage();
    }
    await nextTurn();
    collectGarbage();
    expect(await rowsOf(loops, db)).toEqual(allRows);
    await db.shutdown();
  });

  test("snapshots that are forgotten, or disposed once or twice, while they are read", async () => {
    const loops = nativeLoops();
    const db = await filledDb();
    const reads: Promise<PackedValues>[] = [];
    await (async () => {
      for (let i = 0; i < 20; i++) {
        const snapshot = await loops.snapshot(db);
        reads.push(loops.getMany(snapshot, packKeys(allKeys.map(bytes)), false));
        for (let disposed = 0; disposed < i % 3; disposed++) snapshot.dispose();
      }
    })();
    collectGarbage();
    await nextTurn();
    collectGarbage();
    for (const read of reads) expectAllValues(await read);
    await db.shutdown();
  });

  test("a snapshot that is disposed while it is read", async () => {
    const loops = nativeLoops();
    const db = await filledDb();
    const snapshot = await loops.snapshot(db);
    const scan = loops.scan(snapshot, {}, { blockRows: 400 });
    const first = await scan.next();
    vi.spyOn(turns, "next").mockReturnValue(null);
    onTestFinished(() => void vi.restoreAllMocks());
    // All in one step: single gets are gathered for the end of it.
    const reading = loops.getMany(snapshot, packKeys(allKeys.map(bytes)), false);
    const single = [3, 4].map((i) => loops.getMany(snapshot, packKeys([bytes(numberedKey(i))]), i === 4));
    snapshot.dispose();
    collectGarbage();
    expectAllValues(await reading);
    expect((await Promise.all(single)).map((values) => text(valueAt(values, 0)))).toEqual(["v3", "v4"]);
    const rest: unknown[] = [];
    for await (const block of scan) rest.push(block.count);
    expect([(first.value as RowBlock).count, ...rest]).toEqual([400, 400, 400, 400, 400]);
  });

  test("single gets that were called before a database or a reader is shut down begin before that", async () => {
    const addon = nativeAddon();
    const place = memoryPlace();
    const db = await openDb(place);
    await writeEntries(nativeLoops(), db, numberedEntries(count));
    await nativeLoops().flush(db);
    const reader = await openDbReader(place);
    vi.spyOn(turns, "next").mockReturnValue(null);
    onTestFinished(() => void vi.restoreAllMocks());
    for (const from of [reader, db]) {
      const began: string[] = [];
      const loops = new NativeLoops({
        ...addon,
        getMany: (...args) => {
          began.push("get");
          return addon.getMany(...args);
        },
        shutdown: (...args) => {
          began.push("shutdown");
          return addon.shutdown(...args);
        },
      });
      const reading = loops.getMany(from, packKeys([bytes(numberedKey(7))]), false);
      const ending = loops.shutdown(from);
      expect(began).toEqual(["get", "shutdown"]);
      expect(text(valueAt(await reading, 0))).toBe("v7");
      await ending;
    }
  });

  test("a database that is disposed while calls are in flight", async () => {
    const loops = nativeLoops();
    const place = memoryPlace();
    for (let round = 0; round < 6; round++) {
      const db = await buildDb(place);
      await writeEntries(loops, db, numberedEntries(count));
      if (round % 2 === 0) await flushMemory(db);
      const reading = loops.getMany(db, packKeys(allKeys.map(bytes)), false);
      const scanning = rowsOf(loops, db, { blockRows: 500 });
      const writing = loops.write(db, batchOf(numberedEntries(count)));
      const flushing = loops.flush(db);
      const pinning = loops.snapshot(db);
      const shutdown = db.shutdown();
      db.dispose();
      collectGarbage();
      // The end of the database may come before any of them.
      const settled = await Promise.allSettled([reading, scanning, writing, flushing, pinning]);
      for (const each of settled) expect(["answered", "Closed Clean"]).toContain(outcomeOf(each));
      if (settled[0].status === "fulfilled") expectAllValues(settled[0].value);
      if (settled[4].status === "fulfilled") settled[4].value.dispose();
      await shutdown;
    }
  });

  test("a database that is disposed, but not shut down, while calls are in flight: all of them succeed", async () => {
    const loops = nativeLoops();
    const db = await filledDb(buildDb);
    const reading = loops.getMany(db, packKeys(allKeys.map(bytes)), false);
    const scan = loops.scan(db, {}, { blockRows: 500 });
    const first = scan.next();
    const writing = loops.write(db, batchOf({ a: "1" }));
    const flushing = loops.flush(db);
    const pinning = loops.snapshot(db);
    db.dispose();
    collectGarbage();
    expectAllValues(await reading);
    expect((await first).value).toMatchObject({ count: 500 });
    await writing;
    await flushing;
    const snapshot = await pinning;
    // The snapshot keeps what it pins alive by itself.
    expect(await valuesOf(loops, snapshot, ["k000001", "absent"])).toEqual(["v1", undefined]);
    snapshot.dispose();
  });
});
