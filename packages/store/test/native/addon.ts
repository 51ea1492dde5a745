import { findAddon } from "../../src/native/find-addon.js";
import type { NativeAddon } from "../../src/native/addon.js";

/** The addon itself, bound to the library; fails where there is none. */
export function nativeAddon(): NativeAddon {
  const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
  if (found.addon === undefined) throw new Error(`no native loops: ${found.reason}`);
  return found.addon;
}
