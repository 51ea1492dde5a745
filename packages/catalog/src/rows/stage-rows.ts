import { CommitConflictError, ConstraintError } from "@moraine/codec";
import { checkCommitSize } from "@moraine/index-core";
import type { StagedCommit } from "../engine/attempt.js";
import type { PrepareContext } from "../engine/prepare.js";
import { Tip } from "../engine/tip.js";
import { IndexUpkeep } from "../index/upkeep.js";
import type { InlineFacts } from "../inline/registry.js";
import { RowReader } from "../inline/row-reader.js";
import { quoted } from "../model/error-text.js";
import { parseChanges } from "../model/changes-text.js";
import { ChangeSet } from "../model/changes.js";
import { Draft } from "../model/draft.js";
import { stageRecords } from "../model/snapshot-record.js";
import type { CommitDraft } from "../operations.js";
import { checkCompactedRows } from "./compacted-rows.js";
import { FileDeletes } from "./file-deletes.js";
import { deriveFileEntries } from "./file-entries.js";
import { settleIndexes } from "./index-checks.js";
import { InlinedCatalog } from "./inlined-catalog.js";
import { parseInlinedTable } from "./inlined-names.js";
import { InlinedStaging } from "./inlined-staging.js";
import { isMetadataTable, type MetadataChanges, readMetadataChanges } from "./metadata-row.js";
import type { MetadataTable } from "./metadata-tables.js";
import { type ChangesByTable, noChanges, stageMetadata } from "./metadata-staging.js";
import type { RowChanges, TableChanges } from "./row-changes.js";
import { RowStaging } from "./row-staging.js";
import { snapshotOf, stageSnapshotChanges } from "./snapshot-rows.js";

/**
 * Turns what one DuckDB transaction did to DuckLake's tables into a commit on a tip (format.md 5.10). It never works on another
 * state than the one that the transaction saw.
 */
export async function stageRows(
  context: PrepareContext,
  base: Tip,
  baseRevision: bigint,
  changes: RowChanges,
): Promise<StagedCommit> {
  const { state } = base;
  if (state.batchSeq !== baseRevision) {
    throw new CommitConflictError(
      `the transaction began on revision ${baseRevision} of the lake, which is at ${state.batchSeq} by now`,
    );
  }
  const view = context.pending.over(context.store);
  const { metadata, inlined } = sortOut(changes);
  const changesOf: ChangesByTable = (table) => metadata.get(table) ?? noChanges;
  const snapshots = changesOf("ducklake_snapshot");
  const made = changesOf("ducklake_snapshot_changes");
  const versions = changesOf("ducklake_schema_versions");
  const record = snapshotOf(state, snapshots, made, versions);

  const draft: CommitDraft = new Draft(state, { newUuid: noUuid });
  const staging = new RowStaging(draft, view, record?.snapshotId);
  const editedHead = await stageSnapshotChanges(staging, snapshots, made, versions);
  const fileDeletes = new FileDeletes(staging);
  await stageMetadata(staging, changesOf, fileDeletes);
  settleIndexes(draft);
  await staging.checkRequired();

  const upkeep = new IndexUpkeep(draft);
  const { registry, files } = context;
  const rows = new RowReader({ view, registry, base: state, draft });
  const catalog = new InlinedCatalog(staging, changes.ddl);
  const inlinedRows = new InlinedStaging({ staging, catalog, registry, upkeep, rows });
  for (const { tableId, schemaVersion, changes: tableChanges } of inlined) {
    // Rows of a table that is gone go with it.
    if (draft.get("table", tableId) === undefined) continue;
    if (schemaVersion === undefined) fileDeletes.stage(tableId, tableChanges);
    else await inlinedRows.stage(tableId, schemaVersion, tableChanges);
  }
  await inlinedRows.drainDropped(catalog.tableIds);
  await catalog.stage(changesOf("ducklake_inlined_data_tables"));

  const changeSet = record === undefined ? ChangeSet.of([]) : parseChanges(record.changesMade);
  const compacted = changeSet.compactionOnlyTables();
  const fileEntries = { staging, fileDeletes, upkeep, rows, files, compacted };
  await deriveFileEntries({ ...fileEntries, compacted: await checkCompactedRows(fileEntries) });
  const indexChanges = upkeep.changes();
  checkCommitSize(indexChanges);

  const { writes, otherKeys, withoutHistory, loose } = staging;
  const isWrite = !writes.isEmpty || staging.overrides.length > 0 || loose.isChanged;
  if (record === undefined && draft.isEmpty && !isWrite) {
    return { after: base, changes: changeSet, indexChanges: [], writes, facts: catalog.facts([]) };
  }
  const options = { columnCounterInPlace: true, withoutHistory, otherKeys, editedHead, looseRows: loose.rows };
  const after = stageRecords(draft, record, writes, options);
  for (const [key, value] of staging.overrides) writes.put(key, value);
  const facts: InlineFacts = catalog.facts(
    (record?.schemaChangedTableIds ?? []).map((tableId) => [tableId, after.head.schemaVersion]),
  );
  return { after: new Tip(after, base, changeSet), changes: changeSet, indexChanges, writes, facts };
}

/** DuckLake gives every object its uuid itself. */
function noUuid(): string {
  throw new Error("rows of DuckLake come with their uuids");
}

interface InlinedTableChanges {
  readonly tableId: bigint;
  /** `undefined`: the table's deletes of single rows of files. */
  readonly schemaVersion: bigint | undefined;
  readonly changes: TableChanges;
}

function sortOut({ tables }: RowChanges): {
  readonly metadata: ReadonlyMap<MetadataTable, MetadataChanges>;
  readonly inlined: readonly InlinedTableChanges[];
} {
  const metadata = new Map<MetadataTable, MetadataChanges>();
  const inlined: InlinedTableChanges[] = [];
  for (const changes of tables) {
    if (isMetadataTable(changes.name)) {
      const read = readMetadataChanges(changes.name, changes);
      metadata.set(changes.name, merged(metadata.get(changes.name) ?? noChanges, read));
      continue;
    }
    const table = parseInlinedTable(changes.name);
    if (table === undefined) {
      throw new ConstraintError(`rows of ${quoted(changes.name)} are changed, which is no table of DuckLake's`, {
        remedy: "Keep own tables in another database than the lake's metadata.",
      });
    }
    const schemaVersion = table.kind === "data" ? table.schemaVersion : undefined;
    inlined.push({ tableId: table.tableId, schemaVersion, changes });
  }
  return { metadata, inlined };
}

function merged(a: MetadataChanges, b: MetadataChanges): MetadataChanges {
  return {
    deleted: [...a.deleted, ...b.deleted],
    updated: [...a.updated, ...b.updated],
    inserted: [...a.inserted, ...b.inserted],
  };
}
