import type { ColumnVector } from "@moraine/codec";
import { UniquenessFilters } from "@moraine/index-core";
import type { WritableStore } from "@moraine/store";
import { expect, it, vi } from "vitest";
import { Gate } from "./support/gate.js";
import { indexWritesIn } from "./support/hooked-store.js";
import { Lake } from "./support/lake.js";

// Without a filter the index is searched for spans without entries: a place at which reading ahead can be held.
vi.mock("../src/engine/index-filters.js", () => ({
  openFilters: (store: WritableStore) => new UniquenessFilters({ store, rowsOf: () => undefined }),
}));

const entries = 200_000;
/** Full slices of 8,192 entries. */
const slices = Math.floor(entries / 8192);

it("a large commit lets the event loop come round many times between its staging and its write", async () => {
  const lake = await Lake.open();
  const table = await lake.table("large", { k: "BIGINT" });
  const other = await lake.table("other", { k: "BIGINT" });
  const index = await lake.index(table, ["k"], { unique: true });
  await lake.insert(other, { k: 1n });
  const values = BigInt64Array.from({ length: entries }, (_, i) => BigInt(i));
  const vector: ColumnVector = { type: "int64", length: entries, validity: null, values, offsets: null };
  const file = { path: "large.parquet", recordCount: entries, fileSizeBytes: 1000, footerSize: 100 };

  let turns = 0;
  let counting = false;
  const count = (): void => {
    if (!counting) return;
    turns += 1;
    setImmediate(count);
  };
  const gate = new Gate();
  lake.store.hooks.beforeScan = () => gate.pass();
  let runs = 0;
  const large = lake.commit((tx) => {
    runs += 1;
    // Its entries are there, and its keys are read: this run is staged at once.
    if (runs === 2) {
      counting = true;
      setImmediate(count);
    }
    return tx.registerDataFile({ table, file, entries: [{ index, columns: [vector] }] });
  });
  await gate.reached;
  await lake.insert(other, { k: 2n });
  lake.store.hooks.write = (next) => {
    counting = false;
    return next();
  };
  gate.open();
  await large;
  expect(runs).toBe(2);
  // Entries are decided, settled, staged, and noted.
  expect(turns).toBeGreaterThanOrEqual(4 * slices);
  expect(indexWritesIn(lake.store.batches.at(-1), index)).toEqual({ puts: entries, deletes: 0 });
});
