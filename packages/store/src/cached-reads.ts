import { checkKeys } from "./arguments.js";
import { absent, type PackedKeys, type PackedValues } from "./interface.js";
import { limits } from "./limits.js";
import { getChecked, type ReadSource } from "./reads.js";
import type { CachedValue, RowCache } from "./row-cache.js";
import { turns } from "./turns.js";

/** A cache that a snapshot reads through. */
export interface CachedCut {
  readonly rows: RowCache;
  /** Generation of the snapshot. */
  readonly generation: number;
  /** Whether the engine can be trusted without being asked: it has answered lately, and nothing has ended. */
  readonly usable: () => boolean;
  /** Called when the engine has answered. */
  readonly answered: () => void;
}

/** `getChecked` of a snapshot, sparing the engine what the cache knows. */
export function getCached(source: ReadSource, cut: CachedCut, keys: PackedKeys): Promise<PackedValues> {
  const { ends } = keys;
  if (!cut.usable() || ends.length > limits.rowCacheGetKeys) return getUncached(source, cut, keys);
  try {
    checkKeys(keys);
  } catch (error) {
    return Promise.reject(source.failed(error, "a read failed"));
  }
  const names = keyNames(keys);
  const found = names.map((name) => cut.rows.get(name, cut.generation));
  const missing: number[] = [];
  for (let i = 0; i < found.length; i++) if (found[i] === undefined) missing.push(i);
  if (missing.length === 0) return inTurn(packFound(found as CachedValue[]));
  if (missing.length === ends.length) return getAndNote(source, cut, keys, names);
  const asked = getAndNote(
    source,
    cut,
    pick(keys, missing),
    missing.map((i) => names[i]!),
  );
  return asked.then((values) => {
    for (const [at, i] of missing.entries()) found[i] = valueOf(values, at);
    return packFound(found as CachedValue[]);
  });
}

function getUncached(source: ReadSource, cut: CachedCut, keys: PackedKeys): Promise<PackedValues> {
  return getChecked(source, keys).then((values) => {
    cut.answered();
    return values;
  });
}

async function getAndNote(
  source: ReadSource,
  cut: CachedCut,
  keys: PackedKeys,
  names: readonly string[],
): Promise<PackedValues> {
  const values = await getUncached(source, cut, keys);
  for (const [i, name] of names.entries()) {
    const length = values.lengths[i]!;
    if (length === absent) cut.rows.note(name, null, cut.generation);
    else if (length <= limits.rowCacheValueBytes) cut.rows.note(name, valueOf(values, i)!.slice(), cut.generation);
  }
  return values;
}

/** What is known without asking settles in microtasks alone, which must not keep timers and I/O from running for long. */
function inTurn(values: PackedValues): Promise<PackedValues> {
  const turn = turns.next();
  return turn === null ? Promise.resolve(values) : turn.then(() => values);
}

function keyNames({ data, ends }: PackedKeys): string[] {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const names: string[] = [];
  for (let i = 0, start = 0; i < ends.length; i++) {
    const end = ends[i]!;
    names.push(bytes.toString("latin1", start, end));
    start = end;
  }
  return names;
}

function pick({ data, ends }: PackedKeys, chosen: readonly number[]): PackedKeys {
  const start = (i: number): number => (i === 0 ? 0 : ends[i - 1]!);
  const bytes = chosen.reduce((sum, i) => sum + ends[i]! - start(i), 0);
  const picked = { data: new Uint8Array(bytes), ends: new Uint32Array(chosen.length) };
  let end = 0;
  for (const [at, i] of chosen.entries()) {
    picked.data.set(data.subarray(start(i), ends[i]), end);
    end += ends[i]! - start(i);
    picked.ends[at] = end;
  }
  return picked;
}

function valueOf({ data, offsets, lengths }: PackedValues, i: number): CachedValue {
  const length = lengths[i]!;
  return length === absent ? null : data.subarray(offsets[i], offsets[i]! + length);
}

function packFound(found: readonly CachedValue[]): PackedValues {
  let bytes = 0;
  for (const value of found) if (value !== null) bytes += value.length;
  const values = {
    data: new Uint8Array(bytes),
    offsets: new Uint32Array(found.length),
    lengths: new Uint32Array(found.length),
  };
  let offset = 0;
  for (let i = 0; i < found.length; i++) {
    const value = found[i]!;
    values.offsets[i] = offset;
    if (value === null) {
      values.lengths[i] = absent;
    } else {
      values.data.set(value, offset);
      values.lengths[i] = value.length;
      offset += value.length;
    }
  }
  return values;
}
