import { type LakePlace, openLake } from "../lake.js";
import { seconds } from "../measure.js";

export interface OpenStoreInput {
  readonly lake: LakePlace;
  /** Values that are in the index, the first of them the one that is looked up first. */
  readonly values: readonly number[];
}

export interface OpenStoreResult {
  readonly openSeconds: number;
  readonly firstLookupSeconds: number;
  /** Each of the further lookups. */
  readonly lookupSeconds: readonly number[];
}

/** Opens a lake in a process that has opened none before, and looks values up. */
export async function openStore({ lake: place, values }: OpenStoreInput): Promise<OpenStoreResult> {
  let lake: Awaited<ReturnType<typeof openLake>> | undefined;
  const openSeconds = await seconds(async () => {
    lake = await openLake(place);
  });
  if (lake === undefined) throw new Error("the lake was not opened");
  const { catalog, byValue } = lake;
  const lookupSeconds: number[] = [];
  for (const value of values) {
    const startMs = performance.now();
    const { length } = await catalog.indexLookup({ index: byValue, key: [value] });
    lookupSeconds.push((performance.now() - startMs) / 1000);
    if (length !== 1) throw new Error("a row that was committed is not in the index");
  }
  await catalog.close();
  return { openSeconds, firstLookupSeconds: lookupSeconds[0] ?? Number.NaN, lookupSeconds: lookupSeconds.slice(1) };
}
