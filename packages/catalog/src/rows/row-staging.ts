import {
  ConstraintError,
  CorruptionError,
  decodeValue,
  encodeValue,
  entityMessages,
  type EntityValue,
  historyKey,
  type MessageType,
} from "@moraine/codec";
import { getOne, packKeys, type ReadView, valueAt } from "@moraine/store";
import { WriteSet } from "../engine/pending-writes.js";
import { entityText } from "../model/diff.js";
import type { CommitDraft } from "../operations.js";
import { ChildRows, type EntityRows, type VersionedKind } from "./entity-rows.js";
import { LooseRows } from "./loose-rows.js";
import { differingColumns, type MetadataRow, type RowUpdate } from "./metadata-row.js";

/** What the rows of one commit come to: net changes of the catalog in the draft, and records beside it. */
export class RowStaging {
  readonly draft: CommitDraft;
  readonly view: ReadView;
  /** The snapshot that the commit makes; `undefined` for one that makes none. */
  readonly snapshotId: bigint | undefined;
  readonly writes = new WriteSet();
  readonly children = new ChildRows();
  readonly loose: LooseRows;
  /** Entities whose records are overwritten or deleted without a history version. */
  readonly withoutHistory = new Set<string>();
  /** Keys of `current` records beside the draft's that the commit writes. */
  readonly otherKeys: Uint8Array[] = [];
  /** Records that are written over what the net changes write. */
  readonly overrides: (readonly [key: Uint8Array, value: Uint8Array])[] = [];
  /** Keys of past versions that the commit deletes, in hex. */
  readonly #deletedPast = new Set<string>();
  readonly #required: { readonly key: Uint8Array; readonly what: string }[] = [];

  constructor(draft: CommitDraft, view: ReadView, snapshotId: bigint | undefined) {
    this.draft = draft;
    this.loose = new LooseRows(draft.base.looseRows);
    this.view = view;
    this.snapshotId = snapshotId;
  }

  /** Refuses a row that only a commit with a snapshot may bring. */
  requireSnapshot(row: MetadataRow): void {
    if (this.snapshotId !== undefined) return;
    throw new ConstraintError(`a commit without a snapshot inserts rows into ${row.table}`, {
      remedy: "Change the lake through DuckLake: what it inserts there comes with a row of ducklake_snapshot.",
    });
  }

  /** A new row. One that ended before anybody could see it leaves nothing. */
  insert<K extends VersionedKind>(rows: EntityRows<K>, row: MetadataRow, known?: EntityValue[K]): void {
    const { kind } = rows;
    const ids = rows.ids(row);
    const standing = this.draft.get<VersionedKind>(kind, ...ids);
    const value = rows.value(row, known ?? this.#priorVersion(rows, ids), this.children);
    const { endSnapshot, beginSnapshot } = value;
    if (endSnapshot !== undefined) {
      if (endSnapshot > beginSnapshot) this.writes.put(historyKey(kind, ids, endSnapshot), encodeOf(kind, value));
      return;
    }
    if (standing !== undefined) {
      throw new ConstraintError(`${row.table} gets a second live row of ${kind} ${ids.join("/")}`, {
        remedy: "End the row that is live first, as DuckLake does.",
      });
    }
    this.draft.put<VersionedKind>(kind, ids, value);
  }

  /** A row that was updated: ended by the commit, or edited. */
  async update<K extends VersionedKind>(rows: EntityRows<K>, { before, after }: RowUpdate): Promise<void> {
    const changed = differingColumns(before, after);
    if (changed.length === 0) return;
    const end = after.optionalId("end_snapshot");
    const ends = changed.length === 1 && changed[0] === "end_snapshot" && before.isNull("end_snapshot");
    if (ends && end !== undefined && end === this.snapshotId) {
      this.#requireLive(rows, before);
      this.draft.remove(rows.kind, rows.ids(before));
      return;
    }
    this.#refuseIndexed(rows.kind, before, changed);
    if (rows.ids(before).some((id, at) => id !== rows.ids(after)[at])) throw notOneRecord(before, changed);
    const known = await this.#recordOf(rows, before);
    this.remove(rows, before);
    this.insert(rows, after, known);
  }

  /** A row that was deleted, not ended: its record goes without a trace. */
  remove<K extends VersionedKind>(rows: EntityRows<K>, row: MetadataRow): void {
    const ids = rows.ids(row);
    const end = row.optionalId("end_snapshot");
    if (end === undefined) {
      this.#requireLive(rows, row);
      this.draft.remove(rows.kind, ids);
      this.withoutHistory.add(entityText(rows.kind, ids));
      return;
    }
    if (end <= row.id("begin_snapshot")) return;
    const key = historyKey(rows.kind, ids, end);
    this.#required.push({ key, what: `${rows.kind} ${ids.join("/")} that ended at snapshot ${end}` });
    this.writes.delete(key);
    this.#deletedPast.add(Buffer.from(key).toString("hex"));
  }

  /** Whether the commit deletes a past version. */
  deletesPast(key: Uint8Array): boolean {
    return this.#deletedPast.has(Buffer.from(key).toString("hex"));
  }

  /** Fails with `corruption` if a record that the commit deletes is not there: then the sender's rows are not the store's. */
  async checkRequired(): Promise<void> {
    if (this.#required.length === 0) return;
    const values = await this.view.getMany(packKeys(this.#required.map(({ key }) => key)));
    this.#required.forEach(({ what }, at) => {
      if (valueAt(values, at) === undefined) throw new CorruptionError(`a commit deletes ${what}, which is not there`);
    });
  }

  /** Names a record that the commit deletes and that has to be there. */
  require(key: Uint8Array, what: string): void {
    this.#required.push({ key, what });
  }

  /** The version that a new one follows, for what it carries on: a table its counter of columns, a column its tags. */
  #priorVersion<K extends VersionedKind>({ kind }: EntityRows<K>, ids: readonly bigint[]): EntityValue[K] | undefined {
    if (kind !== "table" && kind !== "column") return undefined;
    return this.draft.base.get<VersionedKind>(kind, ...ids) as EntityValue[K] | undefined;
  }

  /** Edits of files and columns could make index entries wrong behind our back. */
  #refuseIndexed(kind: VersionedKind, row: MetadataRow, changed: readonly string[]): void {
    if (kind !== "data_file" && kind !== "delete_file" && kind !== "column") return;
    const tableId = row.id("table_id");
    if (this.draft.base.indexesOf(tableId).length === 0) return;
    throw new ConstraintError(
      `${row.table} of table ${tableId}, which has indexes, is edited in ${changed.join(", ")}`,
      { remedy: "Drop the table's indexes first, edit, and create them again." },
    );
  }

  async #recordOf<K extends VersionedKind>(rows: EntityRows<K>, row: MetadataRow): Promise<EntityValue[K] | undefined> {
    const ids = rows.ids(row);
    const end = row.optionalId("end_snapshot");
    if (end === undefined) return this.draft.get<VersionedKind>(rows.kind, ...ids) as EntityValue[K] | undefined;
    const bytes = await getOne(this.view, historyKey(rows.kind, ids, end));
    const message: MessageType<EntityValue[K]> = entityMessages[rows.kind];
    return bytes === undefined ? undefined : decodeValue(message, bytes);
  }

  #requireLive<K extends VersionedKind>(rows: EntityRows<K>, row: MetadataRow): void {
    const ids = rows.ids(row);
    const live = this.draft.get<VersionedKind>(rows.kind, ...ids);
    if (live?.beginSnapshot === row.id("begin_snapshot")) return;
    throw new CorruptionError(`a commit ends a row of ${row.table} that is not live: ${rows.kind} ${ids.join("/")}`);
  }
}

export function notOneRecord(row: MetadataRow, changed: readonly string[]): ConstraintError {
  return new ConstraintError(`an edit of ${row.table} in ${changed.join(", ")} cannot be kept`, {
    remedy: "Undo it, and change the lake through DuckLake.",
  });
}

export function encodeOf<K extends VersionedKind>(kind: K, value: EntityValue[K]): Uint8Array {
  const message: MessageType<EntityValue[K]> = entityMessages[kind];
  return encodeValue(message, value);
}
