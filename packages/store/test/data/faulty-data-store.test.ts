import { randomUUID } from "node:crypto";
import { ClosedError, StoreUnavailableError } from "@moraine/codec";
import { expect, test } from "vitest";
import { openDataStore } from "../../src/data/open-data-store.js";
import { type Fault, type FaultyDataStore, faultyDataStore } from "../faulty-data-store.js";

async function faulty(...plan: readonly Fault[]): Promise<FaultyDataStore> {
  const inner = await openDataStore(`memory://${randomUUID()}`);
  await inner.put("a", new Uint8Array([1, 2, 3]));
  await inner.put("b", new Uint8Array([4]));
  return faultyDataStore(inner, plan);
}

const first = [{ offset: 0, length: 1 }];

test("without a plan it is the store inside", async () => {
  const store = await faulty();
  expect(await store.readRanges("a", first)).toEqual([new Uint8Array([1])]);
  expect(await store.head("b")).toEqual({ path: "b", sizeBytes: 1 });
  expect(store.operations).toEqual([
    { operation: "readRanges", path: "a" },
    { operation: "head", path: "b" },
  ]);
  expect(store.hits).toBe(0);
});

test("fail hits the operations it names, by count, and does nothing of them", async () => {
  const store = await faulty({ operation: "put", at: 2, times: 2, kind: "fail" });
  await store.put("c", new Uint8Array(1));
  await store.head("c");
  await expect(store.put("d", new Uint8Array(1))).rejects.toThrow(StoreUnavailableError);
  await expect(store.put("e", new Uint8Array(1))).rejects.toThrow(StoreUnavailableError);
  await store.put("f", new Uint8Array(1));
  await expect(store.head("d")).rejects.toMatchObject({ code: "not_found" });
  expect(store.hits).toBe(2);
});

test("fail without an operation counts all of them, and throws the given error", async () => {
  const store = await faulty({ at: 3, times: Number.POSITIVE_INFINITY, kind: "fail", error: new Error("mine") });
  await store.head("a");
  await store.readRanges("a", first);
  await expect(store.head("a")).rejects.toThrow("mine");
  await expect(store.list("").next()).rejects.toThrow("mine");
});

test("cut does the operation and then fails", async () => {
  const store = await faulty({ operation: "put", at: 1, kind: "cut" }, { operation: "list", at: 1, kind: "cut" });
  await expect(store.put("c", new Uint8Array(7))).rejects.toThrow(StoreUnavailableError);
  expect(await store.head("c")).toEqual({ path: "c", sizeBytes: 7 });
  const listing = store.list("");
  expect((await listing.next()).value).toEqual({ path: "a", sizeBytes: 3 });
  await expect(listing.next()).rejects.toThrow(StoreUnavailableError);
});

test("stall waits for release, or fails with closed", async () => {
  const store = await faulty({ operation: "readRanges", at: 1, times: 2, kind: "stall" });
  const reads = [store.readRanges("a", first), store.readRanges("b", first)];
  await store.untilStalled(2);
  store.release();
  expect(await Promise.all(reads)).toEqual([[new Uint8Array([1])], [new Uint8Array([4])]]);

  const closing = await faulty({ at: 1, kind: "stall" });
  const outcome = closing.put("c", new Uint8Array(1)).catch((error: unknown) => error);
  await closing.untilStalled();
  await closing.close();
  expect(await outcome).toBeInstanceOf(ClosedError);
});

test("damage changes what is read, not what is stored", async () => {
  const store = await faulty({ operation: "readRanges", at: 1, kind: "damage" });
  expect(await store.readRanges("a", first)).toEqual([new Uint8Array([0])]);
  expect(await store.readRanges("a", first)).toEqual([new Uint8Array([1])]);
});
