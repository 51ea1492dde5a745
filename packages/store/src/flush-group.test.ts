import { describe, expect, onTestFinished, test, vi } from "vitest";
import { FlushGroup } from "./flush-group.js";

interface Step {
  finish(): void;
  fail(error: Error): void;
}

function steppedFlush(intervalMs = 0, now?: () => number): { group: FlushGroup; steps: Step[] } {
  const steps: Step[] = [];
  const flush = (): Promise<void> => new Promise((resolve, reject) => steps.push({ finish: resolve, fail: reject }));
  return { group: new FlushGroup(flush, intervalMs, now), steps };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("FlushGroup", () => {
  test("the first arrival flushes at once; those during the flush share one more", async () => {
    const { group, steps } = steppedFlush();
    const done: string[] = [];
    void group.join().then(() => done.push("a"));
    expect(steps.length).toBe(1);
    void group.join().then(() => done.push("b"));
    void group.join().then(() => done.push("c"));
    expect(steps.length).toBe(1);
    steps[0]!.finish();
    await settled();
    expect(done).toEqual(["a"]);
    expect(steps.length).toBe(2);
    void group.join().then(() => done.push("d"));
    steps[1]!.finish();
    await settled();
    expect(done).toEqual(["a", "b", "c"]);
    expect(steps.length).toBe(3);
    steps[2]!.finish();
    await settled();
    expect(done).toEqual(["a", "b", "c", "d"]);
    void group.join();
    expect(steps.length).toBe(4);
  });

  test("with an interval there is one flush in that time, and none waits for longer", async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let nowMs = 1000;
    const pass = async (ms: number): Promise<void> => {
      nowMs += ms;
      await vi.advanceTimersByTimeAsync(ms);
    };
    const { group, steps } = steppedFlush(100, () => nowMs);
    void group.join();
    expect(steps.length).toBe(1);
    void group.join();
    await pass(30);
    steps[0]!.finish();
    await pass(69);
    void group.join();
    expect(steps.length).toBe(1);
    await pass(1);
    expect(steps.length).toBe(2);
    // One that takes longer than the interval is followed at once by whoever waits.
    void group.join();
    await pass(250);
    expect(steps.length).toBe(2);
    steps[1]!.finish();
    await pass(0);
    expect(steps.length).toBe(3);
    steps[2]!.finish();
    await pass(100);
    void group.join();
    expect(steps.length).toBe(4);
    steps[3]!.finish();
    await pass(10);
    void group.join();
    expect(steps.length).toBe(4);
    void group.joinNow();
    expect(steps.length).toBe(5);
  });

  test("a failed flush fails those who waited for it and not the next ones", async () => {
    const { group, steps } = steppedFlush();
    const first = group.join();
    const second = group.join();
    const outcome = Promise.allSettled([first, second]);
    steps[0]!.fail(new Error("no space"));
    await settled();
    expect(steps.length).toBe(2);
    steps[1]!.finish();
    const [a, b] = await outcome;
    expect(a).toMatchObject({ status: "rejected", reason: { message: "no space" } });
    expect(b.status).toBe("fulfilled");
  });
});
