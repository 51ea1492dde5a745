import { quoteDotted, quoteIdentifier } from "./changes-quoting.js";

export type MacroType = "scalar" | "table";

/** One operation of a commit, as a verb records it. What each one means for others is in format.md 5.4. */
export type Change =
  | { readonly op: "create_schema"; readonly name: string }
  | { readonly op: "drop_schema"; readonly schemaId: bigint }
  /** A tag on a schema: leaves no text, yet readers must look again. */
  | { readonly op: "tag_schema" }
  | {
      readonly op: "create_table";
      readonly tableId: bigint;
      readonly schemaId: bigint;
      readonly schemaName: string;
      readonly name: string;
    }
  | { readonly op: "alter_table"; readonly tableId: bigint }
  /** An alteration that changes no reader's schema: sorting, the end of a deferred repair. */
  | { readonly op: "alter_table_layout"; readonly tableId: bigint }
  | { readonly op: "drop_table"; readonly tableId: bigint }
  | {
      readonly op: "create_view";
      readonly viewId: bigint;
      readonly schemaId: bigint;
      readonly schemaName: string;
      readonly name: string;
    }
  | { readonly op: "alter_view"; readonly viewId: bigint }
  | { readonly op: "drop_view"; readonly viewId: bigint }
  | {
      readonly op: "create_macro";
      readonly macroType: MacroType;
      readonly schemaId: bigint;
      readonly schemaName: string;
      readonly name: string;
    }
  | { readonly op: "drop_macro"; readonly macroType: MacroType; readonly macroId: bigint }
  /** Rows came in: a data file, inline rows, a step of an index build. */
  | { readonly op: "insert"; readonly tableId: bigint }
  /** Rows of one data file died. */
  | { readonly op: "delete_from_file"; readonly tableId: bigint; readonly dataFileId: bigint }
  /** Rows died that belong to no data file: inline rows. */
  | { readonly op: "delete_inline"; readonly tableId: bigint }
  | { readonly op: "merge_adjacent"; readonly tableId: bigint }
  | { readonly op: "rewrite_delete"; readonly tableId: bigint }
  /** Statistics: a snapshot is minted, and nothing is listed. */
  | { readonly op: "stats" };

/** The kinds whose payload is an id, in the order in which the text lists them between the kinds that carry names. */
export type IdKind =
  | "dropped_schema"
  | "dropped_table"
  | "dropped_view"
  | "dropped_scalar_macro"
  | "dropped_table_macro"
  | "inserted_into_table"
  | "deleted_from_table"
  | "altered_table"
  | "altered_view"
  | "merge_adjacent"
  | "rewrite_delete"
  | "compacted_table"
  | "inline_flush"
  | "flushed_inlined";

export type NameKind =
  | "created_schema"
  | "created_table"
  | "created_view"
  | "created_scalar_macro"
  | "created_table_macro";

/** Fixed order of the text (format.md 5.3). The three kinds that only DuckLake writes are not in it. */
const writtenKinds: readonly (IdKind | NameKind)[] = [
  "dropped_schema",
  "dropped_table",
  "dropped_view",
  "created_schema",
  "created_table",
  "created_view",
  "created_scalar_macro",
  "created_table_macro",
  "dropped_scalar_macro",
  "dropped_table_macro",
  "inserted_into_table",
  "deleted_from_table",
  "altered_table",
  "altered_view",
  "merge_adjacent",
  "rewrite_delete",
];

/** Everything that a change set can know. Fields that are marked "own" are empty in a set parsed from text. */
export interface ChangeSetParts {
  readonly ids: ReadonlyMap<IdKind, ReadonlySet<bigint>>;
  /** Rendered payloads, quoted: `"schema"."table"` or `"schema"`. */
  readonly names: ReadonlyMap<NameKind, ReadonlySet<string>>;
  /** Data files whose rows died. Parsed sets have them from `deleted_data_file_ids` of the snapshot record. */
  readonly deletedDataFileIds: ReadonlySet<bigint>;
  /** Tables with deletes that name no file. */
  readonly untargetedDeleteTableIds: ReadonlySet<bigint>;
  /** Own: schemas in which a table, view or macro was created. */
  readonly createdInSchemaIds: ReadonlySet<bigint>;
  /** Own: tables and views that get a schema_version record. */
  readonly schemaChangedIds: ReadonlySet<bigint>;
  /** Own: whether the commit raises schema_version. */
  readonly schemaChanged: boolean;
  /** Holds something that this version cannot read, so nothing may be assumed about it. */
  readonly unknown: boolean;
  /** Own: how many operations were recorded, those without text included. */
  readonly operations: number;
}

const emptyIds: ReadonlySet<bigint> = new Set();

/** What one commit did, as far as other commits must know: its text, its class, its conflicts. */
export class ChangeSet {
  readonly parts: ChangeSetParts;

  constructor(parts: ChangeSetParts) {
    this.parts = parts;
  }

  /** The set of a commit's own recorded operations. */
  static of(changes: Iterable<Change>): ChangeSet {
    const collector = new Collector();
    for (const change of changes) collector.add(change);
    return new ChangeSet(collector.parts());
  }

  ids(kind: IdKind): ReadonlySet<bigint> {
    return this.parts.ids.get(kind) ?? emptyIds;
  }

  /** True when nothing was recorded: such a commit mints no snapshot. */
  get isEmpty(): boolean {
    return this.parts.operations === 0;
  }

  get schemaChanged(): boolean {
    return this.parts.schemaChanged;
  }

  /** Ascending and distinct, as `schema_changed_table_ids` of the snapshot record wants it. */
  get schemaChangedIds(): bigint[] {
    return ascending(this.parts.schemaChangedIds);
  }

  /** Ascending and distinct, as `deleted_data_file_ids` of the snapshot record wants it. */
  get deletedDataFileIds(): bigint[] {
    return ascending(this.parts.deletedDataFileIds);
  }

  /** The `changes_made` text. */
  toText(): string {
    const ids: ReadonlyMap<string, ReadonlySet<bigint>> = this.parts.ids;
    const names: ReadonlyMap<string, ReadonlySet<string>> = this.parts.names;
    const parts: string[] = [];
    for (const kind of writtenKinds) {
      for (const name of [...(names.get(kind) ?? [])].sort(compareUtf8)) parts.push(`${kind}:${name}`);
      for (const id of ascending(ids.get(kind) ?? emptyIds)) parts.push(`${kind}:${id}`);
    }
    return parts.join(",");
  }

  /**
   * The tables of a commit that only moved rows between files, or from inline chunks to files: none of their index
   * entries change. Empty as soon as the commit did anything else (format.md 7.3).
   */
  compactionOnlyTables(): ReadonlySet<bigint> {
    if (this.parts.unknown || this.parts.names.size > 0) return emptyIds;
    const rewritten = union(this.ids("merge_adjacent"), this.ids("rewrite_delete"), this.ids("compacted_table"));
    const flushed = union(this.ids("inline_flush"), this.ids("flushed_inlined"));
    const deleted = this.ids("deleted_from_table");
    const deletesBelongToFlush =
      this.parts.deletedDataFileIds.size === 0 && [...deleted].every((id) => flushed.has(id));
    if (!deletesBelongToFlush) return emptyIds;
    for (const kind of this.parts.ids.keys())
      if (!compactionKinds.has(kind) && kind !== "deleted_from_table") return emptyIds;
    return union(rewritten, flushed);
  }
}

const compactionKinds: ReadonlySet<IdKind> = new Set<IdKind>([
  "merge_adjacent",
  "rewrite_delete",
  "compacted_table",
  "inline_flush",
  "flushed_inlined",
]);

function union(...sets: readonly ReadonlySet<bigint>[]): Set<bigint> {
  const out = new Set<bigint>();
  for (const set of sets) for (const id of set) out.add(id);
  return out;
}

function ascending(ids: ReadonlySet<bigint>): bigint[] {
  return [...ids].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

/** Byte order of the UTF-8 forms, which is code point order and not that of JavaScript's UTF-16 units. */
function compareUtf8(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

class Collector {
  readonly #ids = new Map<IdKind, Set<bigint>>();
  readonly #names = new Map<NameKind, Set<string>>();
  readonly #deletedDataFileIds = new Set<bigint>();
  readonly #untargetedDeleteTableIds = new Set<bigint>();
  readonly #createdInSchemaIds = new Set<bigint>();
  readonly #schemaChangedIds = new Set<bigint>();
  #schemaChanged = false;
  #operations = 0;

  add(change: Change): void {
    this.#operations++;
    switch (change.op) {
      case "create_schema":
        this.#name("created_schema", quoteIdentifier(change.name));
        this.#schemaChanged = true;
        return;
      case "drop_schema":
        return this.#ddl("dropped_schema", change.schemaId);
      case "tag_schema":
        this.#schemaChanged = true;
        return;
      case "create_table":
        this.#schemaChangedIds.add(change.tableId);
        return this.#created("created_table", change);
      case "create_view":
        this.#schemaChangedIds.add(change.viewId);
        return this.#created("created_view", change);
      case "create_macro":
        return this.#created(change.macroType === "scalar" ? "created_scalar_macro" : "created_table_macro", change);
      case "alter_table":
        this.#schemaChangedIds.add(change.tableId);
        return this.#ddl("altered_table", change.tableId);
      case "alter_view":
        this.#schemaChangedIds.add(change.viewId);
        return this.#ddl("altered_view", change.viewId);
      case "drop_table":
        return this.#ddl("dropped_table", change.tableId);
      case "drop_view":
        return this.#ddl("dropped_view", change.viewId);
      case "drop_macro":
        return this.#ddl(
          change.macroType === "scalar" ? "dropped_scalar_macro" : "dropped_table_macro",
          change.macroId,
        );
      case "alter_table_layout":
        return this.#id("altered_table", change.tableId);
      case "insert":
        return this.#id("inserted_into_table", change.tableId);
      case "delete_from_file":
        this.#deletedDataFileIds.add(change.dataFileId);
        return this.#id("deleted_from_table", change.tableId);
      case "delete_inline":
        this.#untargetedDeleteTableIds.add(change.tableId);
        return this.#id("deleted_from_table", change.tableId);
      case "merge_adjacent":
      case "rewrite_delete":
        return this.#id(change.op, change.tableId);
      case "stats":
        return;
    }
  }

  parts(): ChangeSetParts {
    return {
      ids: this.#ids,
      names: this.#names,
      deletedDataFileIds: this.#deletedDataFileIds,
      untargetedDeleteTableIds: this.#untargetedDeleteTableIds,
      createdInSchemaIds: this.#createdInSchemaIds,
      schemaChangedIds: this.#schemaChangedIds,
      schemaChanged: this.#schemaChanged,
      unknown: false,
      operations: this.#operations,
    };
  }

  #created(
    kind: NameKind,
    change: { readonly schemaId: bigint; readonly schemaName: string; readonly name: string },
  ): void {
    this.#name(kind, quoteDotted(change.schemaName, change.name));
    this.#createdInSchemaIds.add(change.schemaId);
    this.#schemaChanged = true;
  }

  #ddl(kind: IdKind, id: bigint): void {
    this.#id(kind, id);
    this.#schemaChanged = true;
  }

  #id(kind: IdKind, id: bigint): void {
    const known = this.#ids.get(kind);
    if (known === undefined) this.#ids.set(kind, new Set([id]));
    else known.add(id);
  }

  #name(kind: NameKind, payload: string): void {
    const known = this.#names.get(kind);
    if (known === undefined) this.#names.set(kind, new Set([payload]));
    else known.add(payload);
  }
}
