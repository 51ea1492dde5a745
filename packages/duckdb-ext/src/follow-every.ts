import type { RowLoad } from "@moraine/catalog";
import { framesOfLoad } from "./frames-of-steps.js";
import type { SendFrame } from "./follow.js";
import { encodeFrame } from "./wire/messages.js";
import { amongOthers, wireRevision } from "./wire-revision.js";

/** All lakes of a store at one time, as a client has them that has not said yet which one it is attached for. */
export interface EveryLoad {
  /** As the client knows it: no revision of any single lake. */
  readonly revision: bigint;
  /** What each lake stood at, by its schema. */
  readonly revisions: ReadonlyMap<string, bigint>;
}

interface Lake {
  readonly schema: string;
  readonly mark: bigint;
  readonly catalog: { loadRows(): Promise<RowLoad> };
}

/**
 * Answers a `Follow` of an attachment whose lake is one of several, before it is known which: with all of them, each in its
 * schema, or that nothing is new. DuckLake tells its metadata schema by its first query only, whose transaction has begun by then.
 */
export async function followEvery(
  lakes: readonly Lake[],
  known: bigint | undefined,
  send: SendFrame,
): Promise<EveryLoad> {
  const loads: (readonly [schema: string, load: RowLoad])[] = [];
  try {
    for (const { schema, catalog } of lakes) loads.push([schema, await catalog.loadRows()]);
    const revisions = new Map(loads.map(([schema, load]) => [schema, load.revision]));
    // It rises with each commit and with each lake.
    const sum = [...revisions.values()].reduce((before, one) => before + one + 1n, 0n);
    const revision = amongOthers(wireRevision(lakes[0]?.mark ?? 0n, sum));
    if (revision === known) {
      await send(encodeFrame({ type: "unchanged" }));
    } else {
      await send(encodeFrame({ type: "changes_begin", full: true }));
      for (const [schema, { steps }] of loads) for await (const frame of framesOfLoad(schema, steps)) await send(frame);
      await send(encodeFrame({ type: "changes_end", revision }));
    }
    return { revision, revisions };
  } finally {
    for (const [, load] of loads) load.release();
  }
}
