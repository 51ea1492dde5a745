// Loads libraries as the binding does, and prints what the addon's `load` answers for each. Arguments: the addon, the
// libraries.
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { NativeAddon } from "../../src/native/addon.js";

const [addonPath = "", ...libraries] = process.argv.slice(2);
const addon = createRequire(import.meta.url)(addonPath) as NativeAddon;
const require = createRequire(fileURLToPath(import.meta.resolve("@slatedb/uniffi")));
const koffi = require("koffi") as { load(path: string): unknown };
const answers = libraries.map((library) => {
  koffi.load(library);
  return addon.load(library);
});
process.stdout.write(JSON.stringify(answers));
