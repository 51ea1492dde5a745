import type { Catalog, RemoteMethod, RowChanges, RowLoad } from "@moraine/catalog";
import type { Attachment } from "./attachment.js";
import { FollowLog } from "./follow-log.js";
import type { RetryFloor } from "./retry-floor.js";

/** What the service needs of a catalog that it may write to. */
export type WritableLake = Pick<
  Catalog,
  | "revision"
  | "commitRows"
  | "loadRows"
  | "onRevision"
  | "reads"
  | "pinHead"
  | "commit"
  | "commitGroup"
  | "snapshot"
  | "snapshotAt"
  | RemoteMethod
  | "close"
>;

/** What the service needs of one that it only reads: there is no cut that could be held. */
export interface ReadableLake {
  loadRows(): Promise<RowLoad>;
  snapshot: WritableLake["snapshot"];
  close(): Promise<void>;
}

/** A lake that is only read. */
export interface ReadLake {
  readonly schema: string;
  readonly catalog: ReadableLake;
}

/** Opens the lakes of a store, which DuckLake's metadata schemas tell apart. */
export interface LakeOpener {
  /**
   * The lakes of the store, the oldest first. Nothing is made. They are open for writing from the first attachment on that writes;
   * what was opened for reading before stays until it is closed.
   */
  open(attach: LakeSettings): Promise<readonly OpenedLake[]>;
  /** An attachment has turned out to be of the lake of this schema, which is open: refuses settings that do not fit it. */
  use(attach: LakeSettings, schema: string): Promise<void>;
  /** Makes the lake of a schema by the transaction in which DuckLake creates it. */
  create(attach: LakeSettings, schema: string, changes: RowChanges): Promise<WritableLake>;
  /** Makes the store's first lake, an empty one, as `Catalog.open` does. */
  make(attach: LakeSettings): Promise<WritableLake>;
}

export type OpenedLake = OpenedCatalog & {
  /** The metadata schema, in the spelling in which it was made. */
  readonly schema: string;
};

export type OpenedCatalog =
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
  readonly schema: string;
  readonly catalog: WritableLake;
  readonly log: FollowLog;
  readonly floor: RetryFloor<Attachment>;
  readonly #stopListening: () => void;
  #indexed: { readonly revision: bigint; readonly value: boolean } | undefined;

  constructor(schema: string, catalog: WritableLake, floor: RetryFloor<Attachment>) {
    this.schema = schema;
    this.catalog = catalog;
    this.floor = floor;
    this.log = new FollowLog(schema, catalog.revision);
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
