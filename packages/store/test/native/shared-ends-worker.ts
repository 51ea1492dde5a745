// Changes the first end in shared memory all the time, from one that fits to one that does not.
import { parentPort, workerData } from "node:worker_threads";

const ends = workerData as Uint32Array;
parentPort?.postMessage("changing");
for (;;) {
  Atomics.store(ends, 0, 0xffff_ff00);
  Atomics.store(ends, 0, 1);
}
