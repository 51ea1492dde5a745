import type { Change, ChangeSetParts, IdKind, NameKind } from "./change.js";
import { collectChanges } from "./collect-changes.js";

/**
 * Fixed order of the text (format.md 5.3). The kinds that only DuckLake writes are not in it. By `inlined_delete` and `inline_flush`,
 * which the reference does not write, DuckLake finds that inlined rows of a transaction of its own were deleted or flushed
 * meanwhile: without them its flush brings deleted rows back, and what it deletes or updates is lost.
 */
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
  "inlined_delete",
  "altered_table",
  "altered_view",
  "merge_adjacent",
  "inline_flush",
  "rewrite_delete",
];

const emptyIds: ReadonlySet<bigint> = new Set();

/** What one commit did, as far as other commits must know: its text, its class, its conflicts. */
export class ChangeSet {
  readonly parts: ChangeSetParts;

  constructor(parts: ChangeSetParts) {
    this.parts = parts;
  }

  /** The set of a commit's own recorded operations. */
  static of(changes: Iterable<Change>): ChangeSet {
    return new ChangeSet(collectChanges(changes));
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
   * The tables of a commit that only moved rows between files: none of their index entries change, and none are derived. Empty
   * as soon as the commit did anything else. A flush of inlined rows is not among them, as its files hold rows that were not in
   * files before (specification, "Compaction derives nothing").
   */
  compactionOnlyTables(): ReadonlySet<bigint> {
    if (this.parts.unknown || this.parts.names.size > 0) return emptyIds;
    for (const kind of this.parts.ids.keys()) if (!compactionKinds.has(kind)) return emptyIds;
    return union(...[...compactionKinds].map((kind) => this.ids(kind)));
  }
}

const compactionKinds: ReadonlySet<IdKind> = new Set<IdKind>(["merge_adjacent", "rewrite_delete", "compacted_table"]);

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
