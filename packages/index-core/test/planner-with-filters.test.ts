import { BatchBuilder, type WritableStore } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { type IndexChange, UniquenessFilters } from "../src/index.js";
import { change, layout, numberedRows, withStore } from "./support.js";

const u = layout(7n, "unique", "int64");

/** Filters of a store, and a way to wait for that of an empty index. */
function setUp(store: WritableStore) {
  const rows = new Map<bigint, number>();
  let told: () => void = () => undefined;
  const filters = new UniquenessFilters({ store, rowsOf: (indexId) => rows.get(indexId) ?? 0, tell: () => told() });
  const built = async (indexId: bigint): Promise<void> => {
    const ready = new Promise<void>((resolve) => (told = resolve));
    filters.filterOf(indexId);
    await ready;
    expect(filters.filterOf(indexId)).toBeDefined();
  };
  return { filters, built, rows };
}

describe("a planner with filters", () => {
  async function commitWith(filters: UniquenessFilters, ...members: IndexChange[][]) {
    const planner = filters.planner();
    await planner.probe(members.flat());
    const batch = new BatchBuilder();
    const outcomes = members.map((changes) => {
      try {
        planner.stage(planner.plan(changes), batch);
        return "accepted";
      } catch (error) {
        return String(error);
      }
    });
    if (batch.count > 0) await filters.write(batch.finish());
    return { outcomes, report: planner.report };
  }

  it("reads nothing for fresh keys, refuses the same duplicates, and lets values be used again", async () => {
    await withStore(async (store) => {
      const { filters, built } = setUp(store);
      await built(7n);
      const fresh = { probes: 0, windows: 0, absenceScans: 0, knownAbsent: 0 };
      const first = await commitWith(filters, [change(u, { add: numberedRows(0, 1000) })]);
      expect(first.report).toMatchObject({ ...fresh, knownAbsentByFilter: 1000, puts: 1000 });
      const twiceInOne = await commitWith(filters, [
        change(u, {
          add: [
            [[5000n], 1],
            [[5000n], 2],
          ],
        }),
      ]);
      expect(twiceInOne.outcomes[0]).toContain("row 2 claims a value that row 1 holds, an addition of this commit");
      const twiceInGroup = await commitWith(
        filters,
        [change(u, { add: [[[5000n], 1]] })],
        [change(u, { add: [[[5000n], 2]] })],
      );
      expect(twiceInGroup.report).toMatchObject({ ...fresh, knownAbsentByFilter: 1, puts: 1 });
      expect(twiceInGroup.outcomes[0]).toBe("accepted");
      expect(twiceInGroup.outcomes[1]).toContain("row 2 claims a value that row 1 holds");
      const stored = await commitWith(filters, [change(u, { add: [[[999n], 7000]] })]);
      expect(stored.outcomes[0]).toContain("row 7000 claims a value that row 999 holds, a row already indexed");
      expect(stored.report).toMatchObject({ probes: 1, hits: 1, knownAbsentByFilter: 0 });
      // A value that moves to another row, and one that is free again.
      const moved = await commitWith(filters, [change(u, { remove: [[[3n], 3]], add: [[[3n], 8000]] })]);
      expect(moved).toMatchObject({ outcomes: ["accepted"], report: { probes: 1, puts: 1, deletes: 0 } });
      await commitWith(filters, [change(u, { remove: [[[4n], 4]] })]);
      const again = await commitWith(filters, [change(u, { add: [[[4n], 9000]] })]);
      expect(again).toMatchObject({ outcomes: ["accepted"], report: { probes: 1, misses: 1, puts: 1 } });
      await filters.close();
    });
  });

  it("takes guarded removals of absent values for nothing without a read, and reads the others", async () => {
    await withStore(async (store) => {
      const { filters, built } = setUp(store);
      await built(7n);
      await commitWith(filters, [change(u, { add: numberedRows(0, 10) })]);
      const removal = change(
        u,
        {
          remove: [
            [[3n], 3],
            [[4n], 99],
            [[77n], 77],
          ],
        },
        { guardRemovals: true },
      );
      const { outcomes, report } = await commitWith(filters, [removal]);
      expect(outcomes).toEqual(["accepted"]);
      expect(report).toMatchObject({ probes: 2, hits: 2, knownAbsentByFilter: 1, deletes: 1, noOps: 2 });
      await filters.close();
    });
  });

  it("leaves the spans to indexes without a filter", async () => {
    await withStore(async (store) => {
      const { filters, built, rows } = setUp(store);
      const other = layout(8n, "unique", "int64");
      rows.set(8n, 1_000_000);
      await built(7n);
      const { report } = await commitWith(filters, [
        change(u, { add: numberedRows(0, 300) }),
        change(other, { add: numberedRows(0, 400) }),
      ]);
      expect(report).toMatchObject({ probes: 0, absenceScans: 2, knownAbsent: 400, knownAbsentByFilter: 300 });
      await filters.close();
    });
  });
});
