import type { ReadScope } from "@moraine/catalog";
import { UnsupportedError } from "@moraine/codec";
import type { EveryLoad } from "./follow-every.js";
import type { LakeSettings } from "./lake.js";
import { Cuts } from "./remote/cuts.js";

/** Who is on the other end of a connection. */
export interface ClientInfo {
  readonly client: string;
  readonly pid: bigint;
  readonly program: string;
}

/** One `ATTACH` of one DuckDB instance, over all of its connections. */
export class Attachment {
  readonly id: bigint;
  readonly lake: string;
  readonly readOnly: boolean;
  readonly client: ClientInfo;
  readonly connections = new Set<object>();
  /** Commits of it that were refused as stale, and have not begun again. */
  refusedCommits = 0;
  /** The load of every lake of the store that it was answered with last: see `followEvery`. */
  every: EveryLoad | undefined;
  /** Those of a connected application. */
  readonly cuts = new Cuts();
  #settings: LakeSettings;
  #schema: string | undefined;
  /** Cuts that its transactions may read indexes in, by revision. */
  readonly #pins = new Map<bigint, ReadScope>();

  constructor(id: bigint, lake: string, client: ClientInfo, settings: LakeSettings) {
    this.id = id;
    this.lake = lake;
    this.readOnly = settings.readOnly;
    this.client = client;
    this.#settings = settings;
  }

  /** By which it makes the lake, if it does. */
  get settings(): LakeSettings {
    return this.#settings;
  }

  /** The metadata schema of its lake, once it is known. */
  get schema(): string | undefined {
    return this.#schema;
  }

  use(schema: string, dataSecret: LakeSettings["dataSecret"] = this.#settings.dataSecret): void {
    this.#schema = schema;
    this.#settings = { ...this.#settings, dataSecret };
  }

  /** Keeps a cut until a later `Follow` names a revision above it. Takes it over. */
  pin(scope: ReadScope): void {
    const known = this.#pins.get(scope.revision);
    if (known === undefined) this.#pins.set(scope.revision, scope);
    else scope.release();
  }

  get pins(): number {
    return this.#pins.size;
  }

  hasPinOf(snapshot: bigint): boolean {
    return this.#newestPinOf(snapshot) !== undefined;
  }

  /** The cut at which DuckLake's snapshot was the head, the newest of them. Fails with `unsupported` where there is none. */
  pinOf(snapshot: bigint): ReadScope {
    const found = this.#newestPinOf(snapshot);
    if (found !== undefined) return found;
    throw new UnsupportedError(
      `an index read at snapshot ${snapshot}, which no transaction of this attachment began at`,
      {
        remedy: "Read the index at the head: entries are kept for the head only.",
      },
    );
  }

  /** Lets go of cuts below the oldest revision that is in use; of all where none is. */
  releaseBelow(oldestInUse: bigint | undefined): void {
    for (const [revision, scope] of this.#pins) {
      if (oldestInUse !== undefined && revision >= oldestInUse) continue;
      this.#pins.delete(revision);
      scope.release();
    }
  }

  #newestPinOf(snapshot: bigint): ReadScope | undefined {
    let newest: ReadScope | undefined;
    for (const scope of this.#pins.values()) {
      if (scope.snapshot.snapshotId === snapshot && (newest === undefined || scope.revision > newest.revision))
        newest = scope;
    }
    return newest;
  }
}
