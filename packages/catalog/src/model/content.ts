import { type EntityValue, type GcFileValue, entityKinds } from "@moraine/codec";
import type { MacroType } from "./change.js";
import { type EntityEntry, type StateKind, compareIds, diffOrder } from "./entities.js";
import { EntityMap } from "./entity-map.js";
import { NameIndex, foldName, foldSqlName } from "./name-index.js";
import { PersistentMap } from "./persistent-map.js";

type Trees = { [K in StateKind]: EntityMap<EntityValue[K]> };

/** What is looked up by something else than its id, names folded. Kept in step with the trees by every `set`. */
interface Lookups {
  schemas: NameIndex;
  tables: NameIndex;
  views: NameIndex;
  scalarMacros: NameIndex;
  tableMacros: NameIndex;
  /** By folded name over all tables: which schema an index is in follows from its table, which may move. */
  indexes: NameIndex;
  indexTables: PersistentMap<bigint, bigint>;
  /** Live delete files by table and data file. */
  deleteFiles: EntityMap<readonly bigint[]>;
}

type Deriver<K extends StateKind> = (
  lookups: Lookups,
  before: EntityValue[K] | undefined,
  after: EntityValue[K] | undefined,
) => void;

const global = 0n;

/**
 * Live entities with their lookups, as pointers to immutable trees. Only this object is mutable: `clone` copies two
 * dozen pointers, whatever the size of the catalog, and neither copy sees what the other does afterwards.
 */
export class Content {
  readonly #trees: Trees;
  readonly #lookups: Lookups;
  #gcFiles: PersistentMap<bigint, GcFileValue>;

  private constructor(trees: Trees, lookups: Lookups, gcFiles: PersistentMap<bigint, GcFileValue>) {
    this.#trees = trees;
    this.#lookups = lookups;
    this.#gcFiles = gcFiles;
  }

  static empty(): Content {
    return new Content(
      {
        schema: EntityMap.empty(1),
        table: EntityMap.empty(1),
        view: EntityMap.empty(1),
        column: EntityMap.empty(2),
        partition: EntityMap.empty(2),
        data_file: EntityMap.empty(2),
        delete_file: EntityMap.empty(2),
        table_stats: EntityMap.empty(1),
        table_column_stats: EntityMap.empty(2),
        tag: EntityMap.empty(1),
        option: EntityMap.empty(2),
        sort: EntityMap.empty(2),
        macro: EntityMap.empty(1),
        mapping: EntityMap.empty(2),
        index: EntityMap.empty(2),
      },
      {
        schemas: NameIndex.empty,
        tables: NameIndex.empty,
        views: NameIndex.empty,
        scalarMacros: NameIndex.empty,
        tableMacros: NameIndex.empty,
        indexes: NameIndex.empty,
        indexTables: PersistentMap.empty(),
        deleteFiles: EntityMap.empty(2),
      },
      PersistentMap.empty(),
    );
  }

  static load(entries: Iterable<EntityEntry>, gcFiles: Iterable<GcFileValue>): Content {
    const content = Content.empty();
    const byKind = new Map<StateKind, EntityEntry[]>(diffOrder.map((kind) => [kind, []]));
    for (const entry of entries) byKind.get(entry.kind)?.push(entry);
    for (const [kind, ofKind] of byKind) content.#fill(kind, ofKind);
    for (const file of gcFiles) content.putGcFile(file);
    return content;
  }

  clone(): Content {
    return new Content({ ...this.#trees }, { ...this.#lookups }, this.#gcFiles);
  }

  get<K extends StateKind>(kind: K, ids: readonly bigint[]): EntityValue[K] | undefined {
    return this.#trees[kind].get(ids);
  }

  list<K extends StateKind>(kind: K, leading?: bigint): EntityValue[K][] {
    return this.#trees[kind].list(leading);
  }

  count(kind: StateKind, leading?: bigint): number {
    return this.#trees[kind].count(leading);
  }

  entries<K extends StateKind>(kind: K, leading?: bigint): IterableIterator<[readonly bigint[], EntityValue[K]]> {
    return this.#trees[kind].entries(leading);
  }

  /** Stores `value`, or removes the entity when it is `undefined`. Gives what stood there before. */
  set<K extends StateKind>(
    kind: K,
    ids: readonly bigint[],
    value: EntityValue[K] | undefined,
  ): EntityValue[K] | undefined {
    const tree: EntityMap<EntityValue[K]> = this.#trees[kind];
    const before = tree.get(ids);
    const next: EntityMap<EntityValue[K]> = value === undefined ? tree.delete(ids) : tree.set(ids, value);
    this.#trees[kind] = next as Trees[K];
    derivers[kind]?.(this.#lookups, before, value);
    return before;
  }

  putGcFile(value: GcFileValue): GcFileValue | undefined {
    const before = this.#gcFiles.get(value.dataFileId);
    this.#gcFiles = this.#gcFiles.set(value.dataFileId, value);
    return before;
  }

  removeGcFile(dataFileId: bigint): GcFileValue | undefined {
    const before = this.#gcFiles.get(dataFileId);
    this.#gcFiles = this.#gcFiles.delete(dataFileId);
    return before;
  }

  gcFile(dataFileId: bigint): GcFileValue | undefined {
    return this.#gcFiles.get(dataFileId);
  }

  gcFiles(): GcFileValue[] {
    return this.#gcFiles.toArray();
  }

  get entityCount(): number {
    let count = this.#gcFiles.size;
    for (const kind of diffOrder) count += this.#trees[kind].size;
    return count;
  }

  /** Ids of those that DuckDB would take for the one of that name, ascending; so for the next three. */
  schemaIdsLike(name: string): readonly bigint[] {
    return this.#lookups.schemas.find(global, foldSqlName(name));
  }

  tableIdsLike(schemaId: bigint, name: string): readonly bigint[] {
    return this.#lookups.tables.find(schemaId, foldSqlName(name));
  }

  viewIdsLike(schemaId: bigint, name: string): readonly bigint[] {
    return this.#lookups.views.find(schemaId, foldSqlName(name));
  }

  macroIdsLike(schemaId: bigint, name: string, type: MacroType): readonly bigint[] {
    const macros = type === "scalar" ? this.#lookups.scalarMacros : this.#lookups.tableMacros;
    return macros.find(schemaId, foldSqlName(name));
  }

  tableIdsIn(schemaId: bigint): bigint[] {
    return this.#lookups.tables.idsIn(schemaId);
  }

  viewIdsIn(schemaId: bigint): bigint[] {
    return this.#lookups.views.idsIn(schemaId);
  }

  macroIdsIn(schemaId: bigint): bigint[] {
    return [...this.#lookups.scalarMacros.idsIn(schemaId), ...this.#lookups.tableMacros.idsIn(schemaId)];
  }

  isSchemaEmpty(schemaId: bigint): boolean {
    const { tables, views, scalarMacros, tableMacros } = this.#lookups;
    return ![tables, views, scalarMacros, tableMacros].some((names) => names.has(schemaId));
  }

  tableOfIndex(indexId: bigint): bigint | undefined {
    return this.#lookups.indexTables.get(indexId);
  }

  /** Indexes of that folded name on tables that now stand in the schema, by ascending id. */
  indexIdsByFoldedName(schemaId: bigint, foldedName: string): bigint[] {
    return this.#lookups.indexes.find(global, foldedName).filter((id) => {
      const tableId = this.tableOfIndex(id);
      return tableId !== undefined && this.get("table", [tableId])?.schemaId === schemaId;
    });
  }

  deleteFileIdsOf(tableId: bigint, dataFileId: bigint): readonly bigint[] {
    return this.#lookups.deleteFiles.get([tableId, dataFileId]) ?? [];
  }

  #fill<K extends StateKind>(kind: K, entries: readonly EntityEntry[]): void {
    const sorted = entries.map((entry): [readonly bigint[], EntityValue[K]] => [
      entry.ids,
      entry.value as EntityValue[K],
    ]);
    sorted.sort((a, b) => compareIds(a[0], b[0]));
    const components = entityKinds[kind].components === 1 ? 1 : 2;
    this.#trees[kind] = EntityMap.fromSorted(components, sorted) as Trees[K];
    const derive = derivers[kind];
    if (derive !== undefined) for (const [, value] of sorted) derive(this.#lookups, undefined, value);
  }
}

const derivers: { readonly [K in StateKind]?: Deriver<K> } = {
  schema(lookups, before, after) {
    if (before !== undefined)
      lookups.schemas = lookups.schemas.remove(global, foldSqlName(before.schemaName), before.schemaId);
    if (after !== undefined)
      lookups.schemas = lookups.schemas.add(global, foldSqlName(after.schemaName), after.schemaId);
  },
  table(lookups, before, after) {
    if (before !== undefined)
      lookups.tables = lookups.tables.remove(before.schemaId, foldSqlName(before.tableName), before.tableId);
    if (after !== undefined)
      lookups.tables = lookups.tables.add(after.schemaId, foldSqlName(after.tableName), after.tableId);
  },
  view(lookups, before, after) {
    if (before !== undefined)
      lookups.views = lookups.views.remove(before.schemaId, foldSqlName(before.viewName), before.viewId);
    if (after !== undefined)
      lookups.views = lookups.views.add(after.schemaId, foldSqlName(after.viewName), after.viewId);
  },
  macro(lookups, before, after) {
    if (before !== undefined) {
      const names = macroNames(before);
      lookups[names] = lookups[names].remove(before.schemaId, foldSqlName(before.macroName), before.macroId);
    }
    if (after !== undefined) {
      const names = macroNames(after);
      lookups[names] = lookups[names].add(after.schemaId, foldSqlName(after.macroName), after.macroId);
    }
  },
  index(lookups, before, after) {
    if (before !== undefined) {
      lookups.indexes = lookups.indexes.remove(global, foldName(before.indexName), before.indexId);
      lookups.indexTables = lookups.indexTables.delete(before.indexId);
    }
    if (after !== undefined) {
      lookups.indexes = lookups.indexes.add(global, foldName(after.indexName), after.indexId);
      lookups.indexTables = lookups.indexTables.set(after.indexId, after.tableId);
    }
  },
  delete_file(lookups, before, after) {
    if (before !== undefined) {
      const ids = [before.tableId, before.dataFileId];
      const left = (lookups.deleteFiles.get(ids) ?? []).filter((id) => id !== before.deleteFileId);
      lookups.deleteFiles = left.length === 0 ? lookups.deleteFiles.delete(ids) : lookups.deleteFiles.set(ids, left);
    }
    if (after !== undefined) {
      const ids = [after.tableId, after.dataFileId];
      lookups.deleteFiles = lookups.deleteFiles.set(ids, [...(lookups.deleteFiles.get(ids) ?? []), after.deleteFileId]);
    }
  },
};

/** A macro's implementations share one type (format.md 5.10); one without any counts as scalar. */
export function macroTypeOf(value: EntityValue["macro"]): MacroType {
  return value.implementations[0]?.macroType === "table" ? "table" : "scalar";
}

function macroNames(value: EntityValue["macro"]): "scalarMacros" | "tableMacros" {
  return macroTypeOf(value) === "table" ? "tableMacros" : "scalarMacros";
}
