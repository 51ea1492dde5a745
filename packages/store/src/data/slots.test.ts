import { expect, test } from "vitest";
import { Slots, forEachBounded } from "./slots.js";

test("Slots runs so many at a time, in order, and frees the slot of a failure", async () => {
  const slots = new Slots(3);
  let underWay = 0;
  let most = 0;
  const started: number[] = [];
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, index) =>
      slots.run(async () => {
        started.push(index);
        most = Math.max(most, ++underWay);
        await Promise.resolve();
        underWay--;
        if (index % 4 === 0) throw new Error("no");
        return index;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(started).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(results.filter(({ status }) => status === "rejected").length).toBe(5);
});

test("forEachBounded does everything, and nothing for nothing", async () => {
  const done: number[] = [];
  await forEachBounded([3, 1, 2], 2, (item) => Promise.resolve(void done.push(item)));
  await forEachBounded([], 2, () => Promise.reject(new Error("no")));
  expect(done.sort((a, b) => a - b)).toEqual([1, 2, 3]);
});

test("the first failure stops the rest, which is waited for", async () => {
  const started: number[] = [];
  let stopped = 0;
  const work = forEachBounded([0, 1, 2, 3, 4, 5], 3, async (item, stop) => {
    started.push(item);
    if (item === 1) throw new Error("first");
    await new Promise<void>((resolve) => {
      stop.addEventListener("abort", () => resolve(), { once: true });
    });
    stopped++;
    throw new Error("second");
  });
  await expect(work).rejects.toThrow("first");
  expect(started).toEqual([0, 1, 2]);
  expect(stopped).toBe(2);
});
