// Gives the addon ends that another thread is changing.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { findAddon } from "../../src/native/find-addon.js";
import { buildDb, memoryPlace } from "./databases.js";

const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
if (found.addon === undefined) throw new Error(found.reason);
const { addon } = found;
const db = await buildDb(memoryPlace());
const ends = new Uint32Array(new SharedArrayBuffer(8));
ends.set([3, 6]);
const worker = new Worker(new URL("./shared-ends-worker.js", import.meta.url), { workerData: ends });
await once(worker, "message");
const data = new TextEncoder().encode("abcdef");
let answered = 0;
let refused = 0;
while (answered < 5000 || refused < 5000) {
  for (const call of [
    () => addon.getMany(0, db.uniffiHandle, data, ends, 8, 8, 0),
    () => addon.write(db.uniffiHandle, data, ends, false),
  ]) {
    try {
      await call();
      answered++;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      refused++;
    }
  }
}
process.stdout.write("answered and refused\n");
process.exit();
