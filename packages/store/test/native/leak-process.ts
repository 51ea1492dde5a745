// Makes calls of every kind and prints by how much its memory has grown. Arguments: the loops (`native`, `plain`), the kinds
// of calls (with commas), how many asynchronous calls of the library to warm up with and to measure, and a folder.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { BatchBuilder, collectRows, packKeys } from "../../src/index.js";
import { findAddon } from "../../src/native/find-addon.js";
import { NativeLoops } from "../../src/native/native-loops.js";
import { plainLoops } from "../../src/plain-loops.js";
import { nextTurn } from "../../src/within.js";
import { buildDb, flushMemory, folderPlace, memoryPlace } from "./databases.js";
import { collectGarbage } from "./garbage.js";

const [name = "", kinds = "", warmUp = "0", measured = "0", folder = ""] = process.argv.slice(2);

function loopsCalled(): NativeLoops | typeof plainLoops {
  if (name !== "native") return plainLoops;
  const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
  if (found.addon === undefined) throw new Error(found.reason);
  return new NativeLoops(found.addon);
}

const loops = loopsCalled();
const encoder = new TextEncoder();
const count = 1000;
const keys = Array.from({ length: count }, (_, i) => encoder.encode(`k${String(i).padStart(6, "0")}`));
const present = packKeys(keys);
const absent = packKeys(keys.map((_, i) => encoder.encode(`x${i}`)));

function batchOf(some: readonly Uint8Array[], value = encoder.encode("a value")): ReturnType<BatchBuilder["finish"]> {
  const batch = new BatchBuilder();
  for (const key of some) batch.put(key, value);
  return batch.finish();
}

const memory = await buildDb(memoryPlace());
await loops.write(memory, batchOf(keys));
const tables = await buildDb(memoryPlace());
await loops.write(tables, batchOf(keys));
await flushMemory(tables);
/** Few enough that each row of theirs is long: results in which they are together take memory of their own. */
const long = await buildDb(memoryPlace());
const longKeys = keys.slice(0, 64);
await loops.write(long, batchOf(longKeys, new Uint8Array(16 * 1024)));
// What is written stays somewhere: on disk.
mkdirSync(join(folder, "store"));
const written = await buildDb(folderPlace(join(folder, "store")));

let writes = 0;

/** One step of each kind; gives how many asynchronous calls of the library it made. */
const steps: Readonly<Record<string, () => Promise<number>>> = {
  "one-in-memory": async () => {
    for (const key of keys) await loops.getMany(memory, packKeys([key]), false);
    return count;
  },
  "one-in-tables": async () => {
    await Promise.all(keys.slice(0, 200).map((key) => loops.getMany(tables, packKeys([key]), false)));
    return 200;
  },
  "many-in-memory": async () => {
    await loops.getMany(memory, present, false);
    return count;
  },
  "many-in-tables": async () => {
    await loops.getMany(tables, present, false);
    return count;
  },
  absent: async () => {
    await loops.getMany(memory, absent, false);
    await loops.getMany(tables, absent, false);
    return 2 * count;
  },
  scan: async () => {
    for (const db of [memory, tables]) await collectRows(loops.scan(db, {}, { blockRows: 300 }));
    return 2 * count;
  },
  "short-scan": async () => {
    for (let i = 0; i < 20; i++) await collectRows(loops.scan(memory, { start: keys[i] }, { limit: 3 }));
    return 20 * 4;
  },
  "large-many": async () => {
    await loops.getMany(long, packKeys(longKeys), false);
    return longKeys.length;
  },
  "large-scan": async () => {
    await collectRows(loops.scan(long, {}, {}));
    return longKeys.length + 2;
  },
  snapshot: async () => {
    for (let i = 0; i < 50; i++) (await loops.snapshot(memory)).dispose();
    return 50;
  },
  "forgotten-snapshot": async () => {
    for (let i = 0; i < 50; i++) await loops.snapshot(memory);
    return 50;
  },
  write: async () => {
    for (let i = 0; i < 50; i++) await loops.write(written, batchOf(keys.slice(i, i + 2)));
    await loops.flush(written);
    writes += 50;
    if (writes % 5000 === 0) await flushMemory(written);
    return 51;
  },
};

const chosen = kinds.split(",").map((kind) => {
  const step = steps[kind];
  if (step === undefined) throw new Error(`there is no ${kind}`);
  return step;
});

async function run(calls: number): Promise<void> {
  for (let made = 0; made < calls;) {
    for (const step of chosen) made += await step();
    await nextTurn();
  }
}

async function settledBytes(): Promise<number> {
  for (let i = 0; i < 5; i++) {
    collectGarbage();
    await nextTurn();
  }
  return process.memoryUsage.rss();
}

await run(Number(warmUp));
const before = await settledBytes();
await run(Number(measured));
const grownBytes = (await settledBytes()) - before;
process.stdout.write(`${JSON.stringify({ grownBytes })}\n`);
process.exit();
