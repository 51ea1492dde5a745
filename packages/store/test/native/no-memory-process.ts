// Calls the addon with arguments that there is no memory for a copy of, then with others.
import { findAddon } from "../../src/native/find-addon.js";
import { buildDb, memoryPlace } from "./databases.js";

const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
if (found.addon === undefined) throw new Error(found.reason);
const { addon } = found;
const db = await buildDb(memoryPlace());
const data = new Uint8Array(700_000_000);
const deleted = 0xffff_ffff;

async function outcomeOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
    return "answered";
  } catch (error) {
    return (error as { tag?: string }).tag;
  }
}

/** A batch that deletes one key of the data. */
function write(bytes: Uint8Array): Promise<bigint> {
  const batch = addon.writeBegin(db.uniffiHandle);
  try {
    addon.writeAppend(batch, bytes, Uint32Array.of(3, deleted), 0);
  } catch (error) {
    addon.writeAbort(batch);
    throw error;
  }
  return addon.writeEnd(batch);
}

const outcomes = [
  await outcomeOf(() => addon.getMany(0, db.uniffiHandle, data, Uint32Array.of(3), 8, 8, 0)),
  await outcomeOf(() => write(data)),
  await outcomeOf(() => addon.scan(0, db.uniffiHandle, data, data)),
  await outcomeOf(() => addon.getMany(0, db.uniffiHandle, data.subarray(0, 3), Uint32Array.of(3), 8, 8, 0)),
  await outcomeOf(() => write(data.subarray(0, 3))),
  await outcomeOf(() => addon.flush(db.uniffiHandle)),
];
process.stdout.write(JSON.stringify(outcomes));
process.exit();
