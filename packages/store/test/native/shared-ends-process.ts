// Gives the addon ends that another thread is changing.
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { findAddon } from "../../src/native/find-addon.js";
import { buildDb, memoryPlace } from "./databases.js";

const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
if (found.addon === undefined) throw new Error(found.reason);
const { addon } = found;
const db = await buildDb(memoryPlace());
// Many, so that the first one changes between the look at it and the end of the call. Keys and values of one byte.
const data = new Uint8Array(4000).fill(0x61);
const ends = new Uint32Array(new SharedArrayBuffer(4 * data.length));
for (let i = 0; i < ends.length; i++) ends[i] = i + 1;
const worker = new Worker(new URL("./shared-ends-worker.js", import.meta.url), { workerData: ends });
await once(worker, "message");
let answered = 0;
let refused = 0;
while (answered < 200 || refused < 200) {
  for (const call of [
    () => addon.getMany(0, db.uniffiHandle, data, ends, 8, 8, 0),
    () => {
      const batch = addon.writeBegin(db.uniffiHandle);
      try {
        addon.writeAppend(batch, data, ends, 0);
      } catch (error) {
        addon.writeAbort(batch);
        throw error;
      }
      return addon.writeEnd(batch);
    },
  ]) {
    try {
      await call();
      answered++;
    } catch (error) {
      // A copy may catch an end half changed: then it can make a key empty, which the library refuses.
      if (!(error instanceof TypeError) && (error as { tag?: string }).tag !== "Invalid") throw error;
      refused++;
    }
  }
}
process.stdout.write("answered and refused\n");
process.exit();
