import { checkKeys } from "./arguments.js";
import type { PackedKeys, PackedValues } from "./interface.js";
import { limits } from "./limits.js";
import { keyAt, packKeys, packValues, valueAt } from "./packed.js";
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
  if (ends.length > limits.rowCacheGetKeys) return getUncached(source, cut, keys);
  try {
    checkKeys(keys);
  } catch (error) {
    return Promise.reject(source.failed(error, "a read failed"));
  }
  const names = keyNames(keys);
  // What the engine is asked for its own sake is noted too, or the first key after a pause would never be known.
  if (!cut.usable()) return getAndNote(source, cut, keys, names);
  const found = names.map((name) => cut.rows.get(name, cut.generation));
  const missing = [...found.keys()].filter((i) => found[i] === undefined);
  if (missing.length === 0) return inTurn(packFound(found));
  if (missing.length === ends.length) return getAndNote(source, cut, keys, names);
  const missingKeys = packKeys(missing.map((i) => keyAt(keys, i)));
  const missingNames = missing.map((i) => names[i]!);
  return getAndNote(source, cut, missingKeys, missingNames).then((values) => {
    for (const [at, i] of missing.entries()) found[i] = valueAt(values, at) ?? null;
    return packFound(found);
  });
}

function packFound(found: readonly (CachedValue | undefined)[]): PackedValues {
  return packValues(found.map((value) => value ?? undefined));
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
    cut.rows.note(name, valueAt(values, i) ?? null, cut.generation);
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
  return Array.from(ends, (end, i) => bytes.toString("latin1", i === 0 ? 0 : ends[i - 1], end));
}
