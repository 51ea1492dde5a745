import { expect, test } from "vitest";
import { Turns } from "./turns.js";

test("loops that never leave the microtasks make room for timers and I/O together", async () => {
  const turns = new Turns(10);
  let stop = false;
  let calls = 0;
  let most = 0;
  let sinceTick = 0;
  const loop = async (): Promise<void> => {
    while (!stop) {
      await turns.next();
      calls += 1;
      sinceTick += 1;
      most = Math.max(most, sinceTick);
    }
  };
  const loops = [loop(), loop(), loop()];
  await new Promise<void>((resolve) => {
    let ticks = 0;
    const tick = (): void => {
      sinceTick = 0;
      ticks += 1;
      if (ticks < 50) setImmediate(tick);
      else resolve();
    };
    setImmediate(tick);
  });
  stop = true;
  await Promise.all(loops);
  expect(calls).toBeGreaterThan(100);
  // Two rounds at most between two looks of the timer, each of ten calls and one more for each loop that waited.
  expect(most).toBeLessThan(30);
});
