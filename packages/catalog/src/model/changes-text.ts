import { isQuotedIdentifier, isQuotedPair, splitOutsideQuotes } from "./changes-quoting.js";
import type { IdKind, NameKind } from "./change.js";
import { ChangeSet } from "./changes.js";

const idKinds: ReadonlySet<string> = new Set<IdKind>([
  "dropped_schema",
  "dropped_table",
  "dropped_view",
  "dropped_scalar_macro",
  "dropped_table_macro",
  "inserted_into_table",
  "deleted_from_table",
  "inlined_delete",
  "altered_table",
  "altered_view",
  "merge_adjacent",
  "rewrite_delete",
  "compacted_table",
  "inline_flush",
  "flushed_inlined",
]);

/** Changes of inlined rows are changes of the table like others. */
const tableKinds: Readonly<Record<string, IdKind>> = {
  inlined_insert: "inserted_into_table",
  inlined_delete: "deleted_from_table",
};

const pairKinds: ReadonlySet<string> = new Set<NameKind>([
  "created_table",
  "created_view",
  "created_scalar_macro",
  "created_table_macro",
]);

const largestId = 2n ** 64n - 1n;

function isIdKind(kind: string): kind is IdKind {
  return idKinds.has(kind);
}

function isPairKind(kind: string): kind is Exclude<NameKind, "created_schema"> {
  return pairKinds.has(kind);
}

/**
 * Reads the `changes_made` text of a snapshot record (format.md 5.3). Kinds are matched without regard to case. A kind
 * or payload that is not understood marks the whole set as unknown, which conflicts with everything: the text may come
 * from a newer writer. `deletedDataFileIds` are those of the same record; without them, deletes count as untargeted.
 */
export function parseChanges(text: string, deletedDataFileIds: readonly bigint[] = []): ChangeSet {
  const ids = new Map<IdKind, Set<bigint>>();
  const names = new Map<NameKind, Set<string>>();
  let unknown = false;
  let operations = 0;
  const items = text === "" ? [] : splitOutsideQuotes(text);
  if (items === undefined) unknown = true;
  for (const item of items ?? []) {
    operations++;
    const colon = item.indexOf(":");
    const written = item.slice(0, Math.max(colon, 0)).toLowerCase();
    const kind = Object.hasOwn(tableKinds, written) ? (tableKinds[written] as IdKind) : written;
    const payload = item.slice(colon + 1);
    if (colon > 0 && isIdKind(kind)) {
      const id = parseId(payload);
      if (id === undefined) unknown = true;
      else for (const each of isIdKind(written) ? [written, kind] : [kind]) add(ids, each, id);
    } else if (kind === "created_schema" && isQuotedIdentifier(payload)) add(names, kind, payload);
    else if (isPairKind(kind) && isQuotedPair(payload)) add(names, kind, payload);
    else unknown = true;
  }
  const deletedFrom = ids.get("deleted_from_table") ?? new Set<bigint>();
  return new ChangeSet({
    ids,
    names,
    deletedDataFileIds: new Set(deletedDataFileIds),
    untargetedDeleteTableIds: deletedDataFileIds.length === 0 ? deletedFrom : new Set(),
    createdInSchemaIds: new Set(),
    schemaChangedIds: new Set(),
    schemaChanged: false,
    unknown,
    operations,
  });
}

function parseId(payload: string): bigint | undefined {
  if (!/^\d{1,20}$/.test(payload)) return undefined;
  const id = BigInt(payload);
  return id <= largestId ? id : undefined;
}

function add<K, T>(sets: Map<K, Set<T>>, kind: K, item: T): void {
  const known = sets.get(kind);
  if (known === undefined) sets.set(kind, new Set([item]));
  else known.add(item);
}
