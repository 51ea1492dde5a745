// Puts what the service loads into a few files: to find and read hundreds of modules one by one takes half a second. What is
// made names this checkout, so it is made where it is used, and never published.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { rolldown } from "rolldown";
import { bundleFolder, compiledParts, isBundled, stampName } from "../bin/service-bundle.js";

/** Native code, and what only stores on S3 need. */
const external = /^@slatedb\/uniffi$|^@aws-sdk\//u;

/**
 * Modules keep their own place: by it they find files beside them, and packages that they alone depend on.
 * @type {import("rolldown").Plugin}
 */
const placed = {
  name: "placed",
  async resolveId(source, importer) {
    if (!external.test(source)) return null;
    const found = await this.resolve(source, importer, { skipSelf: true });
    return found === null ? null : { id: pathToFileURL(found.id).href, external: true };
  },
  async transform(code, id) {
    if (!code.includes("import.meta.")) return null;
    let text = code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(id).href));
    for (const [call, name = ""] of code.matchAll(/import\.meta\.resolve\("([^"]+)"\)/gu)) {
      const found = await this.resolve(name, id);
      if (found === null) throw new Error(`${id} names ${name}, which is not there`);
      text = text.replaceAll(call, JSON.stringify(pathToFileURL(found.id).href));
    }
    return text;
  },
};

/**
 * @param {string} root The workspace's root, with everything compiled.
 * @returns {Promise<boolean>} Whether one was made, as there was none of what was compiled last.
 */
export async function writeServiceBundle(root) {
  if (isBundled(root)) return false;
  const stamp = compiledParts(root);
  if (stamp === undefined) return false;
  const folder = bundleFolder(root);
  const made = `${folder}.${process.pid}`;
  mkdirSync(made);
  const bundle = await rolldown({
    input: ["main", "thread"].map((name) => join(root, `apps/extension/dist/${name}.js`)),
    platform: "node",
    plugins: [placed],
  });
  await bundle.write({ dir: made, entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" });
  await bundle.close();
  // For the compiler, which would check what it has compiled.
  for (const name of ["main", "thread"]) writeFileSync(join(made, `${name}.d.mts`), "export {};\n");
  writeFileSync(join(made, stampName), stamp);
  // Put in place as a whole: a service may be starting.
  rmSync(folder, { recursive: true, force: true });
  renameSync(made, folder);
  return true;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  await writeServiceBundle(resolve(dirname(fileURLToPath(import.meta.url)), "../../.."));
}
