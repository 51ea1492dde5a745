import { describe, expect, onTestFinished, test } from "vitest";
import { ErrorClosed } from "@slatedb/uniffi";
import { collectRows, packKeys } from "../packed.js";
import { nextTurn } from "../within.js";
import type { NativeAddon, NativeCursor, NativePin } from "./addon.js";
import { NativeLoops } from "./native-loops.js";
import { NativeSnapshot } from "./native-snapshot.js";

function unused(): never {
  throw new Error("not called here");
}

/** An addon that does what a test says, and nothing else. */
function addonWith(functions: Partial<NativeAddon>): NativeAddon {
  return {
    load: unused,
    getMany: unused,
    scan: unused,
    scanNext: unused,
    scanClose: unused,
    writeBegin: unused,
    writeAppend: unused,
    writeEnd: unused,
    writeAbort: unused,
    flush: unused,
    moveToTables: unused,
    durableSequence: unused,
    snapshot: unused,
    releaseSnapshot: () => undefined,
    shutdown: unused,
    openFolder: unused,
    closeFolder: unused,
    ...functions,
  };
}

function nativeFailure(tag: string, reason: string, message: string): Error {
  return Object.assign(new Error(message), { tag, reason });
}

/** A block of one row, `a` = `1`. */
function blockOfOne(ended: boolean): ArrayBuffer {
  const buffer = new ArrayBuffer(4 + 8 + 12);
  new Uint8Array(buffer).set([0x61, 0x31]);
  new Uint32Array(buffer, 4).set([1, 2, 2, 1, ended ? 1 : 0]);
  return buffer;
}

const cursor = {} as NativeCursor;
const pin = {} as NativePin;

describe("scans of the native loops", () => {
  test("a block that fails while the first is used fails the scan when that is read on, and only then", async () => {
    const unhandled: unknown[] = [];
    const listener = (reason: unknown): void => void unhandled.push(reason);
    process.on("unhandledRejection", listener);
    onTestFinished(() => void process.off("unhandledRejection", listener));
    for (const failing of [2, 3]) {
      let blocks = 0;
      let closed = 0;
      const addon = addonWith({
        scan: () => cursor,
        scanNext: () => {
          blocks += 1;
          if (blocks === failing) throw nativeFailure("Closed", "Clean", "it was closed");
          return blockOfOne(false);
        },
        scanClose: () => {
          closed += 1;
        },
      });
      const scan = new NativeLoops(addon).scan(new NativeSnapshot(addon, pin, () => undefined), {}, {});
      for (let i = 1; i < failing; i++) {
        expect((await scan.next()).value).toMatchObject({ count: 1 });
        await nextTurn();
        await nextTurn();
      }
      await expect(scan.next()).rejects.toBeInstanceOf(ErrorClosed);
      expect(await scan.next()).toEqual({ done: true, value: undefined });
      expect(closed).toBe(1);
    }
    await nextTurn();
    expect(unhandled).toEqual([]);
  });

  test("a scan that is left early or ends is closed once; a limit ends it without a look at what follows", async () => {
    const calls: string[] = [];
    const addon = addonWith({
      scan: () => cursor,
      scanNext: (_, rows) => {
        calls.push(`next ${rows}`);
        return blockOfOne(calls.length > 4);
      },
      scanClose: () => {
        calls.push("close");
      },
    });
    const loops = new NativeLoops(addon);
    const from = new NativeSnapshot(addon, pin, () => undefined);
    expect(await collectRows(loops.scan(from, {}, { limit: 1, blockRows: 5 }))).toHaveLength(1);
    expect(calls.splice(0)).toEqual(["next 1", "close"]);
    for await (const block of loops.scan(from, {}, { blockRows: 5 })) {
      expect(block.count).toBe(1);
      break;
    }
    expect(calls.splice(0)).toEqual(["next 5", "close"]);
    expect(await collectRows(loops.scan(from, {}, { blockRows: 2 }))).toHaveLength(5);
    expect(calls.splice(0)).toEqual(["next 2", "next 2", "next 2", "next 2", "next 2", "close"]);
  });
});

describe("gets of the native loops", () => {
  test("errors are those of the binding, whether they are thrown or come later; of a released snapshot ours", async () => {
    const failure = nativeFailure("Closed", "Fenced", "newer writer");
    const throwing = addonWith({
      getMany: () => {
        throw failure;
      },
    });
    const rejecting = addonWith({ getMany: () => Promise.reject(failure) });
    for (const addon of [throwing, rejecting]) {
      const loops = new NativeLoops(addon);
      const from = new NativeSnapshot(addon, pin, () => undefined);
      for (const keys of [packKeys([Uint8Array.of(1)]), packKeys([Uint8Array.of(1), Uint8Array.of(2)])]) {
        await expect(loops.getMany(from, keys, false)).rejects.toMatchObject({ reason: "Fenced", tag: "Closed" });
        await expect(loops.getMany(from, keys, true)).rejects.toBeInstanceOf(ErrorClosed);
      }
      from.dispose();
      await expect(loops.getMany(from, packKeys([Uint8Array.of(1)]), false)).rejects.toMatchObject({ code: "closed" });
    }
  });
});
