import { expect, test } from "vitest";
import { CallSlots } from "./call-slots.js";

test("never more calls than slots, in the order of arrival, and a failed call gives its slot back", async () => {
  const slots = new CallSlots(3);
  let running = 0;
  let most = 0;
  const order: number[] = [];
  const calls = Array.from({ length: 50 }, (_, i) => {
    return slots.run(async () => {
      order.push(i);
      most = Math.max(most, ++running);
      await new Promise<void>((resolve) => {
        setImmediate(resolve);
      });
      running -= 1;
      if (i % 7 === 0) throw new Error(`call ${i}`);
      return i;
    });
  });
  const outcomes = await Promise.allSettled(calls);
  expect(most).toBe(3);
  expect(order).toEqual(Array.from({ length: 50 }, (_, i) => i));
  expect(outcomes.filter(({ status }) => status === "rejected").length).toBe(8);
  expect([slots.tryTake(), slots.tryTake(), slots.tryTake(), slots.tryTake()]).toEqual([true, true, true, false]);
});
