import {
  CorruptionError,
  type EntityValue,
  schemaVersionPrefix,
  SchemaVersionValue,
  snapshotPrefix,
  SnapshotValue,
} from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { CatalogCut } from "../cut.js";
import { rangeOfPrefix } from "../engine/load-state.js";
import type { FollowStep } from "./follow-step.js";
import { rowsPerBatch } from "./limits.js";
import { metadataTables } from "./metadata-tables.js";
import { inlinedDataTable } from "./serve-cells.js";
import { entityRows, scanRecords } from "./serve-entities.js";
import {
  inlinedDeleteColumns,
  inlinedDeleteTable,
  inlinedRowColumns,
  InlinedShapes,
  readInlinedTables,
} from "./serve-inlined.js";
import { inlinedDeleteRows, inlinedRows } from "./serve-inlined-rows.js";
import { looseSteps } from "./serve-loose.js";
import { settingRows, globalScope } from "./serve-settings.js";
import { fileColumnStatsRows } from "./serve-stats.js";
import { metadataTableNames, RowLists, tableRows } from "./serve-table.js";

/** The rows of a catalog at one revision. */
export interface RowLoad {
  /** The batch number of the cut (`Catalog.revision`). */
  readonly revision: bigint;
  /** To be read once: first a `create` for every table, then `rows`. */
  readonly steps: AsyncIterable<FollowStep>;
  readonly release: () => void;
}

/**
 * All rows of DuckLake's metadata tables and of the tables of inlined rows at one cut: first the tables, then their rows in
 * batches.
 *
 * Errors: `corruption` for records that no rows can be made of.
 */
export async function* loadSteps(cut: CatalogCut): AsyncIterableIterator<FollowStep> {
  const { state, view } = cut;
  const inlined = await readInlinedTables(view);
  const shapes = new InlinedShapes(cut);
  for (const table of metadataTableNames) yield { kind: "create", table, columns: metadataTables[table] };
  for (const { tableId, schemaVersion } of inlined.data) {
    const { columns } = await shapes.of(tableId, schemaVersion);
    const table = inlinedDataTable(tableId, schemaVersion);
    yield { kind: "create", table, columns: [...inlinedRowColumns, ...columns] };
  }
  for (const tableId of inlined.deletes)
    yield { kind: "create", table: inlinedDeleteTable(tableId), columns: inlinedDeleteColumns };
  yield* tableRows("ducklake_metadata", settings(cut));
  yield* snapshotRows(view);
  yield* entityRows(state, view);
  yield* fileColumnStatsRows(view);
  yield* tableRows("ducklake_files_scheduled_for_deletion", state.gcFiles());
  yield* schemaVersionRows(view);
  yield* looseSteps(state.looseRows);
  yield* tableRows("ducklake_inlined_data_tables", inlined.data);
  for (const { tableId, schemaVersion } of inlined.data)
    yield* inlinedRows(view, tableId, schemaVersion, await shapes.of(tableId, schemaVersion));
  for (const tableId of inlined.deletes) yield* inlinedDeleteRows(view, tableId);
}

function settings({ state }: CatalogCut): ReturnType<typeof settingRows>[number][] {
  const scoped: [readonly bigint[], EntityValue["option"]][] = [...state.entries("option")].filter(
    ([ids]) => ids[0] !== globalScope[0],
  );
  return [
    ...settingRows(globalScope, state.get("option", ...globalScope)),
    ...scoped.flatMap(([ids, value]) => settingRows(ids, value)),
  ];
}

async function* snapshotRows(view: ReadView): AsyncIterableIterator<FollowStep> {
  for await (const records of inBatches(scanRecords(view, rangeOfPrefix(snapshotPrefix()), SnapshotValue))) {
    const snapshots = records.map(([, value]) => value);
    yield* tableRows("ducklake_snapshot", snapshots);
    yield* tableRows("ducklake_snapshot_changes", snapshots);
  }
}

async function* schemaVersionRows(view: ReadView): AsyncIterableIterator<FollowStep> {
  const rows = new RowLists();
  for await (const records of scanRecords(view, rangeOfPrefix(schemaVersionPrefix()), SchemaVersionValue)) {
    for (const [key, { schemaVersion }] of records) {
      if (key.subspace !== "schema_version") throw new CorruptionError(`a ${key.subspace} key among schema versions`);
      const { tableId, beginSnapshot } = key;
      rows.add("ducklake_schema_versions", { tableId, beginSnapshot, schemaVersion });
    }
  }
  yield* rows.take();
}

/** Puts the small blocks of a scan together: a batch costs its receiver as much whether it holds ten rows or thousands. */
async function* inBatches<T>(blocks: AsyncIterable<readonly T[]>): AsyncIterableIterator<T[]> {
  let batch: T[] = [];
  for await (const block of blocks) {
    for (const item of block) batch.push(item);
    while (batch.length >= rowsPerBatch) {
      yield batch.slice(0, rowsPerBatch);
      batch = batch.slice(rowsPerBatch);
    }
  }
  if (batch.length > 0) yield batch;
}
