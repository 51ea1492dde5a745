import type { OptionScopeValue } from "@moraine/codec";
import type { SettingRow } from "./serve-cells.js";

/** The version of DuckLake's tables that is served. */
const tablesVersion = "1.0";
const createdBy = "moraine";
/** Keys of rows that are served whether anything is recorded for them or not (format.md 9.4). */
const servedKeys: ReadonlySet<string> = new Set(["version", "created_by", "data_path", "encrypted"]);

/** The rows of `ducklake_metadata` that belong to an option record, with the scope of its key: 0 global, 1 schema, 2 table. */
export function settingRows(
  [scopeKind, scopeId]: readonly bigint[],
  value: OptionScopeValue | undefined,
): readonly SettingRow[] {
  const options = value?.options ?? new Map<string, string>();
  const scope = scopeKind === 1n ? "schema" : scopeKind === 2n ? "table" : undefined;
  const row = (key: string, text: string): SettingRow => ({
    key,
    value: text,
    scope,
    scopeId: scope === undefined ? undefined : scopeId,
  });
  const recorded = [...options].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, text]) => row(key, text));
  if (scope !== undefined) return recorded;
  const dataPath = options.get("data_path");
  return [
    row("version", tablesVersion),
    row("created_by", createdBy),
    ...(dataPath === undefined ? [] : [row("data_path", `${dataPath.replace(/\/+$/, "")}/`)]),
    row("encrypted", options.get("encrypted") ?? "false"),
    ...recorded.filter(({ key }) => !servedKeys.has(key)),
  ];
}

/** The ids of the record of global options. */
export const globalScope: readonly bigint[] = [0n, 0n];
