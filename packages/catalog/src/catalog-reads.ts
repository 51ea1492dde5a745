import type { RowId, SnapshotId, TableId } from "@moraine/codec";
import { InvalidArgumentError } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import { loadStateAt } from "./engine/load-state.js";
import type {
  IndexLookupArguments,
  IndexLookupManyArguments,
  IndexNullsArguments,
  IndexRangeArguments,
} from "./index/lookups.js";
import type { InlineScan, RecentRow } from "./inline/recent-rows.js";
import { type MaintenancePass, readMaintenanceStatus } from "./maintenance-status.js";
import { CatalogSnapshot } from "./model/view.js";
import type { ReadScope, RecentRowsArguments } from "./read-scope.js";

/** Reads that every catalog handle offers, each one over a cut of its own. */
export abstract class CatalogReads {
  /** Runs a read over one cut of the catalog. */
  protected abstract read<T>(run: (scope: ReadScope, view: ReadView) => Promise<T>): Promise<T>;

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
    return await this.read(async (_, view) => new CatalogSnapshot(await loadStateAt(view, snapshot)));
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
    return await this.read((_, view) => readMaintenanceStatus(view));
  }

  async recentRows(args: RecentRowsArguments): Promise<RecentRow[]> {
    return await this.read((scope) => scope.recentRows(args));
  }

  async recentRow(args: { readonly table: TableId; readonly rowId: RowId | bigint }): Promise<RecentRow | undefined> {
    return await this.read((scope) => scope.recentRow(args));
  }

  async scanInline(args: { readonly table: TableId; readonly scan: InlineScan }): Promise<RecentRow[]> {
    return await this.read((scope) => scope.scanInline(args));
  }
}
