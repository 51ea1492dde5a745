import type { Db } from "@slatedb/uniffi";
import { beforeEach, describe, expect, test } from "vitest";
import { packKeys } from "../../src/index.js";
import type { NativeAddon, NativeBatch, NativeCursor, NativePin } from "../../src/native/addon.js";
import { rangeRecord, scanOptionsRecord } from "../../src/native/records.js";
import { nativeLoops, nativeLoopsAvailable } from "../ordered/every-loops.js";
import { bytes } from "../ordered/helpers.js";
import { nativeAddon } from "./addon.js";
import { memoryPlace } from "./databases.js";
import { batchOf, numberedEntries, writeEntries } from "./loops.js";
import { openDb } from "./open-for-test.js";

type AnyFunction = (...args: readonly unknown[]) => unknown;

const whole = packKeys([bytes("k000001"), bytes("absent")]);
const batch = batchOf({ a: "1" });
const range = rangeRecord({});
const options = scanOptionsRecord(false, false);

/** Values of every type; each argument is given those that are not of its own. */
const values = {
  undefined: undefined,
  null: null,
  "a boolean": true,
  "a fraction": 1.5,
  "a negative number": -1,
  "a number beyond 32 bits": 2 ** 32,
  "not a number": Number.NaN,
  "an infinite number": Number.POSITIVE_INFINITY,
  "a bigint beyond 64 bits": 2n ** 64n,
  "a negative bigint": -1n,
  "the bigint zero": 0n,
  text: "text",
  "a symbol": Symbol("symbol"),
  "an object": {},
  "a list": [1, 2, 3],
  "a function": () => undefined,
  "an ArrayBuffer": new ArrayBuffer(8),
  "a DataView": new DataView(new ArrayBuffer(8)),
  "an Int8Array": new Int8Array(8),
  "an Int32Array": new Int32Array(2),
  "a Float64Array": new Float64Array(2),
  "a Uint8ClampedArray": new Uint8ClampedArray(8),
  "a proxy of a Uint8Array": new Proxy(new Uint8Array(8), {}),
} as const;
type ValueName = keyof typeof values;

/** One argument: one that fits, and which of the values above fit too. */
interface Argument {
  readonly good: (given: Given) => unknown;
  readonly alsoGood?: readonly ValueName[];
}

/** What the arguments are taken from. */
interface Given {
  readonly addon: NativeAddon;
  readonly db: Db;
  readonly cursor: NativeCursor;
  readonly pin: NativePin;
}

const kind: Argument = { good: () => 0 };
const handle: Argument = { good: ({ db }) => db.uniffiHandle };
const uint8: Argument = { good: () => whole.data };
const uint32: Argument = { good: () => whole.ends };
const number: Argument = { good: () => 1 };
const cursorArgument: Argument = { good: ({ cursor }) => cursor };
const pinArgument: Argument = { good: ({ pin }) => pin };

const openBatch: Argument = { good: ({ addon, db }) => addon.writeBegin(db.uniffiHandle) };

/** Every function that the addon has. A new one has to be added here, with its arguments. */
const functions: Readonly<Record<keyof NativeAddon, readonly Argument[]>> = {
  load: [
    { good: () => "/nowhere.so", alsoGood: ["text"] },
    { good: () => "nothing", alsoGood: ["undefined", "text"] },
  ],
  getMany: [kind, handle, uint8, uint32, number, number, number],
  scan: [kind, handle, { good: () => range }, { good: () => options }],
  scanNext: [cursorArgument, number, number, number],
  scanClose: [cursorArgument],
  writeBegin: [handle],
  writeAppend: [openBatch, { good: () => batch.data }, { good: () => batch.ends }, { good: () => 0 }],
  writeEnd: [openBatch],
  writeAbort: [openBatch],
  flush: [handle],
  moveToTables: [handle],
  durableSequence: [handle],
  snapshot: [handle],
  releaseSnapshot: [pinArgument],
  shutdown: [kind, handle],
  openFolder: [uint8],
  // None that is open.
  closeFolder: [{ good: () => 0x7fff_ffff }],
};

/** Arguments of which the last ones may be left out. */
const optional: Partial<Record<keyof NativeAddon, number>> = { load: 1 };

const argumentError = { name: "TypeError", code: "MORAINE_NATIVE_ARGUMENT" };

function refusal(call: () => unknown): unknown {
  try {
    return { answered: call() };
  } catch (error) {
    return error;
  }
}

const available = nativeLoopsAvailable("arguments of the addon");

describe.skipIf(!available)("the addon's functions refuse what does not fit", () => {
  let given: Given;
  beforeEach(async () => {
    const addon = nativeAddon();
    const db = await openDb(memoryPlace());
    await writeEntries(nativeLoops(), db, numberedEntries(3000));
    const cursor = addon.scan(0, db.uniffiHandle, range, options);
    given = { addon, db, cursor, pin: await addon.snapshot(db.uniffiHandle) };
  });

  const functionOf = (name: string): AnyFunction => {
    const found: unknown = new Map<string, unknown>(Object.entries(given.addon)).get(name);
    if (typeof found !== "function") throw new Error(`the addon has no ${name}`);
    return found as AnyFunction;
  };

  test("every function that the addon exports is tested here", () => {
    expect(Object.keys(given.addon).sort()).toEqual(Object.keys(functions).sort());
  });

  test.each(Object.entries(functions))("%s: each argument of another type, and too few of them", (name, list) => {
    const call = functionOf(name);
    const good = list.map((argument) => argument.good(given));
    let refused = 0;
    for (const [at, argument] of list.entries()) {
      for (const [type, value] of Object.entries(values)) {
        if (argument.alsoGood?.includes(type as ValueName) === true) continue;
        const args = good.with(at, value);
        expect([type, refusal(() => call(...args))]).toEqual([type, expect.objectContaining(argumentError)]);
        refused += 1;
      }
    }
    for (let count = 0; count < list.length - (optional[name as keyof NativeAddon] ?? 0); count++) {
      expect(refusal(() => call(...good.slice(0, count)))).toMatchObject(argumentError);
    }
    expect(refused).toBeGreaterThan(0);
  });

  test("kinds of readables that there are not", () => {
    const { addon, db } = given;
    const call = addon.getMany.bind(addon) as AnyFunction;
    for (const wrong of [3, 255, 0xffff_ffff]) {
      expect(refusal(() => call(wrong, db.uniffiHandle, whole.data, whole.ends, 1, 1, 1))).toMatchObject(argumentError);
    }
  });

  test("ends of keys out of order or past the data", () => {
    const { addon, db } = given;
    const get = (data: Uint8Array, ends: readonly number[]): unknown =>
      refusal(() => addon.getMany(0, db.uniffiHandle, data, Uint32Array.from(ends), 1, 8, 0));
    const data = bytes("abcdef");
    for (const ends of [[2, 1], [0, 6, 5], [7], [0xffff_ffff], [6, 0xffff_ffff], [0x8000_0000]]) {
      expect(get(data, ends)).toMatchObject(argumentError);
    }
    expect(get(new Uint8Array(0), [1])).toMatchObject(argumentError);
    expect(get(data, [3, 6])).toEqual({ answered: expect.any(ArrayBuffer) as unknown });
    expect(get(data, [])).toEqual({ answered: new ArrayBuffer(0) });
  });

  test("ends of a batch out of order, past the data, before its beginning, or one too few", () => {
    const { addon, db } = given;
    const put = (ends: readonly number[], base = 0): unknown => {
      const input = addon.writeBegin(db.uniffiHandle);
      const refused = refusal(() => addon.writeAppend(input, bytes("abcdef"), Uint32Array.from(ends), base));
      addon.writeAbort(input);
      return refused;
    };
    const deleted = 0xffff_ffff;
    const wrong = [[1], [1, 2, 3], [2, 1], [1, 7], [7, deleted], [deleted, deleted], [1, 3, 2, 4], [3, deleted, 2, 4]];
    for (const ends of wrong) expect([ends, put(ends)]).toEqual([ends, expect.objectContaining(argumentError)]);
    expect(put([99, 100], 100)).toMatchObject(argumentError);
    expect(put([101, 107], 100)).toMatchObject(argumentError);
    expect(put([101, 106], 100)).toEqual({ answered: undefined });
    expect(put([])).toEqual({ answered: undefined });
  });

  test("a batch that has been ended or given up takes nothing more", async () => {
    const { addon, db } = given;
    for (const end of ["writeEnd", "writeAbort"] as const) {
      const input = addon.writeBegin(db.uniffiHandle);
      addon.writeAppend(input, batch.data, batch.ends, 0);
      await addon[end](input);
      for (const name of ["writeAppend", "writeEnd", "writeAbort"] as const) {
        const call = functionOf(name);
        expect(refusal(() => call(input, batch.data, batch.ends, 0))).toMatchObject(argumentError);
      }
    }
  });

  test("detached and shared buffers", async () => {
    const { addon, db } = given;
    const detached = <T extends Uint8Array | Uint32Array>(array: T): T => {
      const copy = array.slice() as T;
      structuredClone(copy.buffer, { transfer: [copy.buffer as ArrayBuffer] });
      return copy;
    };
    const get = (data: Uint8Array, ends: Uint32Array): unknown =>
      refusal(() => addon.getMany(0, db.uniffiHandle, data, ends, 1, 8, 0));
    expect(get(detached(whole.data), whole.ends)).toMatchObject(argumentError);
    expect(get(whole.data, detached(whole.ends))).toEqual({ answered: new ArrayBuffer(0) });
    const input = addon.writeBegin(db.uniffiHandle);
    const put = (data: Uint8Array, ends: Uint32Array): unknown =>
      refusal(() => addon.writeAppend(input, data, ends, 0));
    expect(put(detached(batch.data), batch.ends)).toMatchObject(argumentError);
    expect(put(batch.data, detached(batch.ends))).toEqual({ answered: undefined });
    addon.writeAbort(input);
    const sharedData = new Uint8Array(new SharedArrayBuffer(whole.data.length));
    sharedData.set(whole.data);
    const sharedEnds = new Uint32Array(new SharedArrayBuffer(4 * whole.ends.length));
    sharedEnds.set(whole.ends);
    expect(get(sharedData, sharedEnds)).toEqual({
      answered: await addon.getMany(0, db.uniffiHandle, whole.data, whole.ends, 1, 8, 0),
    });
  });

  test("externals that are not cursors, and records that the library cannot read", async () => {
    const { addon, db } = given;
    // An external value of koffi, through which the binding makes its calls.
    const foreign = db.uniffiHandle as NativeCursor & NativeBatch;
    expect(refusal(() => addon.scanNext(foreign, 1, 1, 1))).toMatchObject(argumentError);
    expect(refusal(() => addon.scanClose(foreign))).toMatchObject(argumentError);
    expect(refusal(() => addon.writeEnd(foreign))).toMatchObject(argumentError);
    const input = addon.writeBegin(db.uniffiHandle) as NativeCursor & NativeBatch;
    expect(refusal(() => addon.scanNext(input, 1, 1, 1))).toMatchObject(argumentError);
    expect(refusal(() => addon.writeAbort(given.cursor as NativeCursor & NativeBatch))).toMatchObject(argumentError);
    for (const record of [new Uint8Array(0), Uint8Array.of(9, 9, 9), Uint8Array.of(1, 0xff, 0xff, 0xff, 0xff, 1)]) {
      for (const [wrongRange, wrongOptions] of [
        [record, options],
        [range, record],
      ] as const) {
        const cursor = addon.scan(0, db.uniffiHandle, wrongRange, wrongOptions);
        const failed = await (async () => refusal(() => addon.scanNext(cursor, 1, 1, 1)))();
        const error =
          failed instanceof Error
            ? failed
            : await (failed as { answered: Promise<unknown> }).answered.catch((late: unknown) => late);
        expect(error).toMatchObject({ tag: "Panic", reason: "" });
        // It has failed for good; its handle was given to the library.
        expect(refusal(() => addon.scanNext(cursor, 1, 1, 1))).toMatchObject(argumentError);
        addon.scanClose(cursor);
      }
    }
  });

  test("snapshots that are none of ours, or no longer, or of another kind", async () => {
    const { addon, db, cursor, pin } = given;
    const get = (kindNumber: 0 | 1 | 2, from: unknown): unknown =>
      refusal(() => addon.getMany(kindNumber, from, whole.data, whole.ends, 1, 8, 0));
    for (const wrong of [db.uniffiHandle, cursor, 1n]) {
      expect(get(1, wrong)).toMatchObject(argumentError);
      expect(refusal(() => addon.releaseSnapshot(wrong as NativePin))).toMatchObject(argumentError);
    }
    expect(refusal(() => addon.shutdown(1, pin))).toMatchObject(argumentError);
    const answer = { answered: await addon.getMany(1, pin, whole.data, whole.ends, 1, 8, 0) };
    const reading = addon.scan(1, pin, range, options);
    expect(get(1, pin)).toEqual(answer);
    addon.releaseSnapshot(pin);
    addon.releaseSnapshot(pin);
    expect(get(1, pin)).toMatchObject(argumentError);
    expect(refusal(() => addon.scan(1, pin, range, options))).toMatchObject(argumentError);
    // The scan has a reference of its own.
    expect((await addon.scanNext(reading, 3000, 0xffff_ffff, 0)).byteLength).toBeGreaterThan(3000 * 8);
    expect(get(0, db.uniffiHandle)).toEqual(answer);
  });

  test("cursors that are being read or closed", async () => {
    const { addon, db, cursor } = given;
    const reading = addon.scanNext(cursor, 3000, 0xffff_ffff, 0);
    expect(reading).toBeInstanceOf(Promise);
    expect(refusal(() => addon.scanNext(cursor, 1, 1, 1))).toMatchObject(argumentError);
    addon.scanClose(cursor);
    addon.scanClose(cursor);
    expect(refusal(() => addon.scanNext(cursor, 1, 1, 1))).toMatchObject(argumentError);
    // The block that was being read still comes.
    expect((await reading).byteLength).toBeGreaterThan(3000 * 8);
    expect(refusal(() => addon.scanNext(cursor, 1, 1, 1))).toMatchObject(argumentError);
    addon.scanClose(cursor);
    const unread = addon.scan(0, db.uniffiHandle, range, options);
    addon.scanClose(unread);
    expect(refusal(() => addon.scanNext(unread, 1, 1, 1))).toMatchObject(argumentError);
  });

  test("the largest numbers, and none", async () => {
    const { addon, db } = given;
    const most = 0xffff_ffff;
    const got = await addon.getMany(0, db.uniffiHandle, whole.data, whole.ends, most, most, 0);
    expect(await addon.getMany(0, db.uniffiHandle, whole.data, whole.ends, 0, 0, 0)).toEqual(got);
    const all = await addon.scanNext(given.cursor, most, most, most);
    const again = addon.scan(0, db.uniffiHandle, range, options);
    expect(await addon.scanNext(again, 0, 0, 0)).toEqual(new ArrayBuffer(16).slice(0, 12));
    expect(await addon.scanNext(again, most, most, 0)).toEqual(all);
    // After its end a scan goes on giving nothing.
    const [size, count, ended] = new Uint32Array(await addon.scanNext(again, most, most, 1));
    expect([size, count, ended]).toEqual([0, 0, 1]);
  });
});
