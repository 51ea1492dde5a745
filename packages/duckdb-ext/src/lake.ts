import type { Catalog, RowChanges, RowLoad } from "@moraine/catalog";
import { FollowLog } from "./follow-log.js";

/** What the service needs of a catalog that it may write to. */
export type WritableLake = Pick<
  Catalog,
  "revision" | "commitRows" | "loadRows" | "onRevision" | "reads" | "commit" | "snapshot" | "snapshotAt" | "close"
>;

/** What the service needs of one that it only reads: there is no cut that could be held. */
export interface ReadableLake {
  loadRows(): Promise<RowLoad>;
  snapshot: WritableLake["snapshot"];
  close(): Promise<void>;
}

/** Opens the one lake of a store. */
export interface LakeOpener {
  /**
   * The lake of the store, or `undefined` where it holds none. Nothing is made. It is open for writing from the first attachment on
   * that writes; what was opened for reading before stays until it is closed.
   */
  open(attach: LakeSettings): Promise<OpenedLake | undefined>;
  /** Makes the lake by the transaction in which DuckLake creates it. */
  create(attach: LakeSettings, changes: RowChanges): Promise<WritableLake>;
}

export type OpenedLake =
  | { readonly access: "write"; readonly catalog: WritableLake }
  | { readonly access: "read"; readonly catalog: ReadableLake };

/** What an attachment says about how a lake is opened. */
export interface LakeSettings {
  readonly readOnly: boolean;
  /** The client's working directory, by which relative paths are resolved. */
  readonly cwd: string;
  /** Attach options by their names in lower case. */
  readonly options: ReadonlyMap<string, string>;
  readonly storeSecret: ReadonlyMap<string, string>;
  readonly dataSecret: ReadonlyMap<string, string>;
}

/** A lake that is open for writing, and what its newest commits changed. */
export class FollowedLake {
  readonly catalog: WritableLake;
  readonly log: FollowLog;
  readonly #stopListening: () => void;
  #indexed: { readonly revision: bigint; readonly value: boolean } | undefined;

  constructor(catalog: WritableLake) {
    this.catalog = catalog;
    this.log = new FollowLog(catalog.revision);
    this.#stopListening = catalog.onRevision(this.log);
  }

  /** Whether any table had an index at the revision of a cut. */
  hasIndexes(scope: Awaited<ReturnType<WritableLake["reads"]>>): boolean {
    if (this.#indexed?.revision !== scope.revision) {
      const { snapshot } = scope;
      const value = snapshot
        .schemas()
        .some(({ id }) => snapshot.tablesIn(id).some((table) => snapshot.indexesOf(table.id).length > 0));
      this.#indexed = { revision: scope.revision, value };
    }
    return this.#indexed.value;
  }

  async close(): Promise<void> {
    this.#stopListening();
    await this.catalog.close();
  }
}
