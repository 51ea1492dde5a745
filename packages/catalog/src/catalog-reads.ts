import type { RowId, SnapshotId, TableId } from "@moraine/codec";
import { InvalidArgumentError } from "@moraine/codec";
import type { CatalogCut } from "./cut.js";
import {
  type BackfillEntriesArguments,
  inlineBackfillEntries,
  scopedBackfillEntries,
  scopedFileIndexEntries,
  type ScopedFileIndexEntriesArguments,
} from "./derive-entries.js";
import { loadStateAt } from "./engine/load-state.js";
import type {
  IndexLookupArguments,
  IndexLookupManyArguments,
  IndexNullsArguments,
  IndexRangeArguments,
} from "./index/lookups.js";
import { type DeletedFileRow, readDeletedFileRows } from "./inline/deleted-file-rows.js";
import type { RecentRow } from "./inline/recent-rows.js";
import { type MaintenancePass, readMaintenanceStatus } from "./maintenance-status.js";
import { CatalogSnapshot } from "./model/view.js";
import type { FileIndexVectors, IndexEntry } from "./operations.js";
import type { ReadScope, RecentRowArguments, RecentRowsArguments, ScanInlineArguments } from "./read-scope.js";
import { checkId, checkKnown, type Names } from "./verbs/arguments.js";

export interface DeletedFileRowsArguments {
  readonly table: TableId;
}

const deletedFileRowsNames: Names<DeletedFileRowsArguments> = { table: true };

/** Reads that every catalog handle offers, each one over a cut of its own. */
export abstract class CatalogReads {
  /** Runs a read over one cut of the catalog. */
  protected abstract read<T>(run: (scope: ReadScope, cut: CatalogCut) => Promise<T>): Promise<T>;

  /** The catalog's entities at the head. */
  async snapshot(): Promise<CatalogSnapshot> {
    return await this.read((scope) => Promise.resolve(scope.snapshot));
  }

  /**
   * The catalog's entities as they were at a snapshot.
   *
   * Errors: `not_found` above the head, `snapshot_expired` where the snapshot's record is gone.
   */
  async snapshotAt(snapshot: SnapshotId): Promise<CatalogSnapshot> {
    if (typeof snapshot !== "bigint" || snapshot < 0n) {
      throw new InvalidArgumentError("snapshot is no snapshot id", { remedy: "Pass a snapshot id as a bigint." });
    }
    return await this.read(async (_, cut) => new CatalogSnapshot(await loadStateAt(cut.view, snapshot)));
  }

  /** Row ids of the rows whose indexed columns equal the key, ascending. */
  async indexLookup(args: IndexLookupArguments): Promise<RowId[]> {
    return await this.read((scope) => scope.indexLookup(args));
  }

  /** Row ids for any of the keys, ascending, each once. */
  async indexLookupMany(args: IndexLookupManyArguments): Promise<RowId[]> {
    return await this.read((scope) => scope.indexLookupMany(args));
  }

  /** Row ids of the rows between two bounds, in the index's order. */
  async indexRange(args: IndexRangeArguments): Promise<RowId[]> {
    return await this.read((scope) => scope.indexRange(args));
  }

  /** Row ids of the rows with NULL where the prefix says so, in the index's order. */
  async indexNulls(args: IndexNullsArguments): Promise<RowId[]> {
    return await this.read((scope) => scope.indexNulls(args));
  }

  /** Maintenance passes that were recorded, the newest first. */
  async maintenanceStatus(): Promise<MaintenancePass[]> {
    return await this.read((_, cut) => readMaintenanceStatus(cut.view));
  }

  async recentRows(args: RecentRowsArguments): Promise<RecentRow[]> {
    return await this.read((scope) => scope.recentRows(args));
  }

  async recentRow(args: RecentRowArguments): Promise<RecentRow | undefined> {
    return await this.read((scope) => scope.recentRow(args));
  }

  async scanInline(args: ScanInlineArguments): Promise<RecentRow[]> {
    return await this.read((scope) => scope.scanInline(args));
  }

  /** Rows of data files that were deleted one by one, without a delete file, by file and position. */
  async deletedFileRows(args: DeletedFileRowsArguments): Promise<DeletedFileRow[]> {
    const table = checkId(checkKnown(args, deletedFileRowsNames, "arguments").table, "table") as TableId;
    return await this.read((_, cut) => readDeletedFileRows(cut.view, table));
  }

  /** The entries that a file would have in every index of its table, read from the file before it is registered. */
  async scopedFileIndexEntries(args: ScopedFileIndexEntriesArguments): Promise<FileIndexVectors[]> {
    return await this.read((_, cut) => scopedFileIndexEntries(cut, args));
  }

  /** Entries of every live row of a table's data files, for an index that is to be created. */
  async scopedBackfillEntries(args: BackfillEntriesArguments): Promise<IndexEntry[]> {
    return await this.read((_, cut) => scopedBackfillEntries(cut, args));
  }

  /** Entries of every live inline row of a table. */
  async inlineBackfillEntries(args: BackfillEntriesArguments): Promise<IndexEntry[]> {
    return await this.read((_, cut) => inlineBackfillEntries(cut, args));
  }
}
