import { decodeKey, type Key } from "@moraine/codec";
import { packKeys, type ReadView, valueAt } from "@moraine/store";
import { PendingWrites, type WriteSet } from "../engine/pending-writes.js";
import type { CatalogState } from "../model/state.js";

/** Commits that landed together, with the cut of the store below them. */
export interface LandedWrites {
  readonly before: CatalogState;
  readonly beforeView: ReadView;
  readonly after: CatalogState;
  readonly writes: WriteSet;
}

/** A record that was written: what it held, and what it holds now. `undefined`: there is none. */
export interface RecordChange<K extends Key = Key> {
  readonly key: K;
  readonly before: Uint8Array | undefined;
  readonly after: Uint8Array | undefined;
}

/** The keys of a union that can be in a subspace, or of an inline kind: one type of key may stand for two. */
type SubspaceKey<S extends Key["subspace"], K = Key> = K extends { readonly subspace: infer T }
  ? S extends T
    ? K
    : never
  : never;
type InlineKind = SubspaceKey<"inline">["kind"];
type InlineKeyOf<N extends InlineKind, K = SubspaceKey<"inline">> = K extends { readonly kind: infer T }
  ? N extends T
    ? K
    : never
  : never;

/**
 * The records that commits wrote, by what they are. What a record held before is read only where it can have been there: ids and
 * snapshots are never given twice, so most of what a commit writes is new. For entities of the present the two states tell.
 */
export class ChangedRecords {
  readonly landed: LandedWrites;
  readonly #changes: readonly RecordChange[];
  #afterView: ReadView | undefined;

  private constructor(landed: LandedWrites, changes: readonly RecordChange[]) {
    this.landed = landed;
    this.#changes = changes;
  }

  static async read(landed: LandedWrites): Promise<ChangedRecords> {
    const changes: { key: Key; before: Uint8Array | undefined; after: Uint8Array | undefined }[] = [];
    const asked: { change: { before: Uint8Array | undefined }; bytes: Uint8Array }[] = [];
    for (const { key: bytes, value } of landed.writes.writes()) {
      if (bytes[0] === indexSubspace) continue;
      const change = { key: decodeKey(bytes), before: undefined as Uint8Array | undefined, after: value };
      changes.push(change);
      if (mayHaveBeen(change.key, value, landed.before)) asked.push({ change, bytes });
    }
    if (asked.length > 0) {
      const values = await landed.beforeView.getMany(packKeys(asked.map(({ bytes }) => bytes)));
      asked.forEach(({ change }, at) => {
        change.before = valueAt(values, at);
      });
    }
    return new ChangedRecords(landed, changes);
  }

  of<S extends Exclude<Key["subspace"], "inline">>(subspace: S): RecordChange<SubspaceKey<S>>[] {
    return this.#changes.filter(({ key }) => key.subspace === subspace) as RecordChange<SubspaceKey<S>>[];
  }

  inline<K extends InlineKind>(kind: K): RecordChange<InlineKeyOf<K>>[] {
    return this.#changes.filter(({ key }) => key.subspace === "inline" && key.kind === kind) as RecordChange<
      InlineKeyOf<K>
    >[];
  }

  /** The store as these commits left it, whatever has landed since. */
  get afterView(): ReadView {
    if (this.#afterView === undefined) {
      const writes = new PendingWrites();
      writes.add(this.landed.writes);
      this.#afterView = writes.over(this.landed.beforeView);
    }
    return this.#afterView;
  }
}

/** First byte of the keys of index entries (format.md 1.2): no table shows them. */
const indexSubspace = 0x07;

function mayHaveBeen(key: Key, value: Uint8Array | undefined, { head }: CatalogState): boolean {
  switch (key.subspace) {
    case "snapshot":
      return key.snapshotId <= head.snapshotId;
    case "history":
      return key.endSnapshot <= head.snapshotId;
    case "schema_version":
      return key.beginSnapshot <= head.snapshotId;
    case "current":
      return key.entity.kind === "file_column_stats" && (key.entity.ids[1] ?? 0n) < head.nextFileId;
    case "inline":
      if (key.kind === "chunk") return value !== undefined && key.beginSnapshot <= head.snapshotId;
      if (key.kind === "row_tombstone") return value !== undefined && key.endSnapshot <= head.snapshotId;
      return key.kind !== "chunk_locator" && key.kind !== "chunk_range";
    default:
      return false;
  }
}
