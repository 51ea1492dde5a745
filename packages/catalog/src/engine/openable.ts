import { ConfigurationError, currentKey, decodeValue, OptionScopeValue } from "@moraine/codec";
import { packKeys, type ReadView, valueAt } from "@moraine/store";
import { checkFormat } from "./bootstrap.js";

/** What is known of a lake without opening it. */
export interface LakeOutline {
  readonly dataPath: string | undefined;
}

/** Looks whether a store holds a lake that this version reads. Fails with `migration_required` or `unsupported` for another format. */
export async function outlineOf(view: ReadView): Promise<LakeOutline | undefined> {
  if (!(await checkFormat(view))) return undefined;
  const options = valueAt(await view.getMany(packKeys([currentKey("option", 0n, 0n)])), 0);
  return { dataPath: options && decodeValue(OptionScopeValue, options).options.get("data_path") };
}

/**
 * Fails as `Catalog.open` would for what the store holds: `migration_required` or `unsupported` for another format,
 * `configuration` for another data path than the one recorded. For a look at a store before it is opened for writing, which
 * fences its writer.
 */
export async function checkOpenable(view: ReadView, dataPath: string | undefined): Promise<void> {
  checkDataPath((await outlineOf(view))?.dataPath, dataPath);
}

/** A lake has one data path: the files it has registered are relative to it. */
export function checkDataPath(recorded: string | undefined, dataPath: string | undefined): void {
  if (dataPath === undefined || recorded === undefined || withSlash(dataPath) === withSlash(recorded)) return;
  throw new ConfigurationError(`the lake's data path is ${recorded}, and it was opened with ${dataPath}`, {
    remedy: "Open it without dataPath, or with the one recorded.",
  });
}

/** Paths with and without a slash at the end name the same folder. */
function withSlash(path: string): string {
  return path.endsWith("/") ? path : `${path}/`;
}
