// Changes ends in shared memory all the time, from those that fit to those that do not.
import { parentPort, workerData } from "node:worker_threads";

const ends = workerData as Uint32Array;
parentPort?.postMessage("changing");
for (;;) {
  Atomics.store(ends, 1, 0xffff_fff0);
  Atomics.store(ends, 0, 0xffff_ff00);
  Atomics.store(ends, 0, 3);
  Atomics.store(ends, 1, 6);
}
