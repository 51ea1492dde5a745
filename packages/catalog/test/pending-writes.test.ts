import { BatchBuilder, collectRows, dropMemoryStore, getOne, openStore, packKeys, type ReadView } from "@moraine/store";
import { expect, it, onTestFinished } from "vitest";
import { PendingWrites, WriteSet } from "../src/engine/pending-writes.js";

const bytes = (text: string): Uint8Array => Buffer.from(text);
const text = (found: Uint8Array | undefined): string | undefined =>
  found === undefined ? undefined : Buffer.from(found).toString();

async function rowsOf(view: ReadView, reverse = false): Promise<string[]> {
  return (await collectRows(view.scan({}, { reverse }))).map(({ key, value }) => `${text(key)}=${text(value)}`);
}

it("packed deletes take their place among the writes of a set, before they land and after", async () => {
  const location = `memory://pending-writes-${process.pid}`;
  const store = await openStore(location);
  onTestFinished(async () => {
    await store.close();
    dropMemoryStore(location);
  });
  const stored = new BatchBuilder();
  for (const key of ["a", "b", "c", "d", "e"]) stored.put(bytes(key), bytes("stored"));
  await store.write(stored.finish());

  const earlier = new WriteSet();
  earlier.put(bytes("b"), bytes("earlier"));
  earlier.put(bytes("f"), bytes("earlier"));
  const sweep = new WriteSet();
  sweep.put(bytes("c"), bytes("sweep"));
  sweep.deletePacked(packKeys(["b", "c", "d"].map(bytes)));
  sweep.put(bytes("d"), bytes("sweep"));
  const later = new WriteSet();
  later.put(bytes("f"), bytes("later"));
  const sets = [earlier, sweep, later];

  const pending = new PendingWrites();
  for (const set of sets) pending.add(set);
  const over = pending.over(store);
  const expected = ["a=stored", "d=sweep", "e=stored", "f=later"];
  expect(await rowsOf(over)).toEqual(expected);
  expect(await rowsOf(over, true)).toEqual(expected.toReversed());
  expect(await getOne(over, bytes("b"))).toBeUndefined();
  expect(text(await getOne(over, bytes("d")))).toBe("sweep");

  const merged = new WriteSet();
  for (const set of sets) merged.addAll(set);
  const batch = new BatchBuilder();
  merged.appendTo(batch);
  await store.write(batch.finish());
  expect(await rowsOf(store)).toEqual(expected);
});

it("a set of packed deletes alone is not empty, and one of no keys is", () => {
  const deletes = new WriteSet();
  deletes.deletePacked(packKeys([]));
  expect(deletes.isEmpty).toBe(true);
  deletes.deletePacked(packKeys([bytes("a")]));
  expect(deletes.isEmpty).toBe(false);
});
