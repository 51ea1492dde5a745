import { subscribe } from "node:diagnostics_channel";
import { setImmediate } from "node:timers/promises";
import { bigints, type Lake, type LakePlace, openLake, registerRows, type ValueRun } from "../lake.js";
import { seconds } from "../measure.js";
import { peakResidentMiB, residentMiB } from "./memory.js";

export interface BulkCommitInput {
  readonly lake: LakePlace;
  /** The file's rows. */
  readonly rows: ValueRun;
  /** Path, size and footer of the file. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly footerBytes: number;
  readonly entries: "supplied" | "scoped-read";
  /** Rows that are committed first, until the index's filter is resident. */
  readonly before?: readonly ValueRun[];
}

export interface BulkCommitResult {
  readonly seconds: number;
  /** The most memory resident during the commit, above that of the open, idle process just before it. */
  readonly peakAboveIdleMiB: number;
}

/** Registers one large file in an open lake: every row's value is new, and every one is checked. */
export async function bulkCommit(input: BulkCommitInput): Promise<BulkCommitResult> {
  const { rows, path, sizeBytes, footerBytes } = input;
  await using lake = await openLake(input.lake);
  if (input.before !== undefined) await makeFilterResident(lake, input.before);
  const values = bigints(rows.count, (i) => rows.first + i * rows.step);
  const entries = input.entries === "supplied" ? [{ index: lake.byValue, columns: [values] }] : input.entries;
  await setImmediate();
  const idleMiB = residentMiB();
  const elapsed = await seconds(() =>
    lake.catalog.commit((tx) =>
      tx.registerDataFile({
        table: lake.table,
        file: { path, recordCount: rows.count, fileSizeBytes: sizeBytes, footerSize: footerBytes },
        entries,
      }),
    ),
  );
  const peakAboveIdleMiB = peakResidentMiB() - idleMiB;
  const last = rows.first + (rows.count - 1) * rows.step;
  const found = await lake.catalog.indexLookup({ index: lake.byValue, key: [last] });
  if (found.length !== 1) throw new Error("the last row of the commit is not in the index");
  return { seconds: elapsed, peakAboveIdleMiB };
}

/** Commits rows whose probes pay for a filter, then one more, which starts its build, and waits for it. */
async function makeFilterResident(lake: Lake, before: readonly ValueRun[]): Promise<void> {
  const ready = new Promise<void>((resolve, reject) => {
    subscribe("moraine:index.filter", (event) => {
      const { outcome } = event as { readonly outcome: string };
      if (outcome === "ready") resolve();
      else reject(new Error(`the filter was not built: ${outcome}`));
    });
  });
  for (const [i, run] of before.entries()) await registerRows(lake, `before-${i}.parquet`, run);
  await registerRows(lake, "last.parquet", { first: -1, step: 1, count: 1 });
  await ready;
}
