import { type LakePlace, openLake } from "../lake.js";
import { seconds } from "../measure.js";

export interface OpenStoreInput {
  readonly lake: LakePlace;
  /** Value of the first lookup. */
  readonly first: number;
  /** Values that are looked up twice after it: once to bring their blocks into memory, then timed. */
  readonly values: readonly number[];
}

export interface OpenStoreResult {
  readonly openSeconds: number;
  readonly firstLookupSeconds: number;
  readonly warmLookupSeconds: readonly number[];
}

/** Opens a lake in a process that has opened none before, and looks values up. */
export async function openStore({ lake: place, first, values }: OpenStoreInput): Promise<OpenStoreResult> {
  const startMs = performance.now();
  await using lake = await openLake(place);
  const openSeconds = (performance.now() - startMs) / 1000;
  const { catalog, byValue } = lake;
  const lookUp = async (value: number): Promise<void> => {
    const { length } = await catalog.indexLookup({ index: byValue, key: [value] });
    if (length !== 1) throw new Error("a row that was committed is not in the index");
  };
  const firstLookupSeconds = await seconds(() => lookUp(first));
  for (const value of values) await lookUp(value);
  const warmLookupSeconds: number[] = [];
  for (const value of values) warmLookupSeconds.push(await seconds(() => lookUp(value)));
  return { openSeconds, firstLookupSeconds, warmLookupSeconds };
}
