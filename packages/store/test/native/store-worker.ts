// A worker with a store of its own: writes, reads and scans, checks every value, and reports how many it has checked.
import { parentPort, workerData } from "node:worker_threads";
import { BatchBuilder, collectRows, packKeys, valueAt } from "../../src/index.js";
import { findAddon } from "../../src/native/find-addon.js";
import { NativeLoops } from "../../src/native/native-loops.js";
import { openStoreWith } from "../../src/open-store.js";

const { name, rounds } = workerData as { readonly name: string; readonly rounds: number };
const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
if (found.addon === undefined) throw new Error(found.reason);
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const count = 500;
const keys = Array.from({ length: count }, (_, i) => encoder.encode(`k${String(i).padStart(6, "0")}`));
const store = await openStoreWith(new NativeLoops(found.addon), `memory://${name}`, {});

function check(value: Uint8Array | undefined, expected: string): number {
  const got = value && decoder.decode(value);
  if (got !== expected) throw new Error(`${name}: ${got} in place of ${expected}`);
  return 1;
}

let checked = 0;
for (let round = 0; round < rounds; round++) {
  const valueOf = (i: number): string => `${name} ${i} ${round}`;
  const batch = new BatchBuilder();
  keys.forEach((key, i) => batch.put(key, encoder.encode(valueOf(i))));
  await store.write(batch.finish());
  if (round % 5 === 0) await store.checkpointMemory();
  const snapshot = await store.snapshot();
  const [values, rows, pinned, ...single] = await Promise.all([
    store.getMany(packKeys(keys)),
    collectRows(store.scan({}, { blockRows: 77 })),
    snapshot.getMany(packKeys(keys)),
    ...keys.slice(0, 50).map((key) => store.getMany(packKeys([key]))),
  ]);
  snapshot.release();
  if (rows.length !== count) throw new Error(`${name}: ${rows.length} rows`);
  for (let i = 0; i < count; i++) {
    checked += check(valueAt(values, i), valueOf(i));
    checked += check(valueAt(pinned, i), valueOf(i));
    checked += check(rows[i]?.value, valueOf(i));
  }
  single.forEach((one, i) => {
    checked += check(valueAt(one, 0), valueOf(i));
  });
}
await store.close();
parentPort?.postMessage(checked);
