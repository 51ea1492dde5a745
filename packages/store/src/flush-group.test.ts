import { describe, expect, test } from "vitest";
import { FlushGroup } from "./flush-group.js";

interface Step {
  finish(): void;
  fail(error: Error): void;
}

function steppedFlush(): { group: FlushGroup; steps: Step[] } {
  const steps: Step[] = [];
  const group = new FlushGroup(
    () => new Promise<void>((resolve, reject) => steps.push({ finish: resolve, fail: reject })),
  );
  return { group, steps };
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
