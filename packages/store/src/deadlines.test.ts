import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Deadlines } from "./deadlines.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const typed = (error: unknown): Error => new Error(`typed ${error instanceof Error ? error.message : "?"}`);

test("a call in time passes, a late one is rejected, and no timer is left", async () => {
  const deadlines = new Deadlines(1000, () => new Error("too late"));
  await expect(deadlines.limit(Promise.resolve(7), typed)).resolves.toBe(7);
  await expect(deadlines.limit(Promise.reject(new Error("own failure")), typed)).rejects.toThrow("typed own failure");
  const outcomes: string[] = [];
  const watch = (name: string): void => {
    deadlines.limit(new Promise<number>(() => undefined), typed).catch((error: unknown) => {
      outcomes.push(`${name} ${error instanceof Error ? error.message : "?"}`);
    });
  };
  watch("first");
  await vi.advanceTimersByTimeAsync(900);
  watch("second");
  expect(outcomes).toEqual([]);
  await vi.advanceTimersByTimeAsync(300);
  expect(outcomes).toEqual(["first typed too late"]);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(1000);
  expect(outcomes).toEqual(["first typed too late", "second typed too late"]);
  expect(vi.getTimerCount()).toBe(0);
});
