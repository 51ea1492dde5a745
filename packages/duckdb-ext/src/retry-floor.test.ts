import { setTimeout as wait } from "node:timers/promises";
import { expect, test } from "vitest";
import { RetryFloor } from "./retry-floor.js";

/** A commit that is under way until it is told to end. */
function commitOf(floor: RetryFloor<string>, client: string): { readonly done: Promise<void>; end(): void } {
  let end: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  return { done: floor.commit(client, () => ended), end };
}

/** Whether a promise is settled once everything that can go on has gone on. */
async function isSettled(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  void promise.finally(() => (settled = true));
  await wait(1);
  return settled;
}

test("who repeats a commit has it before others", async () => {
  const floor = new RetryFloor<string>(60_000);
  await floor.claim("slow");
  const fast = commitOf(floor, "fast");
  fast.end();
  expect(await isSettled(fast.done)).toBe(false);
  const slow = commitOf(floor, "slow");
  slow.end();
  await slow.done;
  await fast.done;
});

test("it begins again only after the commits that were under way", async () => {
  const floor = new RetryFloor<string>(60_000);
  const [one, two] = [commitOf(floor, "one"), commitOf(floor, "two")];
  const claimed = floor.claim("slow");
  expect(await isSettled(claimed)).toBe(false);
  one.end();
  expect(await isSettled(claimed)).toBe(false);
  // One that comes meanwhile waits for the claim, not the claim for it.
  const later = commitOf(floor, "one");
  two.end();
  await claimed;
  expect(await isSettled(later.done)).toBe(false);
  floor.release("slow");
  later.end();
  await later.done;
});

test("a commit that has come is not overtaken, however long it takes", async () => {
  const floor = new RetryFloor<string>(20);
  await floor.claim("slow");
  const slow = commitOf(floor, "slow");
  const fast = commitOf(floor, "fast");
  fast.end();
  await wait(100);
  expect(await isSettled(fast.done)).toBe(false);
  slow.end();
  await fast.done;
});

test("the time of one that never commits runs out, and begins when it can go on", async () => {
  const floor = new RetryFloor<string>(200);
  const running = commitOf(floor, "other");
  const claimed = floor.claim("slow");
  await wait(300);
  running.end();
  await claimed;
  const began = performance.now();
  await floor.pass("fast");
  expect(performance.now() - began).toBeGreaterThan(150);
});

test("one that goes while it waits is waited for by nobody, and the next one comes in turn", async () => {
  const floor = new RetryFloor<string>(60_000);
  const running = commitOf(floor, "other");
  const claims = [floor.claim("first"), floor.claim("second"), floor.claim("third")];
  floor.leave("second");
  await claims[1];
  floor.leave("first");
  await claims[0];
  expect(await isSettled(claims[2] ?? Promise.resolve())).toBe(false);
  running.end();
  await claims[2];
  floor.release("third");
  await floor.pass("fast");
});

test("one that goes takes along all that it waits for", async () => {
  const floor = new RetryFloor<string>(60_000);
  await floor.claim("other");
  const claims = [floor.claim("gone"), floor.claim("gone")];
  floor.leave("gone");
  await Promise.all(claims);
  floor.release("other");
  expect(await isSettled(floor.pass("fast"))).toBe(true);
});

test("a claim keeps its place while its client does other things", async () => {
  const floor = new RetryFloor<string>(60_000);
  await floor.claim("other");
  const claimed = floor.claim("many");
  floor.release("many");
  expect(await isSettled(claimed)).toBe(false);
  floor.release("other");
  await claimed;
  const passed = floor.pass("fast");
  expect(await isSettled(passed)).toBe(false);
  floor.release("many");
  await passed;
});

test("a commit that fails gives the floor back", async () => {
  const floor = new RetryFloor<string>(60_000);
  await floor.claim("slow");
  await expect(floor.commit("slow", () => Promise.reject(new Error("refused")))).rejects.toThrow("refused");
  await floor.pass("fast");
});
