import type { ReadScope as Engine } from "@moraine/catalog";
import type * as contract from "./interface.js";
import { checkIndexTarget, checkRecentRow, checkRecentRows, checkScanInline } from "./read-arguments.js";

type RowIds = ReturnType<contract.ReadScope["indexLookup"]>;

/** One cut of a catalog: see `ReadScope` in the interface file. */
export class ReadScope implements contract.ReadScope {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  get snapshot(): contract.CatalogSnapshot {
    return this.#engine.snapshot;
  }

  get revision(): bigint {
    return this.#engine.revision;
  }

  async indexLookup(args: contract.IndexLookupArguments): RowIds {
    return await this.#engine.indexLookup(checkIndexTarget(args));
  }

  async indexLookupMany(args: contract.IndexLookupManyArguments): RowIds {
    return await this.#engine.indexLookupMany(checkIndexTarget(args));
  }

  async indexRange(args: contract.IndexRangeArguments): RowIds {
    return await this.#engine.indexRange(checkIndexTarget(args));
  }

  async indexNulls(args: contract.IndexNullsArguments): RowIds {
    return await this.#engine.indexNulls(checkIndexTarget(args));
  }

  async recentRows(args: contract.RecentRowsArguments): Promise<contract.RecentRow[]> {
    return await this.#engine.recentRows(checkRecentRows(args));
  }

  async recentRow(args: contract.RecentRowArguments): Promise<contract.RecentRow | undefined> {
    return await this.#engine.recentRow(checkRecentRow(args));
  }

  async scanInline(args: contract.ScanInlineArguments): Promise<contract.RecentRow[]> {
    return await this.#engine.scanInline(checkScanInline(args));
  }

  release(): void {
    this.#engine.release();
  }

  [Symbol.dispose](): void {
    this.release();
  }
}
