import { type SchemaId, type TableId, type TagEntry, type ViewId, NotFoundError } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { quoted } from "../model/error-text.js";
import { checkId, checkKnown, checkName, checkObject, checkString, invalid, type Names } from "./arguments.js";
import { requireSchema, requireTable, requireView } from "./require.js";

/** What a tag is tied to. */
export type TagTarget = { readonly schema: SchemaId } | { readonly table: TableId } | { readonly view: ViewId };

export interface SetTagArguments {
  readonly target: TagTarget;
  readonly key: string;
  readonly value: string;
}

const setTagNames: Names<SetTagArguments> = { target: true, key: true, value: true };

export interface RemoveTagArguments {
  readonly target: TagTarget;
  readonly key: string;
}

const removeTagNames: Names<RemoveTagArguments> = { target: true, key: true };

/** Gives an object a tag. An earlier value of the key ends with this commit and stays readable in the past. */
export function setTag(draft: Draft, args: SetTagArguments): void {
  const { target, key, value } = checkKnown(args, setTagNames, "arguments");
  const { objectId, recordChange } = checkTarget(draft, target);
  checkName(key, "key");
  checkString(value, "value");
  const entries = endLive(draft, entriesOf(draft, objectId), key);
  entries.push({ beginSnapshot: draft.snapshotId, endSnapshot: undefined, key, value, isNull: false });
  draft.put("tag", [objectId], { objectId, entries });
  recordChange();
}

/** Ends a tag. `not_found` when the object or the tag is not there. */
export function removeTag(draft: Draft, args: RemoveTagArguments): void {
  const { target, key } = checkKnown(args, removeTagNames, "arguments");
  const { objectId, recordChange } = checkTarget(draft, target);
  checkName(key, "key");
  const before = entriesOf(draft, objectId);
  if (!before.some((entry) => isLive(entry, key))) throw new NotFoundError(`tag ${quoted(key)} of object ${objectId}`);
  const entries = endLive(draft, before, key);
  if (entries.length === 0) draft.remove("tag", [objectId]);
  else draft.put("tag", [objectId], { objectId, entries });
  recordChange();
}

function entriesOf(draft: Draft, objectId: bigint): readonly TagEntry[] {
  return draft.get("tag", objectId)?.entries ?? [];
}

function isLive(entry: TagEntry, key: string): boolean {
  return entry.key === key && entry.endSnapshot === undefined;
}

/** The entries with the live one of `key` ended. One that this very commit began was never in force and goes entirely. */
function endLive(draft: Draft, entries: readonly TagEntry[], key: string): TagEntry[] {
  return entries
    .filter((entry) => !(isLive(entry, key) && entry.beginSnapshot === draft.snapshotId))
    .map((entry) => (isLive(entry, key) ? { ...entry, endSnapshot: draft.snapshotId } : entry));
}

function checkTarget(draft: Draft, target: TagTarget): { objectId: bigint; recordChange: () => void } {
  const object: object = checkObject(target, "target");
  if (Object.keys(object).length === 1) {
    if ("schema" in object) {
      const { schemaId } = requireSchema(draft, checkId(object.schema as bigint, "target.schema"));
      return { objectId: schemaId, recordChange: () => draft.record({ op: "tag_schema" }) };
    }
    if ("table" in object) {
      const { tableId } = requireTable(draft, checkId(object.table as bigint, "target.table"));
      return { objectId: tableId, recordChange: () => draft.record({ op: "alter_table", tableId }) };
    }
    if ("view" in object) {
      const { viewId } = requireView(draft, checkId(object.view as bigint, "target.view"));
      return { objectId: viewId, recordChange: () => draft.record({ op: "alter_view", viewId }) };
    }
  }
  throw invalid("target", "{ schema }, { table } or { view }");
}
