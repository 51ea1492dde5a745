import { type OptionScopeValue, type SchemaId, type TableId, ConstraintError } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { checkId, checkName, checkObject, checkString, invalid } from "./arguments.js";
import { requireSchema, requireTable } from "./require.js";

/** Where an option holds: everywhere, in one schema, or for one table. The narrower scope wins when it is read. */
export type OptionScope = "global" | { readonly schema: SchemaId } | { readonly table: TableId };

export interface SetOptionArguments {
  readonly scope: OptionScope;
  readonly key: string;
  readonly value: string;
}

export interface UnsetOptionArguments {
  readonly scope: OptionScope;
  readonly key: string;
}

const scopeKinds = { global: 0n, schema: 1n, table: 2n } as const;

/** The two ids of an option record's key: scope kind, scope id. */
export function optionIds(scope: OptionScope): [bigint, bigint] {
  if (scope === "global") return [scopeKinds.global, 0n];
  return "schema" in scope ? [scopeKinds.schema, scope.schema] : [scopeKinds.table, scope.table];
}

/**
 * Sets an option of a scope. Makes no snapshot. `not_found` for a schema or table that is not live, `constraint` for
 * the global `encrypted`, which is fixed when the store is made.
 */
export function setOption(draft: Draft, args: SetOptionArguments): void {
  const { ids, key } = checkTarget(draft, args);
  const options = new Map(draft.get("option", ...ids)?.options);
  options.set(key, checkString(args.value, "value"));
  draft.put("option", ids, { options });
}

/** Removes an option from a scope; one that is not set stays unset. Makes no snapshot. Errors as `setOption`. */
export function unsetOption(draft: Draft, args: UnsetOptionArguments): void {
  const { ids, key } = checkTarget(draft, args);
  const options = new Map(draft.get("option", ...ids)?.options);
  if (!options.delete(key)) return;
  if (options.size === 0) draft.remove("option", ids);
  else draft.put("option", ids, { options } satisfies OptionScopeValue);
}

/** Removes every option of a scope that ceases to be. */
export function removeOptions(draft: Draft, scope: OptionScope): void {
  const ids = optionIds(scope);
  if (draft.get("option", ...ids) !== undefined) draft.remove("option", ids);
}

function checkTarget(draft: Draft, args: UnsetOptionArguments): { ids: [bigint, bigint]; key: string } {
  const { scope, key } = checkObject(args, "arguments");
  checkScope(draft, scope);
  checkName(key, "key");
  if (scope === "global" && key === "encrypted") {
    throw new ConstraintError("the global option encrypted is fixed when the store is made", {
      remedy: "Create another store with the wanted setting.",
    });
  }
  return { ids: optionIds(scope), key };
}

function checkScope(draft: Draft, scope: OptionScope): void {
  if (scope === "global") return;
  const object: object = checkObject(scope, "scope");
  if ("schema" in object && !("table" in object))
    requireSchema(draft, checkId(object.schema as bigint, "scope.schema"));
  else if ("table" in object && !("schema" in object))
    requireTable(draft, checkId(object.table as bigint, "scope.table"));
  else throw invalid("scope", '"global", { schema } or { table }');
}
