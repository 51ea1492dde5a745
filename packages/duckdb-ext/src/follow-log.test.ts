import { expect, test } from "vitest";
import { FollowLog } from "./follow-log.js";

const step = (from: bigint, to: bigint) => ({ from, to, steps: [{ kind: "drop", table: "t" } as const] });

test("the way from a revision is what came since", async () => {
  const log = new FollowLog("main", 3n);
  expect(log.since(3n)).toEqual([]);
  expect(log.since(2n)).toBeUndefined();
  log.revision(step(3n, 4n));
  log.revision(step(4n, 7n));
  expect(log.since(3n)?.map(({ to }) => to)).toEqual([4n, 7n]);
  expect(log.since(7n)).toEqual([]);
  // Commits that were told together have nobody in between.
  expect(log.since(5n)).toBeUndefined();
});

test("it is bounded by revisions and by bytes", () => {
  const few = new FollowLog("main", 0n, { bytes: 1_000_000, revisions: 2 });
  for (let at = 0n; at < 5n; at++) few.revision(step(at, at + 1n));
  expect(few.since(2n)).toBeUndefined();
  expect(few.since(3n)).toHaveLength(2);
  const small = new FollowLog("main", 0n, { bytes: 10, revisions: 100 });
  small.revision(step(0n, 1n));
  expect(small.since(0n)).toBeUndefined();
  expect(small.since(1n)).toEqual([]);
});

test("after a loss there is no way over it", () => {
  const log = new FollowLog("main", 0n);
  log.revision(step(0n, 1n));
  log.lost();
  expect(log.since(0n)).toBeUndefined();
  log.revision(step(4n, 5n));
  expect(log.since(4n)).toHaveLength(1);
  expect(log.since(1n)).toBeUndefined();
});

test("who waits for a revision is woken by it, by a loss, and by the time", async () => {
  const log = new FollowLog("main", 0n);
  const reached = log.reach(2n, 60_000);
  log.revision(step(0n, 1n));
  log.revision(step(1n, 2n));
  await reached;
  const lost = log.reach(9n, 60_000);
  log.lost();
  await lost;
  await log.reach(9n, 1);
  expect(log.newest).toBe(2n);
});
