import { IndexKeyBuilder, type IndexKeys } from "@moraine/codec";
import { BatchBuilder } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { CommitPlanner, type IndexChange, verifyIndex } from "../src/index.js";
import { layout, withStore } from "./support.js";

const u = layout(7n, "unique", "int64");

function bigintKeys(from: number, count: number, rowIdOffset: number): IndexKeys {
  const builder = new IndexKeyBuilder(u);
  const values = BigInt64Array.from({ length: count }, (_, i) => BigInt(from + i));
  const rowIds = BigUint64Array.from({ length: count }, (_, i) => BigInt(from + i + rowIdOffset));
  builder.appendColumns([{ type: "int64", length: count, validity: null, values, offsets: null }], rowIds);
  return builder.finish();
}

const bulk = (additions: IndexKeys | undefined, removals?: IndexKeys): IndexChange => ({
  layout: u,
  name: "bulk",
  additions,
  removals,
  guardRemovals: false,
  poisonOnDuplicate: false,
});

describe("bulk commits", () => {
  it(
    "lands 100,000 entries, refuses one duplicate among 100,000 more, and replaces a part",
    { timeout: 180_000 },
    async () => {
      await withStore(async (store) => {
        const count = 100_000;
        const part = 10_000;
        const write = async (changes: readonly IndexChange[]) => {
          const planner = new CommitPlanner(store);
          await planner.probe(changes);
          const batch = new BatchBuilder();
          planner.stage(planner.plan(changes), batch);
          await store.write(batch.finish());
          return planner.report;
        };
        expect(await write([bulk(bigintKeys(0, count, 0))])).toMatchObject({
          probes: 0,
          knownAbsent: count,
          puts: count,
        });
        await expect(write([bulk(bigintKeys(count - 1, count, 5))])).rejects.toThrow(
          `row ${count + 4} claims a value that row ${count - 1} holds, a row already indexed`,
        );
        const moved = bigintKeys(0, part, count);
        const replaced = await write([bulk(moved, bigintKeys(0, part, 0))]);
        expect(replaced).toMatchObject({ probes: part, hits: part, puts: part, deletes: 0, noOps: part });
        const clean = { stored: count, expected: count, missing: 0, dead: 0, mismatched: 0 };
        expect(await verifyIndex(store, u, [moved, bigintKeys(part, count - part, 0)])).toEqual(clean);
      });
    },
  );
});
