import type { EntityKey, EntityValue, GcFileValue, LooseRowValue, SnapshotValue } from "@moraine/codec";
import { CorruptionError } from "@moraine/codec";
import type { MacroType } from "./change.js";
import { Content } from "./content.js";
import { type EntityChange, type EntityEntry, type StateKind, isStateKind } from "./entities.js";
import { foldName } from "./name-index.js";

/** A scheduled deletion that a commit added (`after`) or carried out (`before`). */
export interface GcFileChange {
  readonly dataFileId: bigint;
  readonly before: GcFileValue | undefined;
  readonly after: GcFileValue | undefined;
}

/** One record of the `current` subspace, decoded. */
export interface LoadedEntity {
  readonly key: EntityKey;
  readonly value: EntityValue[keyof EntityValue];
}

/** What can be asked of a catalog, whether it stands still (`CatalogState`) or is being changed (`Draft`). */
export interface CatalogReader {
  get<K extends StateKind>(kind: K, ...ids: bigint[]): EntityValue[K] | undefined;
  /** Values in key order, all of a kind or those of one leading id; a new array each time. */
  list<K extends StateKind>(kind: K, leadingId?: bigint): EntityValue[K][];
  count(kind: StateKind, leadingId?: bigint): number;
  /** Ids and values in key order, without building an array. */
  entries<K extends StateKind>(kind: K, leadingId?: bigint): IterableIterator<[readonly bigint[], EntityValue[K]]>;
  gcFiles(): GcFileValue[];
  /** The one of exactly that name, as the next three. */
  schemaByName(name: string): EntityValue["schema"] | undefined;
  tableByName(schemaId: bigint, name: string): EntityValue["table"] | undefined;
  viewByName(schemaId: bigint, name: string): EntityValue["view"] | undefined;
  macroByName(schemaId: bigint, name: string, type: MacroType): EntityValue["macro"] | undefined;
  /** Every schema that DuckDB would take for the one of that name: it compares without regard to case. The next three as well. */
  schemasLike(name: string): EntityValue["schema"][];
  tablesLike(schemaId: bigint, name: string): EntityValue["table"][];
  viewsLike(schemaId: bigint, name: string): EntityValue["view"][];
  macrosLike(schemaId: bigint, name: string, type: MacroType): EntityValue["macro"][];
  /** By ascending id. */
  tablesIn(schemaId: bigint): EntityValue["table"][];
  viewsIn(schemaId: bigint): EntityValue["view"][];
  macrosIn(schemaId: bigint): EntityValue["macro"][];
  isSchemaEmpty(schemaId: bigint): boolean;
  indexById(indexId: bigint): EntityValue["index"] | undefined;
  /** By ascending id, in every state. */
  indexesOf(tableId: bigint): EntityValue["index"][];
  /** Every index of the schema's tables whose name is `name` without regard to case. More than one is for the caller to refuse. */
  indexesInSchemaByFoldedName(schemaId: bigint, name: string): EntityValue["index"][];
  /** Live delete files of one data file: by the verbs at most one. */
  deleteFilesOf(tableId: bigint, dataFileId: bigint): EntityValue["delete_file"][];
}

/** The shared half of `CatalogState` and `Draft`: every read, over one `Content`. */
export abstract class ContentReader implements CatalogReader {
  protected readonly content: Content;

  protected constructor(content: Content) {
    this.content = content;
  }

  get<K extends StateKind>(kind: K, ...ids: bigint[]): EntityValue[K] | undefined {
    return this.content.get(kind, ids);
  }

  list<K extends StateKind>(kind: K, leadingId?: bigint): EntityValue[K][] {
    return this.content.list(kind, leadingId);
  }

  count(kind: StateKind, leadingId?: bigint): number {
    return this.content.count(kind, leadingId);
  }

  entries<K extends StateKind>(kind: K, leadingId?: bigint): IterableIterator<[readonly bigint[], EntityValue[K]]> {
    return this.content.entries(kind, leadingId);
  }

  gcFiles(): GcFileValue[] {
    return this.content.gcFiles();
  }

  schemaByName(name: string): EntityValue["schema"] | undefined {
    return this.schemasLike(name).find((schema) => schema.schemaName === name);
  }

  tableByName(schemaId: bigint, name: string): EntityValue["table"] | undefined {
    return this.tablesLike(schemaId, name).find((table) => table.tableName === name);
  }

  viewByName(schemaId: bigint, name: string): EntityValue["view"] | undefined {
    return this.viewsLike(schemaId, name).find((view) => view.viewName === name);
  }

  macroByName(schemaId: bigint, name: string, type: MacroType): EntityValue["macro"] | undefined {
    return this.macrosLike(schemaId, name, type).find((macro) => macro.macroName === name);
  }

  schemasLike(name: string): EntityValue["schema"][] {
    return this.#all("schema", this.content.schemaIdsLike(name));
  }

  tablesLike(schemaId: bigint, name: string): EntityValue["table"][] {
    return this.#all("table", this.content.tableIdsLike(schemaId, name));
  }

  viewsLike(schemaId: bigint, name: string): EntityValue["view"][] {
    return this.#all("view", this.content.viewIdsLike(schemaId, name));
  }

  macrosLike(schemaId: bigint, name: string, type: MacroType): EntityValue["macro"][] {
    return this.#all("macro", this.content.macroIdsLike(schemaId, name, type));
  }

  tablesIn(schemaId: bigint): EntityValue["table"][] {
    return this.#all("table", this.content.tableIdsIn(schemaId));
  }

  viewsIn(schemaId: bigint): EntityValue["view"][] {
    return this.#all("view", this.content.viewIdsIn(schemaId));
  }

  macrosIn(schemaId: bigint): EntityValue["macro"][] {
    return this.#all("macro", this.content.macroIdsIn(schemaId));
  }

  isSchemaEmpty(schemaId: bigint): boolean {
    return this.content.isSchemaEmpty(schemaId);
  }

  indexById(indexId: bigint): EntityValue["index"] | undefined {
    const tableId = this.content.tableOfIndex(indexId);
    return tableId === undefined ? undefined : this.content.get("index", [tableId, indexId]);
  }

  indexesOf(tableId: bigint): EntityValue["index"][] {
    return this.content.list("index", tableId);
  }

  indexesInSchemaByFoldedName(schemaId: bigint, name: string): EntityValue["index"][] {
    return this.content.indexIdsByFoldedName(schemaId, foldName(name)).flatMap((id) => this.indexById(id) ?? []);
  }

  deleteFilesOf(tableId: bigint, dataFileId: bigint): EntityValue["delete_file"][] {
    return this.content
      .deleteFileIdsOf(tableId, dataFileId)
      .flatMap((id) => this.content.get("delete_file", [tableId, id]) ?? []);
  }

  #all<K extends StateKind>(kind: K, ids: readonly bigint[]): EntityValue[K][] {
    const sorted = ids.length < 2 ? ids : ids.toSorted((a, b) => (a < b ? -1 : 1));
    return sorted.flatMap((id) => this.content.get(kind, [id]) ?? []);
  }
}

/**
 * The live entities of the catalog at one head. Never changes: a commit makes the next state, which shares every
 * untouched part, so that a reader can hold a state for as long as it likes and a commit costs what it touches.
 */
export class CatalogState extends ContentReader {
  /** The snapshot record at the head: its id, the id counters, the schema version. */
  readonly head: SnapshotValue;
  /** Batches written since the store was made; moves with every commit, also with those that mint no snapshot. */
  readonly batchSeq: bigint;
  /** Rows of metadata tables that belong to no other record. */
  readonly looseRows: readonly LooseRowValue[];

  private constructor(content: Content, head: SnapshotValue, batchSeq: bigint, looseRows: readonly LooseRowValue[]) {
    super(content);
    this.head = head;
    this.batchSeq = batchSeq;
    this.looseRows = looseRows;
  }

  /** Builds a state from decoded `current` records in any order. Statistics of single files are passed over. */
  static load(
    entries: Iterable<LoadedEntity>,
    gcFiles: Iterable<GcFileValue>,
    head: SnapshotValue,
    batchSeq: bigint,
    looseRows: readonly LooseRowValue[] = [],
  ): CatalogState {
    return new CatalogState(Content.load(entityEntries(entries), gcFiles), head, batchSeq, looseRows);
  }

  /** For `Draft`, which has the next content at hand. */
  static ofContent(
    content: Content,
    head: SnapshotValue,
    batchSeq: bigint,
    looseRows: readonly LooseRowValue[],
  ): CatalogState {
    return new CatalogState(content, head, batchSeq, looseRows);
  }

  /** The state after a commit with these net changes. */
  apply(
    changes: Iterable<EntityChange>,
    gcChanges: Iterable<GcFileChange>,
    head: SnapshotValue,
    batchSeq: bigint,
    looseRows: readonly LooseRowValue[] = this.looseRows,
  ): CatalogState {
    const content = this.content.clone();
    for (const change of changes) content.set(change.kind, change.ids, change.after);
    for (const change of gcChanges) {
      if (change.after === undefined) content.removeGcFile(change.dataFileId);
      else content.putGcFile(change.after);
    }
    return new CatalogState(content, head, batchSeq, looseRows);
  }

  /** Live records held in memory, scheduled deletions included: the measure that churn is compared with. */
  get entityCount(): number {
    return this.content.entityCount;
  }

  /** A copy that a commit may work in. The copy costs two dozen pointers. */
  cloneContent(): Content {
    return this.content.clone();
  }
}

function* entityEntries(entries: Iterable<LoadedEntity>): IterableIterator<EntityEntry> {
  for (const { key, value } of entries) {
    if (!isStateKind(key.kind)) continue;
    const idCount = key.ids.length;
    if (idCount === 0) throw new CorruptionError(`a record of kind ${key.kind} was loaded without ids`);
    yield { kind: key.kind, ids: key.ids, value } as EntityEntry;
  }
}
