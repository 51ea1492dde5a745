// A worker that keeps calls in flight until it is terminated, and tells when it has begun. Every second one only
// closes its store.
import { parentPort, workerData } from "node:worker_threads";
import { findAddon } from "../../src/native/find-addon.js";
import { BusyStore } from "./busy-store.js";

const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
if (found.addon === undefined) throw new Error(found.reason);
const number = Number(workerData);
// Memory is moved to tables all the time.
const options = { walObjectsPerCheckpoint: 2 };
const busy = await BusyStore.open(found.addon, `memory://worker-${number}`, options);
let rounds = 0;

function round(): void {
  busy.start(rounds++);
  if (rounds === 2) parentPort?.postMessage("busy");
  setImmediate(round);
}
if (number % 2 === 0) {
  round();
} else {
  parentPort?.postMessage("closing");
  await busy.close();
}
