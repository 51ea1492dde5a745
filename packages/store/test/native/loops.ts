import type { Db } from "@slatedb/uniffi";
import { BatchBuilder, collectRows, packKeys, type ScanOptions, valueAt, type WriteBatch } from "../../src/index.js";
import type { SlateReadable, StoreLoops } from "../../src/loops.js";
import { bytes, text } from "../ordered/helpers.js";

/** Entries as one batch; `undefined` deletes. */
export function batchOf(entries: Readonly<Record<string, string | undefined>>): WriteBatch {
  const batch = new BatchBuilder();
  for (const [key, value] of Object.entries(entries)) {
    if (value === undefined) batch.delete(bytes(key));
    else batch.put(bytes(key), bytes(value));
  }
  return batch.finish();
}

export function writeEntries(
  loops: StoreLoops,
  db: Db,
  entries: Readonly<Record<string, string | undefined>>,
): Promise<bigint> {
  return loops.write(db, batchOf(entries));
}

/** Values of keys, as text. */
export async function valuesOf(
  loops: StoreLoops,
  from: SlateReadable,
  keys: readonly string[],
): Promise<(string | undefined)[]> {
  const values = await loops.getMany(from, packKeys(keys.map(bytes)), false);
  return keys.map((_, i) => text(valueAt(values, i)));
}

/** All rows as `key=value`. */
export async function rowsOf(loops: StoreLoops, from: SlateReadable, options: ScanOptions = {}): Promise<string[]> {
  const rows = await collectRows(loops.scan(from, {}, options));
  return rows.map(({ key, value }) => `${text(key)}=${text(value)}`);
}

/** `count` entries `k000000=v0`, `k000001=v1`, ... */
export function numberedEntries(count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [numberedKey(i), `v${i}`]));
}

export function numberedKey(i: number): string {
  return `k${String(i).padStart(6, "0")}`;
}
