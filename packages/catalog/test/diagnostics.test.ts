import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { expect, it, onTestFinished } from "vitest";
import type { CommitEvent, LookupEvent } from "../src/index.js";
import { failureOf } from "./support/errors.js";
import { Lake } from "./support/lake.js";

/** What a channel tells from here on. */
function told<T>(channel: string): T[] {
  const events: T[] = [];
  const note = (event: unknown): void => void events.push(event as T);
  subscribe(channel, note);
  onTestFinished(() => void unsubscribe(channel, note));
  return events;
}

it("every equality lookup tells how it was served", async () => {
  const lake = await Lake.open();
  const table = await lake.table("t", { a: "BIGINT", b: "BIGINT" });
  const [unique, multi] = [await lake.index(table, ["a"], { unique: true }), await lake.index(table, ["b"])];
  await lake.insert(table, { a: 1n, b: 5n }, { a: 2n, b: 5n }, { a: 3n, b: null });
  const events = told<LookupEvent>("moraine:index.lookup");
  await lake.lookup(unique, 1n);
  await lake.lookup(unique, 9n);
  await lake.lookup(multi, 5n);
  await lake.catalog.indexLookupMany({ index: unique, keys: [[1n], [2n], [2n], [9n], [null]] });
  await lake.catalog.indexLookupMany({ index: multi, keys: [] });
  const counts = { requested: 1, distinct: 1, peakInFlight: 1 };
  expect(events.map(({ durationMs, ...event }) => ({ ...event, timed: durationMs >= 0 }))).toEqual([
    { ...counts, index: unique, hits: 1, misses: 0, rows: 1, timed: true },
    { ...counts, index: unique, hits: 0, misses: 1, rows: 0, timed: true },
    { ...counts, index: multi, hits: 1, misses: 0, rows: 2, timed: true },
    { index: unique, requested: 5, distinct: 3, hits: 2, misses: 1, rows: 2, peakInFlight: 3, timed: true },
    { index: multi, requested: 0, distinct: 0, hits: 0, misses: 0, rows: 0, peakInFlight: 0, timed: true },
  ]);
});

it("every durable batch tells its commits, entries and probes", async () => {
  const before = await Lake.open();
  const table = await before.table("t", { a: "BIGINT" });
  await before.index(table, ["a"], { unique: true });
  await before.insert(table, { a: 1n }, { a: 2n });
  const lake = await before.reopen();
  const events = told<CommitEvent>("moraine:commit");
  await lake.insert(table, { a: 3n });
  await Promise.all([lake.insert(table, { a: 4n }), failureOf(lake.insert(table, { a: 1n })), lake.delete(table, 0n)]);
  await lake.commit(() => undefined);
  const head = await lake.head();
  expect(events.at(-1)?.snapshot).toBe(head);
  expect(events.reduce((sum, { commits }) => sum + commits, 0)).toBe(3);
  expect(events.reduce((sum, { refused }) => sum + refused, 0)).toBe(1);
  expect(events.reduce((sum, { entriesPut }) => sum + entriesPut, 0)).toBe(2);
  expect(events.reduce((sum, { entriesDeleted }) => sum + entriesDeleted, 0)).toBe(1);
  const [first] = events;
  expect(first).toMatchObject({ commits: 1, refused: 0, entriesPut: 1, probes: 1, probeHits: 0, probeMisses: 1 });
  expect(first?.records).toBe(lake.store.batches.at(-events.length)?.length);
  for (const { records, bytes, planMs, writeMs } of events) {
    expect(bytes).toBeGreaterThan(records);
    expect(Math.min(planMs, writeMs)).toBeGreaterThanOrEqual(0);
  }
});
