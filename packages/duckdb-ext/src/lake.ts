import type { Catalog, RemoteMethod, RowChanges, RowLoad } from "@moraine/catalog";
import type { Attachment } from "./attachment.js";
import { FollowLog } from "./follow-log.js";
import { followedLoadBytes, followedLoadShare } from "./limits.js";
import { RememberedLoad, type RenderedLoad } from "./remembered-load.js";
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
  readonly mark: bigint;
  readonly catalog: ReadableLake;
}

/** Opens the lakes of a store, which DuckLake's metadata schemas tell apart. */
export interface LakeOpener {
  /** Why a store that was opened is of no use any more: fenced, or its folder is gone. `null` as long as all are. Takes microseconds. */
  readonly failure: Error | null;
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

/**
 * A lake that is open for writing, and what its newest commits changed. That is worked out only while somebody has to be told:
 * an attachment that is alone knows what it committed itself.
 */
export class FollowedLake {
  readonly schema: string;
  /** In the revisions that its clients know: see `wireRevision`. */
  readonly mark: bigint;
  readonly catalog: WritableLake;
  readonly floor: RetryFloor<Attachment>;
  readonly load = new RememberedLoad();
  #log: FollowLog | undefined;
  #stopListening: () => void = () => undefined;
  /** Commits under way that no attachment makes. */
  #ownCommits = 0;

  constructor(schema: string, mark: bigint, catalog: WritableLake, floor: RetryFloor<Attachment>) {
    this.schema = schema;
    this.mark = mark;
    this.catalog = catalog;
    this.floor = floor;
  }

  /** Leads from the revision at which it was last needed. */
  get log(): FollowLog | undefined {
    return this.#log;
  }

  /** From here on what is committed has to be told. */
  listen(): void {
    if (this.#log !== undefined) return;
    this.#log = new FollowLog(this.schema, this.catalog.revision);
    this.#stopListening = this.catalog.onRevision(this.#log);
  }

  /** The remembered load, where a client that begins with it is at the newest commit by a short way. */
  get beginning(): RenderedLoad | undefined {
    const load = this.load.newest;
    if (load === undefined || load.byteLength < followedLoadBytes) return undefined;
    const wayBytes = this.#log?.bytesSince(load.revision) ?? Infinity;
    return wayBytes <= followedLoadShare * load.byteLength ? load : undefined;
  }

  /** The only attachment is at the head: nobody has to be told of what it commits, but for those who will begin with the remembered load. */
  caughtUp(): void {
    if (this.#ownCommits === 0 && this.beginning === undefined) this.#stop();
  }

  /** Runs commits of which every attachment has to be told. */
  async committing<T>(work: () => Promise<T>): Promise<T> {
    this.#ownCommits++;
    this.listen();
    try {
      return await work();
    } finally {
      this.#ownCommits--;
    }
  }

  async close(): Promise<void> {
    this.#stop();
    this.load.forget();
    await this.catalog.close();
  }

  #stop(): void {
    this.#stopListening();
    this.#stopListening = () => undefined;
    this.#log = undefined;
  }
}
