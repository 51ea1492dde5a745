import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { ObjectStore } from "@slatedb/uniffi";
import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import type { Backend } from "../../src/backend.js";
import { FileBackend } from "../../src/file-backend.js";
import type { HeldFolder } from "../../src/held-folder.js";
import {
  BatchBuilder,
  collectRows,
  getOne,
  nextTurn,
  openStore,
  packKeys,
  storeLimits,
  valueAt,
  type WritableStore,
} from "../../src/index.js";
import { parseLocation, type StoreLocation } from "../../src/location.js";
import type { ManifestHead } from "../../src/manifest.js";
import { plainLoops } from "../../src/plain-loops.js";
import { SlateWriter } from "../../src/writer.js";
import { bytes, closing, rows, temporaryFolder, text, write } from "./helpers.js";

const minute = 60_000;

/** A wall clock that stands still until it is moved. */
class Clock {
  #ms = 1_700_000_000_000;
  readonly now = (): number => this.#ms;
  advance(ms: number): void {
    this.#ms += ms;
  }
}

function fileLocation(folder: string): StoreLocation & { kind: "file" } {
  const location = parseLocation(folder);
  if (location.kind !== "file") throw new Error("not a folder");
  return location;
}

async function epochIn(folder: string): Promise<bigint> {
  return (await new FileBackend(fileLocation(folder)).readManifest())?.writerEpoch ?? 0n;
}

function walIds(folder: string): number[] {
  return readdirSync(join(folder, "wal"))
    .map((name) => Number(name.replace(".sst", "")))
    .filter((id) => Number.isSafeInteger(id))
    .sort((a, b) => a - b);
}

describe("stall guard", () => {
  test("less than an hour of minimum age is refused", async () => {
    await expect(openStore("memory://age", { walMinAgeMs: 300_000 })).rejects.toMatchObject({ code: "configuration" });
    closing(await openStore("memory://age", { walMinAgeMs: storeLimits.walMinAgeMs }));
  });

  test("after less than half of the minimum age nothing is opened again", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const store = closing(await openStore(folder, { now: clock.now }));
    expect(await epochIn(folder)).toBe(1n);
    for (let i = 0; i < 5; i++) {
      clock.advance(29 * minute);
      await write(store, { a: `${i}` });
    }
    expect(await epochIn(folder)).toBe(1n);
  });

  test("memory that is being moved to tables during a stall is moved by the next engine", async () => {
    const clock = new Clock();
    const store = closing(await openStore("memory://moving", { now: clock.now }));
    await write(store, Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`k${i}`, "x".repeat(100)])));
    const moved = store.checkpointMemory();
    await nextTurn();
    clock.advance(31 * minute);
    await Promise.all([moved, write(store, { a: "1" })]);
    expect(store.failure).toBeNull();
    await write(store, { a: "2" });
    expect(await rows(store)).toContain("a=2");
  });

  test("no cut shows batches in part, or in a state that never was, while they are applied again", async () => {
    const clock = new Clock();
    const store = closing(await openStore("memory://again", { now: clock.now, flush: { intervalMs: 50 } }));
    const keys = packKeys([bytes("x"), bytes("y")]);
    const seen = new Set<string>();
    for (let round = 0; round < 6; round++) {
      await write(store, { x: "0", y: "0" });
      const filler = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`z${i}`, "z"]));
      const writes = [write(store, { x: "1" }), write(store, { x: "2", y: "2", ...filler })];
      await setTimeout(25);
      clock.advance(31 * minute);
      let isDone = false;
      const done = Promise.all(writes).finally(() => {
        isDone = true;
      });
      await setTimeout(30);
      while (!isDone) {
        const snapshot = await store.snapshot();
        // One whose engine is replaced meanwhile is lost, which is another matter.
        const values = await snapshot.getMany(keys).catch(() => undefined);
        snapshot.release();
        if (values !== undefined) seen.add([0, 1].map((i) => text(valueAt(values, i) ?? bytes("none"))).join());
        await nextTurn();
      }
      await done;
    }
    expect(["0,0", "1,0", "2,2"]).toEqual(expect.arrayContaining([...seen]));
  });

  test("a read that waits for a recovery has copied its keys", async () => {
    const clock = new Clock();
    const store = closing(await openStore("memory://copied", { now: clock.now }));
    await write(store, { a: "1", b: "2" });
    clock.advance(31 * minute);
    const keys = packKeys([bytes("a")]);
    const reading = store.getMany(keys);
    keys.data.set(bytes("b"));
    expect(text(valueAt(await reading, 0) ?? bytes(""))).toBe("1");
  });

  test.each(["memory", "file"])(
    "after more than half of it the store is opened again before a write is acknowledged (%s)",
    async (kind) => {
      const location = kind === "memory" ? "memory://stalled" : temporaryFolder();
      const clock = new Clock();
      const store = closing(await openStore(location, { now: clock.now }));
      await write(store, { a: "1", b: "1" });
      const snapshot = await store.snapshot();
      clock.advance(31 * minute);
      const recoveries: unknown[] = [];
      const note = (event: unknown): void => void recoveries.push(event);
      subscribe("moraine:store.recovery", note);
      onTestFinished(() => void unsubscribe("moraine:store.recovery", note));
      await write(store, { a: "2" });
      expect(recoveries).toEqual([
        { location: store.location, batches: 1, bytes: 2, durationMs: expect.any(Number) as number },
      ]);
      if (kind === "file") expect(await epochIn(location)).toBe(2n);
      expect(store.failure).toBeNull();
      expect(await rows(store)).toEqual(["a=2", "b=1"]);
      await expect(getOne(snapshot, bytes("a"))).rejects.toMatchObject({ code: "closed" });
      snapshot.release();
      const again = await store.snapshot();
      expect(text(await getOne(again, bytes("a")))).toBe("2");
      again.release();
    },
  );

  test("reads and snapshots after a stall come from the store that was opened again", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const store = closing(await openStore(folder, { now: clock.now }));
    await write(store, { a: "1" });
    clock.advance(31 * minute);
    expect(text(await getOne(store, bytes("a")))).toBe("1");
    expect(await epochIn(folder)).toBe(2n);
    clock.advance(31 * minute);
    expect(await rows(store)).toEqual(["a=1"]);
    expect(await epochIn(folder)).toBe(3n);
    clock.advance(31 * minute);
    (await store.snapshot()).release();
    expect(await epochIn(folder)).toBe(4n);
  });

  test("a clock that is set back counts as a stall, since it could hide one", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const store = closing(await openStore(folder, { now: clock.now }));
    clock.advance(-31 * minute);
    await write(store, { a: "1" });
    expect(await epochIn(folder)).toBe(2n);
  });

  test("writes in flight during a stall are made again, in their order, and acknowledged", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const store = closing(await openStore(folder, { now: clock.now }));
    await write(store, { other: "kept" });
    const writes = Array.from({ length: 50 }, (_, i) => write(store, { shared: `${i}`, [`k${i}`]: "v" }));
    clock.advance(31 * minute);
    const late = write(store, { shared: "late" });
    await Promise.all([...writes, late]);
    expect(await epochIn(folder)).toBe(2n);
    expect(text(await getOne(store, bytes("shared")))).toBe("late");
    await store.close();
    const again = closing(await openStore(folder));
    expect((await rows(again, "k", "l")).length).toBe(50);
    expect(text(await getOne(again, bytes("shared")))).toBe("late");
  });

  test("a write that was under way when the process was suspended is made again before it is acknowledged", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const store = closing(await openStore(folder, { now: clock.now }));
    const underWay = [write(store, { a: "1" }), write(store, { a: "2" })];
    clock.advance(31 * minute);
    await Promise.all(underWay);
    expect(await epochIn(folder)).toBe(2n);
    expect(await rows(store)).toEqual(["a=2"]);
  });

  test("reads under way while the store is opened again are answered or fail with closed, and never end the handle", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const store = closing(await openStore(folder, { now: clock.now, blockCache: false }));
    const batch = new BatchBuilder();
    for (let i = 0; i < 2000; i++) batch.put(bytes(`k${i}`), bytes(`${i}`));
    await store.write(batch.finish());
    await store.checkpointMemory();
    const keys = packKeys(Array.from({ length: 2000 }, (_, i) => bytes(`k${i}`)));
    const snapshot = await store.snapshot();
    const scan = store.scan({}, { blockRows: 10 });
    await scan.next();
    const reads = Array.from({ length: 5 }, () => store.getMany(keys));
    const pinnedReads = Array.from({ length: 5 }, () => snapshot.getMany(keys));
    const outcomes = Promise.allSettled(pinnedReads);
    clock.advance(31 * minute);
    await write(store, { after: "1" });
    for (const values of await Promise.all(reads)) expect(text(valueAt(values, 1999))).toBe("1999");
    for (const outcome of await outcomes) {
      if (outcome.status === "rejected") expect(outcome.reason).toMatchObject({ code: "closed" });
    }
    const drained = await collectRows(scan).then(
      (rest) => rest.length,
      (error: unknown) => (error instanceof Error && "code" in error ? error.code : error),
    );
    expect([1991, 1990, "closed"]).toContain(drained);
    expect(store.failure).toBeNull();
    expect(await epochIn(folder)).toBe(2n);
  });

  test("writes made at every step of the end of a recovery are kept, in their order", async () => {
    const clock = new Clock();
    const backend = new FileBackend(fileLocation(temporaryFolder()));
    await backend.prepareForWriting();
    let afterOpening = (): void => undefined;
    const inner = backend.openWriter.bind(backend);
    vi.spyOn(backend, "openWriter").mockImplementation(async (open) => {
      const opened = await inner(open);
      afterOpening();
      return opened;
    });
    const store = closing(await openWith(backend, clock));
    await write(store, { first: "v" });
    const acknowledged: Promise<unknown>[] = [];
    // One write in each of many microtasks, so that some lie between any two steps of the recovery.
    const keepWriting = (left: number): void => {
      if (left === 0) return;
      const i = acknowledged.length;
      acknowledged.push(write(store, { [`k${i}`]: "v", last: `${i}` }));
      queueMicrotask(() => keepWriting(left - 1));
    };
    afterOpening = () => {
      afterOpening = () => undefined;
      keepWriting(40);
    };
    clock.advance(31 * minute);
    await write(store, { second: "v" });
    await Promise.all(acknowledged);
    expect(acknowledged).toHaveLength(40);
    expect(await rows(store, "k", "l")).toHaveLength(40);
    expect(text(await getOne(store, bytes("last")))).toBe("39");
  });

  test("S20: a displaced writer that wakes up after the successor's objects were collected is fenced, and does not fence back", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const first = closing(await openStore(folder, { now: clock.now }));
    await write(first, { a: "1" });
    const second = closing(await openStore(folder));
    await write(second, { a: "2", b: "2" });
    await second.checkpointMemory();
    // What garbage collection does an hour later. Now nothing in the write-ahead log tells the first writer of the second.
    const flushed = (await new FileBackend(fileLocation(folder)).readManifest())?.replayAfterWalId ?? 0n;
    for (const id of walIds(folder)) {
      if (BigInt(id) <= flushed) rmSync(join(folder, "wal", `${String(id).padStart(20, "0")}.sst`));
    }
    clock.advance(31 * minute);
    await expect(write(first, { a: "lost" })).rejects.toMatchObject({ code: "fenced" });
    expect(first.failure).toMatchObject({ code: "fenced" });
    expect(await epochIn(folder)).toBe(2n);
    await write(second, { c: "3" });
    expect(await rows(second)).toEqual(["a=2", "b=2", "c=3"]);
    await second.close();
    expect(await rows(closing(await openStore(folder)))).toEqual(["a=2", "b=2", "c=3"]);
  });

  test("two handles on a store in memory: the displaced one is fenced after a stall and leaves the other alone", async () => {
    const clock = new Clock();
    const first = closing(await openStore("memory://displaced", { now: clock.now }));
    const second = closing(await openStore("memory://displaced"));
    clock.advance(31 * minute);
    await expect(first.snapshot()).rejects.toMatchObject({ code: "fenced" });
    await write(second, { a: "1" });
    expect(second.failure).toBeNull();
  });

  test("a writer that opens between the look at the manifest and the opening has the better right", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const backend = new MeddledBackend(folder);
    const first = closing(await openWith(backend, clock));
    await write(first, { a: "1" });
    backend.meddle = async () => {
      closing(await openStore(folder));
    };
    clock.advance(31 * minute);
    await expect(write(first, { a: "2" })).rejects.toMatchObject({ code: "fenced" });
    expect(first.failure).toMatchObject({ code: "fenced" });
    expect(await rows(closing(await openStore(folder)))).toEqual(["a=1"]);
  });

  test("a manifest that cannot be read ends the handle: nothing is acknowledged on trust", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const backend = new MeddledBackend(folder);
    const store = closing(await openWith(backend, clock));
    backend.meddle = () => Promise.reject(new Error("unreadable"));
    clock.advance(31 * minute);
    await expect(write(store, { a: "1" })).rejects.toMatchObject({ code: "store" });
    expect(await rows(closing(await openStore(folder)))).toEqual([]);
  });
});

describe("heartbeat", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  async function openWithFakeTimer(folder: string, clock: Clock): Promise<WritableStore> {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    return closing(await openStore(folder, { now: clock.now }));
  }

  const beatMs = storeLimits.walMinAgeMs / 2 / storeLimits.heartbeatsPerHalfAge;

  test("an idle writer that looks at the manifest now and then is never stalled", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const looked = vi.spyOn(FileBackend.prototype, "readManifest");
    onTestFinished(() => looked.mockRestore());
    const store = await openWithFakeTimer(folder, clock);
    for (let i = 1; i <= 20; i++) {
      const looks = looked.mock.results.length;
      clock.advance(beatMs);
      vi.advanceTimersByTime(beatMs);
      await vi.waitFor(() => expect(looked.mock.settledResults.slice(looks)[0]?.type).toBe("fulfilled"));
      // The mark is set in a later microtask than the one in which the look ends.
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
    }
    await write(store, { a: "1" });
    expect(await epochIn(folder)).toBe(1n);
  });

  test("a displaced idle writer learns of it by its next look", async () => {
    const folder = temporaryFolder();
    const clock = new Clock();
    const store = await openWithFakeTimer(folder, clock);
    closing(await openStore(folder));
    clock.advance(beatMs);
    vi.advanceTimersByTime(beatMs);
    await vi.waitFor(() => expect(store.failure).toMatchObject({ code: "fenced" }));
  });
});

function openWith(backend: Backend, clock: Clock): Promise<SlateWriter> {
  return SlateWriter.open(backend, plainLoops, {
    blockCache: true,
    walMinAgeMs: storeLimits.walMinAgeMs,
    flushDelayMs: 0,
    walObjectsPerCheckpoint: storeLimits.walObjectsPerCheckpoint,
    requestTimeoutMs: 10_000,
    now: clock.now,
  });
}

/** A local store in which something happens between the first look at the manifest and what follows it. */
class MeddledBackend implements Backend {
  meddle: (() => Promise<void>) | null = null;
  readonly path = "";
  readonly #inner: FileBackend;

  constructor(folder: string) {
    this.#inner = new FileBackend(fileLocation(folder));
  }

  get location(): StoreLocation {
    return this.#inner.location;
  }

  get folder(): HeldFolder | null {
    return this.#inner.folder;
  }

  get objectStore(): ObjectStore {
    return this.#inner.objectStore;
  }

  prepareForWriting(): Promise<void> {
    return this.#inner.prepareForWriting();
  }

  prepareForReading(): Promise<void> {
    return this.#inner.prepareForReading();
  }

  openWriter<T>(open: () => Promise<T>): Promise<T> {
    return this.#inner.openWriter(open);
  }

  async readManifest(): Promise<ManifestHead | undefined> {
    const head = await this.#inner.readManifest();
    const meddle = this.meddle;
    this.meddle = null;
    await meddle?.();
    return head;
  }

  diagnose(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  close(): void {
    this.#inner.close();
  }
}
