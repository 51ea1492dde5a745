// What the addon's `load` answers for libraries that do not fit, each in turn, and that nothing works before it succeeds.
// Arguments: the addon, the library of the binding, a copy of it.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { NativeAddon } from "../../src/native/addon.js";

const [addonPath = "", library = "", copy = ""] = process.argv.slice(2);
const addon = createRequire(import.meta.url)(addonPath) as NativeAddon;

function refusal(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return (error as { code?: string }).code;
  }
}

/** Loads a library as the binding does. */
function loadByKoffi(path: string): void {
  const require = createRequire(fileURLToPath(import.meta.resolve("@slatedb/uniffi")));
  (require("koffi") as { load(path: string): unknown }).load(path);
}

const answers: Record<string, unknown> = {};
answers["before"] = refusal(() => addon.flush(1n));
answers["not loaded"] = addon.load(library);
await import("@slatedb/uniffi");
answers["no file"] = addon.load("/nowhere/library.so");
answers["no library"] = addon.load(addonPath.replace(/[^/]*$/u, "nothing.so"));
answers["another library"] = addon.load("libc.so.6");
answers["a copy that is not loaded"] = addon.load(copy);
answers["a function that is missing"] = addon.load(library, "slatedb_does_not_have_this");
answers["still before"] = refusal(() => addon.flush(1n));
answers["it"] = addon.load(library, "ffi_slatedb_uniffi_rustbuffer_alloc");
answers["again"] = addon.load(library);
loadByKoffi(copy);
answers["a copy that is loaded"] = addon.load(copy);
answers["missing, afterwards"] = addon.load(library, "slatedb_does_not_have_this");
answers["after all"] = addon.load(library);
process.stdout.write(JSON.stringify(answers));
