import type { IdKind } from "./change.js";
import type { ChangeSet } from "./changes.js";

/** What a change set did to one table, view or macro. */
type Class = "inserted" | "deleted" | "altered" | "dropped" | "compacted";

const classOfKind: Readonly<Partial<Record<IdKind, Class>>> = {
  inserted_into_table: "inserted",
  deleted_from_table: "deleted",
  altered_table: "altered",
  altered_view: "altered",
  dropped_table: "dropped",
  dropped_view: "dropped",
  dropped_scalar_macro: "dropped",
  dropped_table_macro: "dropped",
  merge_adjacent: "compacted",
  rewrite_delete: "compacted",
  compacted_table: "compacted",
  inline_flush: "compacted",
  flushed_inlined: "compacted",
};

/** Pairs that may both land on one object (format.md 5.5). delete/delete is decided by file. Everything else clashes. */
const harmless: ReadonlySet<string> = new Set([
  "inserted/inserted",
  "inserted/compacted",
  "compacted/inserted",
  "altered/compacted",
  "compacted/altered",
  "dropped/dropped",
]);

/**
 * Why two commits may not both land, or `undefined` when they may. Symmetric: only the wording depends on the order.
 *
 * Tables, views and macros share one id space, so one pass over the ids serves all three.
 */
export function conflicts(a: ChangeSet, b: ChangeSet): string | undefined {
  if (a.parts.unknown || b.parts.unknown)
    return "one of the commits made changes of a kind that this version does not know";
  if (touchesSchemaList(a) && touchesSchemaList(b)) return "both commits created or dropped a schema";
  const dropped = createdInDropped(a, b) ?? createdInDropped(b, a);
  if (dropped !== undefined) return `one commit created an object in schema ${dropped}, which the other dropped`;
  const classesOfB = classesById(b);
  for (const [id, classesOfA] of classesById(a)) {
    for (const inA of classesOfA) {
      for (const inB of classesOfB.get(id) ?? []) {
        if (harmless.has(`${inA}/${inB}`)) continue;
        if (inA === "deleted" && inB === "deleted" && deletesAreDisjoint(a, b, id)) continue;
        return `object ${id} was ${inA} by one commit and ${inB} by the other`;
      }
    }
  }
  return undefined;
}

function touchesSchemaList(set: ChangeSet): boolean {
  return set.parts.names.has("created_schema") || set.ids("dropped_schema").size > 0;
}

function createdInDropped(creator: ChangeSet, dropper: ChangeSet): bigint | undefined {
  for (const id of dropper.ids("dropped_schema")) if (creator.parts.createdInSchemaIds.has(id)) return id;
  return undefined;
}

function classesById(set: ChangeSet): Map<bigint, Set<Class>> {
  const out = new Map<bigint, Set<Class>>();
  for (const [kind, ids] of set.parts.ids) {
    const objectClass = classOfKind[kind];
    if (objectClass === undefined) continue;
    for (const id of ids) {
      const known = out.get(id);
      if (known === undefined) out.set(id, new Set([objectClass]));
      else known.add(objectClass);
    }
  }
  return out;
}

/** File ids are global, so the flat sets of a whole commit can be compared without knowing whose files they are. */
function deletesAreDisjoint(a: ChangeSet, b: ChangeSet, tableId: bigint): boolean {
  if (a.parts.untargetedDeleteTableIds.has(tableId) || b.parts.untargetedDeleteTableIds.has(tableId)) return false;
  for (const id of a.parts.deletedDataFileIds) if (b.parts.deletedDataFileIds.has(id)) return false;
  return true;
}
