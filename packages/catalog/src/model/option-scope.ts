import type { SchemaId, TableId } from "@moraine/codec";
import { checkId, checkObject, invalid } from "../verbs/arguments.js";

/** Where an option holds: everywhere, in one schema, or for one table. The narrower scope wins when it is read. */
export type OptionScope = "global" | { readonly schema: SchemaId } | { readonly table: TableId };

/** Checks the shape of a scope and the id in it; whether that is live is the caller's to ask. */
export function checkOptionScope(scope: OptionScope, argument: string): OptionScope {
  if (scope === "global") return scope;
  const object: object = checkObject(scope, argument);
  const isSingle = Object.keys(object).length === 1;
  if (isSingle && "schema" in object) checkId(object.schema as bigint, `${argument}.schema`);
  else if (isSingle && "table" in object) checkId(object.table as bigint, `${argument}.table`);
  else throw invalid(argument, '"global", { schema } or { table }');
  return scope;
}

/** The two ids of an option record's key: scope kind, scope id (format.md 1.3). */
export function optionIds(scope: OptionScope): [bigint, bigint] {
  if (scope === "global") return [0n, 0n];
  return "schema" in scope ? [1n, scope.schema] : [2n, scope.table];
}
