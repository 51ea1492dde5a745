import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { StoreUnavailableError, type TableId } from "@moraine/codec";
import { expect, it, onTestFinished } from "vitest";
import type { CommitEvent, FilterEvent } from "../src/index.js";
import { failureOf } from "./support/errors.js";
import { Gate } from "./support/gate.js";
import { Lake } from "./support/lake.js";

/** What a channel tells from here on, and a way to wait until it has told so much. */
function told<T>(channel: string): { readonly events: T[]; readonly count: (wanted: number) => Promise<void> } {
  const events: T[] = [];
  let waiting: (() => void)[] = [];
  const note = (event: unknown): void => {
    events.push(event as T);
    for (const wake of waiting.splice(0)) wake();
  };
  subscribe(channel, note);
  onTestFinished(() => void unsubscribe(channel, note));
  const count = async (wanted: number): Promise<void> => {
    while (events.length < wanted) await new Promise<void>((resolve) => (waiting = [...waiting, resolve]));
    // What was told of is in use from the next turn on.
    await new Promise((resolve) => setImmediate(resolve));
  };
  return { events, count };
}

/** A table with a unique index whose filter is in use, and rows with the values 0 to `rows` - 1. */
async function withFilter(rows: number) {
  const filters = told<FilterEvent>("moraine:index.filter");
  const lake = await Lake.open();
  const table = await lake.table("t", { a: "BIGINT" });
  const index = await lake.index(table, ["a"], { unique: true });
  await insertFrom(lake, table, 0, rows);
  await filters.count(1);
  expect(filters.events).toMatchObject([{ index, outcome: "ready" }]);
  return { lake, table, index, filters, commits: told<CommitEvent>("moraine:commit") };
}

async function insertFrom(lake: Lake, table: TableId, from: number, count: number): Promise<void> {
  await lake.insert(table, ...Array.from({ length: count }, (_, i) => ({ a: BigInt(from + i) })));
}

it("fresh values cost no probe once the filter is there, and duplicates are refused as before", async () => {
  const { lake, table, index, commits } = await withFilter(500);
  for (let round = 0; round < 4; round++) await insertFrom(lake, table, 1000 + 500 * round, 500);
  // A few keys out of a thousand may look as if they were stored.
  const sum = (pick: (event: CommitEvent) => number): number =>
    commits.events.reduce((total, event) => total + pick(event), 0);
  expect(sum(({ knownAbsentByFilter }) => knownAbsentByFilter)).toBeGreaterThan(1980);
  expect(sum(({ probes, knownAbsentByFilter }) => probes + knownAbsentByFilter)).toBe(2000);
  expect(sum(({ knownAbsent, probeHits }) => knownAbsent + probeHits)).toBe(0);

  const stored = await failureOf(lake.insert(table, { a: 7n }));
  expect([stored.code, stored.message]).toEqual([
    "constraint",
    `constraint violation: index "a_u" (id ${index}): row 2500 claims a value that row 7 holds, a row already indexed`,
  ]);
  const own = await failureOf(lake.insert(table, { a: 9000n }, { a: 9000n }));
  expect(own.message).toContain("row 2501 claims a value that row 2500 holds, an addition of this commit");
  const [first, second] = await Promise.allSettled([
    lake.insert(table, { a: 9000n }),
    lake.insert(table, { a: 9000n }),
  ]);
  expect([first.status, second.status]).toEqual(["fulfilled", "rejected"]);

  await lake.delete(table, 7n);
  await lake.insert(table, { a: 7n });
  expect((await failureOf(lake.insert(table, { a: 7n }))).code).toBe("constraint");
  await lake.expectVerified(table);
});

it("a new handle has none until its misses have cost what a scan would, and refuses the same meanwhile", async () => {
  const { lake: before, table, filters } = await withFilter(200);
  const lake = await before.reopen();
  const commits = told<CommitEvent>("moraine:commit");
  await lake.insert(table, { a: 1000n });
  expect((await failureOf(lake.insert(table, { a: 7n }))).code).toBe("constraint");
  expect(commits.events[0]).toMatchObject({ probes: 1, probeMisses: 1, knownAbsentByFilter: 0 });
  expect(filters.events).toHaveLength(1);
  await insertFrom(lake, table, 2000, 150);
  await insertFrom(lake, table, 4000, 150);
  expect(filters.events).toHaveLength(1);
  // 301 misses now, beside about 500 rows.
  await lake.insert(table, { a: 5000n });
  await filters.count(2);
  expect(filters.events[1]).toMatchObject({ outcome: "ready" });
  const latest = commits.events.length;
  await insertFrom(lake, table, 6000, 100);
  expect(commits.events[latest]?.knownAbsentByFilter).toBeGreaterThan(95);
  expect((await failureOf(lake.insert(table, { a: 5000n }))).code).toBe("constraint");
  await lake.expectVerified(table);
});

it("a filter is complete for an index that was made over rows, dropped, and made again", async () => {
  const { lake, table, index } = await withFilter(300);
  await lake.commit((tx) => tx.dropIndex({ index }));
  await lake.delete(table, 5n);
  const again = await lake.index(table, ["a"], { unique: true });
  expect(again).not.toBe(index);
  for (let k = 0n; k < 300n; k++) {
    if (k === 5n) await lake.insert(table, { a: k });
    else if (k % 50n === 0n) expect((await failureOf(lake.insert(table, { a: k }))).code).toBe("constraint");
  }
  await lake.catalog.maintain();
  expect((await failureOf(lake.insert(table, { a: 5n }))).code).toBe("constraint");
  await lake.expectVerified(table);
});

it("a build that fails harms no commit and is told", async () => {
  const { lake: before, table, index, filters } = await withFilter(10);
  const lake = await before.reopen();
  await insertFrom(lake, table, 100, 10);
  const failure = new StoreUnavailableError("planned", { remedy: "Try again." });
  lake.store.hooks.beforeScan = async () => {
    throw failure;
  };
  await insertFrom(lake, table, 200, 10);
  await filters.count(2);
  delete lake.store.hooks.beforeScan;
  expect(filters.events[1]).toMatchObject({ index, outcome: "failed", error: failure });
  await insertFrom(lake, table, 300, 10);
  expect((await failureOf(lake.insert(table, { a: 205n }))).code).toBe("constraint");
  expect(filters.events).toHaveLength(2);
  await lake.expectVerified(table);
});

it("closing ends a build and waits for it", async () => {
  const { lake: before, table, filters } = await withFilter(10);
  const lake = await before.reopen();
  const gate = new Gate();
  await insertFrom(lake, table, 100, 10);
  lake.store.hooks.beforeScan = () => gate.pass();
  await insertFrom(lake, table, 200, 10);
  await gate.reached;
  const closing = lake.catalog.close();
  gate.open();
  await closing;
  expect(filters.events.map(({ outcome }) => outcome)).toEqual(["ready", "stopped"]);
});
