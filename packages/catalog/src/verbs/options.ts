import { ConstraintError } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { type OptionScope, checkOptionScope, optionIds } from "../model/option-scope.js";
import { checkKnown, checkName, checkString, type Names } from "./arguments.js";
import { requireSchema, requireTable } from "./require.js";

export interface SetOptionArguments {
  readonly scope: OptionScope;
  readonly key: string;
  readonly value: string;
}

const dataPathKey = "data_path";

const setOptionNames: Names<SetOptionArguments> = { scope: true, key: true, value: true };

export interface UnsetOptionArguments {
  readonly scope: OptionScope;
  readonly key: string;
}

const unsetOptionNames: Names<UnsetOptionArguments> = { scope: true, key: true };

/**
 * Sets an option of a scope. Makes no snapshot. `not_found` for a schema or table that is not live, `constraint` for
 * the global `encrypted`, which is fixed when the store is made, and `data_path`, which is fixed when it is first named.
 */
export function setOption(draft: Draft, args: SetOptionArguments): void {
  const { ids, key } = checkTarget(draft, checkKnown(args, setOptionNames, "arguments"));
  const options = new Map(draft.get("option", ...ids)?.options);
  options.set(key, checkString(args.value, "value"));
  draft.put("option", ids, { options });
}

/** Removes an option from a scope; one that is not set stays unset. Makes no snapshot. Errors as `setOption`. */
export function unsetOption(draft: Draft, args: UnsetOptionArguments): void {
  const { ids, key } = checkTarget(draft, checkKnown(args, unsetOptionNames, "arguments"));
  const options = new Map(draft.get("option", ...ids)?.options);
  if (!options.delete(key)) return;
  if (options.size === 0) draft.remove("option", ids);
  else draft.put("option", ids, { options });
}

/** Records where the data files of a lake stand, once: the files that it has registered are relative to it. */
export function recordDataPath(draft: Draft, dataPath: string): void {
  const ids = optionIds("global");
  const options = new Map(draft.get("option", ...ids)?.options);
  if (options.has(dataPathKey)) throw fixed(dataPathKey);
  options.set(dataPathKey, dataPath);
  draft.put("option", ids, { options });
}

/** Removes every option of a scope that ceases to be. */
export function removeOptions(draft: Draft, scope: OptionScope): void {
  const ids = optionIds(scope);
  if (draft.get("option", ...ids) !== undefined) draft.remove("option", ids);
}

function checkTarget(draft: Draft, args: UnsetOptionArguments): { ids: [bigint, bigint]; key: string } {
  const { scope, key } = args;
  checkOptionScope(scope, "scope");
  if (scope !== "global" && "schema" in scope) requireSchema(draft, scope.schema);
  if (scope !== "global" && "table" in scope) requireTable(draft, scope.table);
  checkName(key, "key");
  if (scope === "global" && (key === "encrypted" || key === dataPathKey)) throw fixed(key);
  return { ids: optionIds(scope), key };
}

function fixed(key: string): ConstraintError {
  return key === dataPathKey
    ? new ConstraintError("the global option data_path is fixed when a data path is first named", {
        remedy: "Name it when the catalog is opened; make another store for another data path.",
      })
    : new ConstraintError(`the global option ${key} is fixed when the store is made`, {
        remedy: "Create another store with the wanted setting.",
      });
}
