import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Db } from "@slatedb/uniffi";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { BatchBuilder, packKeys, rowKey, rowValue, valueAt, type KeyRange, type ScanOptions } from "../../src/index.js";
import type { SlateReadable, StoreLoops } from "../../src/loops.js";
import { plainLoops } from "../../src/plain-loops.js";
import { nativeLoops, nativeLoopsAvailable } from "../ordered/every-loops.js";
import { buildDb, endQuietly, flushMemory, folderPlace, memoryPlace } from "./databases.js";

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Few bytes, so that keys meet and prefix each other. */
const shortKey = fc
  .array(fc.constantFrom(0x00, 0x61, 0xff), { minLength: 1, maxLength: 4 })
  .map((bytes) => Uint8Array.from(bytes));
const key = fc.oneof({ weight: 4, arbitrary: shortKey }, fc.uint8Array({ minLength: 1, maxLength: 40 }));
/** Now and then as long as a block, and longer than what is copied rather than handed over. */
const value = fc.oneof(
  { weight: 12, arbitrary: fc.uint8Array({ maxLength: 12 }) },
  { weight: 1, arbitrary: fc.integer({ min: 4_000, max: 5_000 }).map((length) => new Uint8Array(length).fill(7)) },
  { weight: 1, arbitrary: fc.constant(new Uint8Array(70_000).fill(9)) },
);
const batch = fc.array(fc.tuple(key, fc.option(value, { freq: 4 })), { minLength: 1, maxLength: 30 });
const scan = fc.record({
  start: fc.option(key, { nil: undefined }),
  end: fc.option(key, { nil: undefined }),
  reverse: fc.boolean(),
  limit: fc.option(fc.integer({ min: 1, max: 150 }), { nil: undefined }),
  blockRows: fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }),
});
const example = fc.record({
  batches: fc.array(batch, { minLength: 1, maxLength: 6 }),
  gets: fc.array(fc.array(key, { maxLength: 90 }), { minLength: 1, maxLength: 4 }),
  scans: fc.array(scan, { minLength: 1, maxLength: 4 }),
});

type Batch = readonly (readonly [Uint8Array, Uint8Array | null])[];

async function writeAll(loops: StoreLoops, db: Db, batches: readonly Batch[]): Promise<string[]> {
  const writes = batches.map((entries) => {
    const builder = new BatchBuilder();
    for (const [name, bytes] of entries) {
      if (bytes === null) builder.delete(name);
      else builder.put(name, bytes);
    }
    return loops.write(db, builder.finish());
  });
  const sequences = await Promise.all(writes);
  await loops.flush(db);
  return sequences.map((sequence) => `${sequence}`);
}

async function readKeys(loops: StoreLoops, from: SlateReadable, keys: readonly Uint8Array[]): Promise<string[]> {
  const values = await loops.getMany(from, packKeys(keys), false);
  return keys.map((_, i) => {
    const found = valueAt(values, i);
    return found === undefined ? "absent" : hex(found);
  });
}

/** Rows block by block. */
async function readRows(
  loops: StoreLoops,
  from: SlateReadable,
  range: KeyRange,
  options: ScanOptions,
): Promise<string[][]> {
  const blocks: string[][] = [];
  for await (const block of loops.scan(from, range, options)) {
    blocks.push(Array.from({ length: block.count }, (_, i) => `${hex(rowKey(block, i))}=${hex(rowValue(block, i))}`));
  }
  return blocks;
}

interface Scan extends KeyRange {
  readonly reverse: boolean;
  readonly limit: number | undefined;
  readonly blockRows: number | undefined;
}

interface Reads {
  readonly gets: readonly (readonly Uint8Array[])[];
  readonly scans: readonly Scan[];
}

async function readAll(loops: StoreLoops, db: Db, { gets, scans }: Reads): Promise<unknown> {
  const snapshot = await loops.snapshot(db);
  try {
    const results: unknown[] = [];
    for (const from of [db, snapshot]) {
      for (const keys of gets) results.push(await readKeys(loops, from, keys));
      // One by one, side by side.
      results.push(await Promise.all((gets[0] ?? []).map((each) => readKeys(loops, from, [each]))));
      for (const { start, end, reverse, limit, blockRows } of scans) {
        const options = {
          reverse,
          ...(limit === undefined ? {} : { limit }),
          ...(blockRows === undefined ? {} : { blockRows }),
        };
        results.push(await readRows(loops, from, { start, end }, options));
      }
    }
    return results;
  } finally {
    snapshot.dispose();
  }
}

/** The same with bounds that a range may have: in order, and not equal. */
function ordered({ start, end, ...options }: Scan): Scan {
  const order = start === undefined || end === undefined ? -1 : Buffer.compare(start, end);
  if (order === 0) return { start, ...options };
  return order > 0 ? { start: end, end: start, ...options } : { start, end, ...options };
}

const available = nativeLoopsAvailable("results of both loops");

describe.skipIf(!available)("both loops give the same", () => {
  const root = mkdtempSync(join(tmpdir(), "moraine-same-"));
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  let count = 0;
  const freshFolder = (): string => {
    const folder = join(root, `${++count}`);
    mkdirSync(folder);
    return folder;
  };

  test.each([
    ["memory", 40],
    ["a local folder", 12],
  ])("in %s", async (place, numRuns) => {
    const native = nativeLoops();
    const property = fc.asyncProperty(example, async ({ batches, gets, scans }) => {
      const reads: Reads = { gets, scans: scans.map(ordered) };
      const open = (): Promise<Db> => buildDb(place === "memory" ? memoryPlace() : folderPlace(freshFolder()));
      const [byPlain, byNative] = [await open(), await open()];
      try {
        expect(await writeAll(native, byNative, batches)).toEqual(await writeAll(plainLoops, byPlain, batches));
        for (const isInTables of [false, true]) {
          if (isInTables) await Promise.all([flushMemory(byPlain), flushMemory(byNative)]);
          const expected = await readAll(plainLoops, byPlain, reads);
          expect(await readAll(native, byPlain, reads)).toEqual(expected);
          expect(await readAll(native, byNative, reads)).toEqual(expected);
          expect(await readAll(plainLoops, byNative, reads)).toEqual(expected);
        }
      } finally {
        await Promise.all([endQuietly(byPlain), endQuietly(byNative)]);
      }
    });
    await fc.assert(property, { numRuns });
  });
});
