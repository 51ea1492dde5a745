// Lets a plain `node` run the sources: `node --import <this file> src/main.ts`. Like all tests those of the benchmarks run
// on the sources, also in the processes that they start. What is made of a source is kept by the hash of its text, for the
// next process and the next run.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

const root = new URL("../../../", import.meta.url);
const cache = fileURLToPath(new URL(".cache/benchmark-sources", root));

/**
 * Entry points of the workspace by package name.
 * @returns {Map<string, string>}
 */
function entryPoints() {
  const packages = readdirSync(new URL("packages/", root));
  return new Map([
    ["moraine", new URL("apps/moraine/src/index.ts", root).href],
    ...packages.map((name) => {
      return /** @type {const} */ ([`@moraine/${name}`, new URL(`packages/${name}/src/index.ts`, root).href]);
    }),
  ]);
}

/** @type {Map<string, string> | undefined} */
let entries;

/** @type {import("node:module").ResolveHook} */
export async function resolve(specifier, context, nextResolve) {
  entries ??= entryPoints();
  const entry = entries.get(specifier);
  if (entry !== undefined) return { url: entry, shortCircuit: true };
  if (specifier.startsWith(".") && context.parentURL?.endsWith(".ts") === true) {
    return { url: new URL(specifier.replace(/\.js$/u, ".ts"), context.parentURL).href, shortCircuit: true };
  }
  return await nextResolve(specifier, context);
}

/** @type {import("node:module").LoadHook} */
export async function load(url, context, nextLoad) {
  if (!url.endsWith(".ts")) return await nextLoad(url, context);
  return { format: "module", source: await compiled(readFileSync(fileURLToPath(url), "utf8")), shortCircuit: true };
}

/**
 * @param {string} source
 * @returns {Promise<string>}
 */
async function compiled(source) {
  const path = join(cache, `${createHash("sha256").update(source).digest("hex")}.js`);
  if (existsSync(path)) return readFileSync(path, "utf8");
  const { default: ts } = await import("typescript");
  const { outputText } = ts.transpileModule(source, {
    compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
  });
  mkdirSync(cache, { recursive: true });
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, outputText);
  renameSync(unfinished, path);
  return outputText;
}

if (isMainThread) register(import.meta.url);
