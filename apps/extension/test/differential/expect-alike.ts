import { expect } from "vitest";
import { indexDifferences } from "./check-indexes.js";
import { contentDifferences } from "./compare-contents.js";
import { differencesOf, metadataDifferences, readMetadata } from "./compare-metadata.js";
import { type LakePair, ours } from "./lake-pair.js";
import type { WorkloadResult } from "./run-workload.js";

/**
 * Expects that both lakes hold the same after a workload: rows, metadata, and in every index of ours what a full scan makes of it;
 * and that ours holds the same when it is attached anew. Gives its metadata, as `readMetadata` does.
 */
export async function expectAlike(
  pair: LakePair,
  { model, history, indexSnapshots, apart }: WorkloadResult,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const expectNone = (differences: readonly string[]): void => {
    expect(differences, [...differences, ...history.map((sql) => `${sql};`)].join("\n")).toEqual([]);
  };
  if (!apart) expectNone(await metadataDifferences(pair, indexSnapshots));
  const own = await readMetadata(pair, ours, []);
  await pair.reattachOurs();
  expectNone(differencesOf(await readMetadata(pair, ours, []), own));
  // Attached anew, as DuckLake remembers the tables of inlined rows, which a flush by another process may have dropped.
  if (!apart) expectNone(await contentDifferences(pair, model));
  expectNone(await indexDifferences(pair, model));
  return own;
}
