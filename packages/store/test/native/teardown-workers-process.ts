// Terminates workers at random moments of their calls, while a store of its own goes on. Arguments: how many, whether the
// binding is loaded by the workers alone (`alone`) or here first.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import type { BusyStore } from "./busy-store.js";

const [count = "1", alone] = process.argv.slice(2);

async function openHere(): Promise<BusyStore> {
  const { findAddon } = await import("../../src/native/find-addon.js");
  const busyStore = await import("./busy-store.js");
  const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
  if (found.addon === undefined) throw new Error(found.reason);
  return busyStore.BusyStore.open(found.addon, "memory://here");
}

function microseconds(most: number): Promise<void> {
  const endsAt = performance.now() + (Math.random() * most) / 1000;
  return new Promise((resolve) => {
    const look = (): void => {
      if (performance.now() >= endsAt) resolve();
      else setImmediate(look);
    };
    look();
  });
}

let here = alone === "alone" ? undefined : await openHere();
const script = new URL("./teardown-worker.js", import.meta.url);
for (let i = 0; i < Number(count); i++) {
  const worker = new Worker(script, { workerData: i });
  // Some are terminated while they start.
  if (i % 8 !== 7)
    await Promise.race([
      once(worker, "message"),
      once(worker, "error").then(([error]) => Promise.reject(error as Error)),
    ]);
  here?.start(i);
  await microseconds(20_000);
  await worker.terminate();
  process.stdout.write(".");
}
here ??= await openHere();
here.start(0);
const { other, closed, answered } = await here.settled();
await here.close();
process.stdout.write(`\nother ${other.length} closed ${closed} answered ${answered > 0}\n`);
