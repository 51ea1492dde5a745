import {
  ClosedError,
  type DataFileId,
  type IndexId,
  NotFoundError,
  type RowId,
  type SnapshotId,
  type TableId,
} from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { IndexContext } from "./index/layout.js";
import {
  type IndexLookupArguments,
  type IndexLookupManyArguments,
  type IndexNullsArguments,
  type IndexRangeArguments,
  lookupManyNames,
  lookupNames,
  nullsNames,
  rangeNames,
  readableIndex,
  runLookup,
  runLookupMany,
  runNulls,
  runRange,
} from "./index/lookups.js";
import { locateRows } from "./index/locate-rows.js";
import type { TableFiles } from "./index/table-files.js";
import { findRecentRow, type InlineScan, type RecentRow, scanInlineRows } from "./inline/recent-rows.js";
import type { InlineRegistry } from "./inline/registry.js";
import type { CatalogState } from "./model/state.js";
import { CatalogSnapshot } from "./model/view.js";
import { checkId, checkKnown, checkObject, checkOneOf, type Names } from "./verbs/arguments.js";

function checkTable(table: TableId): TableId {
  return checkId(table, "table") as TableId;
}

export interface LocateRowsArguments {
  readonly index: IndexId;
  /** Of live rows of the index's table. */
  readonly rowIds: readonly bigint[];
}

const locateRowsNames: Names<LocateRowsArguments> = { index: true, rowIds: true };

export interface RecentRowsArguments {
  readonly table: TableId;
  /** Default: the head. */
  readonly at?: SnapshotId;
}

const recentRowsNames: Names<RecentRowsArguments> = { table: true, at: true };

export interface RecentRowArguments {
  readonly table: TableId;
  readonly rowId: RowId | bigint;
}

const recentRowNames: Names<RecentRowArguments> = { table: true, rowId: true };

export interface ScanInlineArguments {
  readonly table: TableId;
  readonly scan: InlineScan;
}

const scanInlineNames: Names<ScanInlineArguments> = { table: true, scan: true };
const headScanNames: Names<Exclude<InlineScan, { readonly start: bigint }>> = { kind: true, at: true };
const spanScanNames: Names<Extract<InlineScan, { readonly start: bigint }>> = { kind: true, start: true, at: true };

/** A read of an index, by the method of `ReadScope` that it belongs to. */
export type IndexRead =
  | { readonly kind: "lookup"; readonly args: IndexLookupArguments }
  | { readonly kind: "in"; readonly args: IndexLookupManyArguments }
  | { readonly kind: "range"; readonly args: IndexRangeArguments }
  | { readonly kind: "nulls"; readonly args: IndexNullsArguments };

function rowIdsOf(ids: BigUint64Array): RowId[] {
  return Array.from(ids) as RowId[];
}

/**
 * One cut of the catalog: its entities, its inline rows and its index entries, all of the same revision. Release it when done:
 * a cut that is held keeps the store from reclaiming what it shows.
 */
export class ReadScope implements Disposable {
  /** The catalog's entities at this cut. */
  readonly snapshot: CatalogSnapshot;
  readonly #state: CatalogState;
  readonly #view: ReadView;
  readonly #registry: InlineRegistry;
  readonly #files: TableFiles | undefined;
  readonly #release: () => void;
  readonly #contexts: Map<bigint, IndexContext>;
  #released = false;

  constructor(
    state: CatalogState,
    view: ReadView,
    registry: InlineRegistry,
    contexts: Map<bigint, IndexContext>,
    files: TableFiles | undefined,
    release: () => void,
  ) {
    this.snapshot = new CatalogSnapshot(state);
    this.#state = state;
    this.#view = view;
    this.#registry = registry;
    this.#contexts = contexts;
    this.#files = files;
    this.#release = release;
  }

  /** Moves with every batch, also with those that make no snapshot. Two scopes of one revision read the same. */
  get revision(): bigint {
    return this.#state.batchSeq;
  }

  /** Whether any table has an index, in whatever state. */
  get hasIndexes(): boolean {
    return this.#state.count("index") > 0;
  }

  async indexLookup(args: IndexLookupArguments): Promise<RowId[]> {
    return rowIdsOf(await this.indexRowIds({ kind: "lookup", args }));
  }

  async indexLookupMany(args: IndexLookupManyArguments): Promise<RowId[]> {
    return rowIdsOf(await this.indexRowIds({ kind: "in", args }));
  }

  async indexRange(args: IndexRangeArguments): Promise<RowId[]> {
    return rowIdsOf(await this.indexRowIds({ kind: "range", args }));
  }

  async indexNulls(args: IndexNullsArguments): Promise<RowId[]> {
    return rowIdsOf(await this.indexRowIds({ kind: "nulls", args }));
  }

  /** What one of the four gives, for who wants no object for each row. */
  async indexRowIds(read: IndexRead): Promise<BigUint64Array> {
    const [state, view, contexts] = [this.#state, this.#open(), this.#contexts];
    switch (read.kind) {
      case "lookup":
        return await runLookup(view, readableIndex(state, read.args, lookupNames, contexts), read.args.key);
      case "in":
        return await runLookupMany(view, readableIndex(state, read.args, lookupManyNames, contexts), read.args.keys);
      case "range":
        return await runRange(view, readableIndex(state, read.args, rangeNames, contexts), read.args);
      case "nulls":
        return await runNulls(view, readableIndex(state, read.args, nullsNames, contexts), read.args);
    }
  }

  /**
   * The data file of each row, `undefined` where it is not certain: for rows that are inlined, or in a file that carries its row
   * ids itself.
   */
  async locateRows(args: LocateRowsArguments): Promise<(DataFileId | undefined)[]> {
    const { index, rowIds } = checkKnown(args, locateRowsNames, "arguments");
    const definition = this.#state.indexById(checkId(index, "index"));
    if (definition === undefined) throw new NotFoundError(`index ${index}`);
    const found = await locateRows(this.#files, this.#state, this.#open(), definition.tableId, rowIds);
    return found as (DataFileId | undefined)[];
  }

  /** Live inline rows of a table, at the head or as they were at an earlier snapshot, by row id. */
  async recentRows(args: RecentRowsArguments): Promise<RecentRow[]> {
    const { table, at: asked } = checkKnown(args, recentRowsNames, "arguments");
    const at = asked === undefined ? this.#state.head.snapshotId : this.#past(checkId(asked, "at"));
    return await scanInlineRows(this.#open(), this.#registry, checkTable(table), { kind: "table", at });
  }

  /** The live inline row of that id, if it is inline. */
  async recentRow(args: RecentRowArguments): Promise<RecentRow | undefined> {
    const { table, rowId } = checkKnown(args, recentRowNames, "arguments");
    return await findRecentRow(this.#open(), this.#registry, checkTable(table), checkId(rowId, "rowId"));
  }

  /** Versions of inline rows by the four ways in which DuckLake reads them. */
  async scanInline(args: ScanInlineArguments): Promise<RecentRow[]> {
    const { table, scan } = checkKnown(args, scanInlineNames, "arguments");
    checkObject(scan, "scan");
    checkOneOf(scan.kind, ["table", "insertions", "deletions", "flush"], "scan.kind");
    this.#past(checkId(scan.at, "scan.at"));
    if (scan.kind === "insertions" || scan.kind === "deletions") {
      checkKnown(scan, spanScanNames, "scan");
      checkId(scan.start, "scan.start");
    } else {
      checkKnown(scan, headScanNames, "scan");
    }
    return await scanInlineRows(this.#open(), this.#registry, checkTable(table), scan);
  }

  #past(at: bigint): bigint {
    const head = this.#state.head.snapshotId;
    if (at > head) throw new NotFoundError(`snapshot ${at}: the head is ${head}`);
    return at;
  }

  release(): void {
    if (this.#released) return;
    this.#released = true;
    this.#release();
  }

  [Symbol.dispose](): void {
    this.release();
  }

  #open(): ReadView {
    if (this.#released) throw new ClosedError("the read scope was released");
    return this.#view;
  }
}
