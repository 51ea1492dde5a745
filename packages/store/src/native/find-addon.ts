import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isAddon, type NativeAddon } from "./addon.js";
import { platformOf } from "./platform.js";

/** The addon, bound to the library, or why there is none. */
export type FoundAddon =
  | {
      readonly addon: NativeAddon;
      /** Where it was found. */
      readonly path: string;
      /** Whether the library leaves memory behind with each call, which the addon makes up for. */
      readonly futuresLeak: boolean;
    }
  | { readonly addon: undefined; readonly reason: string };

/** The file that a checkout builds; in a platform package it is the main file. */
const fileName = "moraine-store.node";

/**
 * Looks for the addon: at `path`, from the current folder, if that is given, else where a checkout builds it, else in the
 * optional package for this platform; loads it and binds it to the SlateDB library that the official binding has loaded.
 * Whatever does not fit is a reason, never an error: the plain binding does everything too.
 */
export function findAddon(path: string | undefined): FoundAddon {
  const platform = platformOf(process);
  if (platform.name === undefined) return { addon: undefined, reason: `there is none for ${platform.without}` };
  const load = createRequire(import.meta.url);
  const found = path === undefined ? (builtPath() ?? packagedPath(load, platform.name)) : resolve(path);
  if (found === undefined) {
    return { addon: undefined, reason: `neither this checkout nor a package @moraine/store-${platform.name} has it` };
  }
  try {
    const addon: unknown = load(found);
    if (!isAddon(addon)) return { addon: undefined, reason: `${found} is another addon` };
    const answer = addon.load(libraryPath(platform.name));
    return answer.loaded
      ? { addon, path: found, futuresLeak: answer.futuresLeak }
      : { addon: undefined, reason: [answer.reason, ...answer.details.slice(0, 3)].join(", ") };
  } catch (error) {
    return { addon: undefined, reason: error instanceof Error ? firstLine(error.message) : String(error) };
  }
}

/** The addon that this checkout has built, seen from wherever these sources were compiled to. */
function builtPath(): string | undefined {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "package.json"))) {
    const parent = dirname(folder);
    if (parent === folder) return undefined;
    folder = parent;
  }
  const path = join(folder, "native/build", fileName);
  return existsSync(path) ? path : undefined;
}

function packagedPath(load: NodeJS.Require, platform: string): string | undefined {
  try {
    if (platform === "linux-x64-gnu") return load.resolve("@moraine/store-linux-x64-gnu");
    if (platform === "linux-arm64-gnu") return load.resolve("@moraine/store-linux-arm64-gnu");
  } catch {
    // An optional package that is not there is what this asks about.
  }
  return undefined;
}

/** The library's file inside of the binding's package: the copy that this process has loaded through it. */
export function libraryPath(platform: string): string {
  const binding = dirname(fileURLToPath(import.meta.resolve("@slatedb/uniffi")));
  const library = process.platform === "darwin" ? "libslatedb_uniffi.dylib" : "libslatedb_uniffi.so";
  return join(binding, "prebuilds", platform, library);
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}
