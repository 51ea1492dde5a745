import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Db, DbReader } from "@slatedb/uniffi";
import { describe, expect, test } from "vitest";
import { collectRows, packKeys } from "../../src/index.js";
import type { SlateReadable, SlateSnapshotHandle, StoreLoops } from "../../src/loops.js";
import { plainLoops } from "../../src/plain-loops.js";
import { storeErrorFrom } from "../../src/slate-errors.js";
import { nativeLoops, nativeLoopsAvailable } from "../ordered/every-loops.js";
import { bytes, temporaryFolder } from "../ordered/helpers.js";
import { flushMemory, folderPlace, memoryPlace, type Place } from "./databases.js";
import { numberedEntries, rowsOf, valuesOf, writeEntries } from "./loops.js";
import { openDb, openDbReader } from "./open-for-test.js";

/** What a call has come to: `answer`, or all that can be told of its error. */
interface Outcome {
  readonly answer?: unknown;
  readonly error?: string;
  readonly reason?: unknown;
  readonly message?: string;
  readonly code?: string;
  readonly typed?: string;
}

async function outcomeOf(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { answer: await call() };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const typed = storeErrorFrom(error, "it failed");
    return {
      error: error.constructor.name,
      reason: "reason" in error ? error.reason : undefined,
      message: error.message,
      code: typed.code,
      typed: `${typed.constructor.name}: ${typed.message}`,
    };
  }
}

type Calls = Record<string, () => Promise<unknown>>;

function readCalls(loops: StoreLoops, from: SlateReadable): Calls {
  return {
    "get of one key": () => valuesOf(loops, from, ["k000001"]),
    "get of many keys": () => valuesOf(loops, from, ["k000001", "absent", "k000002", "k000003"]),
    "scan upwards": () => rowsOf(loops, from, { blockRows: 3 }),
    "scan downwards": () => rowsOf(loops, from, { reverse: true, limit: 4 }),
  };
}

function writeCalls(loops: StoreLoops, db: Db): Calls {
  return {
    write: async () => typeof (await writeEntries(loops, db, { a: "1" })),
    flush: () => loops.flush(db),
    "moving memory to tables": () => loops.moveToTables(db),
    // Thrown by the call itself, unlike the others.
    "durable mark": () => Promise.resolve().then(() => typeof loops.durableSequence(db)),
    snapshot: async () => {
      (await loops.snapshot(db)).dispose();
    },
  };
}

async function outcomesOf(calls: Calls): Promise<Record<string, Outcome>> {
  const outcomes: Record<string, Outcome> = {};
  for (const [name, call] of Object.entries(calls)) outcomes[name] = await outcomeOf(call);
  return outcomes;
}

/** Runs the same calls through both loops; they must come to the same. Gives what they came to. */
async function sameOutcomes(calls: (loops: StoreLoops) => Calls): Promise<Record<string, Outcome>> {
  const plain = await outcomesOf(calls(plainLoops));
  const native = await outcomesOf(calls(nativeLoops()));
  expect(native).toEqual(plain);
  return native;
}

function codesOf(outcomes: Record<string, Outcome>): Set<string | undefined> {
  return new Set(Object.values(outcomes).map(({ code }) => code));
}

async function filledDb(place: Place): Promise<Db> {
  const db = await openDb(place);
  await writeEntries(plainLoops, db, numberedEntries(10));
  await db.flush();
  return db;
}

interface Pinned {
  readonly plain: SlateSnapshotHandle;
  readonly native: SlateSnapshotHandle;
}

/** Each kind of loops reads the snapshots that it has taken. */
async function pin(db: Db): Promise<Pinned> {
  return { plain: await plainLoops.snapshot(db), native: await nativeLoops().snapshot(db) };
}

function pinnedFor(loops: StoreLoops, pinned: Pinned): SlateSnapshotHandle {
  return loops.name === "native" ? pinned.native : pinned.plain;
}

async function filledReader(place: Place): Promise<DbReader> {
  await filledDb(place);
  return openDbReader(place);
}

const available = nativeLoopsAvailable("errors of both loops");

describe.skipIf(!available)("both loops fail alike", () => {
  test("nothing fails where nothing is wrong", async () => {
    const place = memoryPlace();
    const db = await filledDb(place);
    const pinned = await pin(db);
    const reader = await openDbReader(place);
    const outcomes = [
      await sameOutcomes((loops) => readCalls(loops, db)),
      await sameOutcomes((loops) => readCalls(loops, pinnedFor(loops, pinned))),
      await sameOutcomes((loops) => readCalls(loops, reader)),
      await sameOutcomes((loops) => writeCalls(loops, db)),
    ];
    for (const each of outcomes) expect(codesOf(each)).toEqual(new Set([undefined]));
    expect(outcomes[0]?.["get of many keys"]).toEqual({ answer: ["v1", undefined, "v2", "v3"] });
  });

  test("a database that was shut down", async () => {
    const db = await filledDb(memoryPlace());
    const pinned = await pin(db);
    await db.shutdown();
    const reads = await sameOutcomes((loops) => readCalls(loops, db));
    expect(codesOf(reads)).toEqual(new Set(["closed"]));
    const pinnedReads = await sameOutcomes((loops) => readCalls(loops, pinnedFor(loops, pinned)));
    expect(codesOf(pinnedReads)).toEqual(new Set(["closed"]));
    const writes = await sameOutcomes((loops) => writeCalls(loops, db));
    expect(codesOf(writes)).toContain("closed");
    await sameOutcomes((loops) => ({ "another shutdown": () => loops.shutdown(db) }));
  });

  test("a reader that was shut down", async () => {
    const reader = await filledReader(memoryPlace());
    await reader.shutdown();
    const reads = await sameOutcomes((loops) => readCalls(loops, reader));
    expect(codesOf(reads)).toEqual(new Set(["closed"]));
    await sameOutcomes((loops) => ({ "another shutdown": () => loops.shutdown(reader) }));
  });

  test("a database and a reader that the loops shut down", async () => {
    const ends = await sameOutcomes((loops) => ({
      "of a database": async () => {
        const db = await filledDb(memoryPlace());
        await loops.shutdown(db);
        return [await outcomesOf(readCalls(loops, db)), db.status().close_reason];
      },
      "of a reader": async () => {
        const reader = await filledReader(memoryPlace());
        await loops.shutdown(reader);
        return outcomesOf(readCalls(loops, reader));
      },
    }));
    expect(codesOf(ends)).toEqual(new Set([undefined]));
  });

  test("a database that a second writer has displaced", async () => {
    const place = memoryPlace();
    const db = await filledDb(place);
    const pinned = await pin(db);
    await openDb(place);
    await writeEntries(plainLoops, db, { a: "1" });
    await expect(db.flush()).rejects.toMatchObject({ reason: "Fenced" });
    const reads = await sameOutcomes((loops) => readCalls(loops, db));
    expect(codesOf(reads)).toEqual(new Set(["fenced"]));
    const pinnedReads = await sameOutcomes((loops) => readCalls(loops, pinnedFor(loops, pinned)));
    expect(codesOf(pinnedReads)).toEqual(new Set(["fenced"]));
    const writes = await sameOutcomes((loops) => writeCalls(loops, db));
    expect(codesOf(writes)).toContain("fenced");
  });

  test("objects that were disposed", async () => {
    const place = memoryPlace();
    const db = await filledDb(place);
    const pinned = await pin(db);
    const reader = await openDbReader(place);
    await reader.shutdown();
    await db.shutdown();
    for (const object of [pinned.plain, pinned.native, reader, db]) object.dispose();
    for (const object of [db, reader]) {
      const reads = await sameOutcomes((loops) => ({
        ...readCalls(loops, object),
        shutdown: () => loops.shutdown(object),
      }));
      expect(codesOf(reads)).toEqual(new Set(["closed"]));
    }
    expect(codesOf(await sameOutcomes((loops) => writeCalls(loops, db)))).toEqual(new Set(["closed"]));
    for (const loops of [plainLoops, nativeLoops()]) {
      // The class is our own where the snapshot is.
      expect(codesOf(await outcomesOf(readCalls(loops, pinnedFor(loops, pinned))))).toEqual(new Set(["closed"]));
    }
  });

  test("empty keys and bounds", async () => {
    const db = await filledDb(memoryPlace());
    const empty = new Uint8Array(0);
    const outcomes = await sameOutcomes((loops) => ({
      "get of one": () => loops.getMany(db, packKeys([empty]), false),
      "get of many": () => loops.getMany(db, packKeys([bytes("k000001"), empty, bytes("k000002")]), false),
      put: () => loops.write(db, { count: 1, data: bytes("v"), ends: Uint32Array.of(0, 1) }),
      delete: () => loops.write(db, { count: 1, data: empty, ends: Uint32Array.of(0, 0xffff_ffff) }),
      "put after others": () => loops.write(db, { count: 2, data: bytes("zzzv"), ends: Uint32Array.of(1, 3, 3, 4) }),
      "scan from": () => collectRows(loops.scan(db, { start: empty }, { limit: 1 })),
      "scan to": () => collectRows(loops.scan(db, { end: empty }, { limit: 1 })),
      "scan of nothing": () => collectRows(loops.scan(db, { start: bytes("b"), end: bytes("a") }, {})),
    }));
    expect(outcomes["put"]?.code).toBe("invalid_argument");
    expect(outcomes["delete"]?.code).toBe("invalid_argument");
    // A batch that fails has written nothing of itself.
    expect(outcomes["put after others"]?.code).toBe("invalid_argument");
    expect(await valuesOf(plainLoops, db, ["z"])).toEqual([undefined]);
  });

  test("tables that are gone", async () => {
    const folder = join(temporaryFolder(), "store");
    mkdirSync(folder);
    const first = await filledDb(folderPlace(folder));
    await flushMemory(first);
    await first.shutdown();
    const db = await openDb(folderPlace(folder));
    const pinned = await pin(db);
    rmSync(join(folder, "compacted"), { recursive: true });
    const reads = await sameOutcomes((loops) => readCalls(loops, db));
    expect(codesOf(reads)).toEqual(new Set(["store"]));
    const pinnedReads = await sameOutcomes((loops) => readCalls(loops, pinnedFor(loops, pinned)));
    expect(codesOf(pinnedReads)).toEqual(new Set(["store"]));
  });
});
