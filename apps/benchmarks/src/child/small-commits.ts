import { type LakePlace, openLake } from "../lake.js";

export interface SmallCommitsInput {
  readonly lake: LakePlace;
  readonly commits: number;
  /** Row `n` has the value `first + n * step`. */
  readonly first: number;
  readonly step: number;
}

/** Commits single inline rows one after the other, then waits to be killed with the lake open. */
export async function smallCommits({
  lake: place,
  commits,
  first,
  step,
}: SmallCommitsInput): Promise<{ readonly commits: number }> {
  const { catalog, table } = await openLake(place);
  for (let i = 0; i < commits; i++) {
    const row = { v: first + i * step, g: i, name: `row ${i}` };
    await catalog.commit((tx) => tx.inlineInsert({ table, rows: [row] }));
  }
  // The input is read until it ends, which keeps the process alive as long as the one that started it.
  process.stdin.ref();
  return { commits };
}
