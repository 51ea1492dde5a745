import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const packagesFolder = fileURLToPath(new URL("../../", import.meta.url));
const appFolder = fileURLToPath(new URL("../../../apps/moraine", import.meta.url));

/** The folder of a package; `moraine` is the app. */
function folderOf(name: string): string {
  return name === "moraine" ? appFolder : join(packagesFolder, name);
}

export interface CompiledSources {
  /** The JavaScript made of a source file, given as `package/path/of/file.ts`. */
  path(source: string): string;
  remove(): void;
}

/**
 * Turns the sources of packages into JavaScript that a plain `node` can run, for tests that need another process. Like all
 * tests these run on the sources: the output lies in a folder of this test's own and is thrown away.
 */
export function compileSources(packages: readonly string[], extraFiles: readonly string[]): CompiledSources {
  const run = `.cache/sources-${process.pid}`;
  // Inside each package, so that its dependencies are found from there.
  const outputOf = (source: string): string => {
    const [name = "", ...path] = source.split("/");
    return join(folderOf(name), run, ...path).replace(/\.ts$/u, ".js");
  };
  const sources = [...packages.flatMap(sourcesOf), ...extraFiles];
  for (const source of sources) {
    const output = outputOf(source);
    const entries = new Map(
      packages.map((name) => [name === "moraine" ? name : `@moraine/${name}`, outputOf(`${name}/src/index.ts`)]),
    );
    const { outputText } = ts.transpileModule(readFileSync(sourcePath(source), "utf8"), {
      compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
    });
    const code = outputText.replaceAll(
      /(from |import\()"(@moraine\/[a-z-]+|moraine)"/gu,
      (whole, lead: string, name: string) => {
        const entry = entries.get(name);
        return entry === undefined ? whole : `${lead}"${relativeImport(output, entry)}"`;
      },
    );
    mkdirSync(dirname(output), { recursive: true });
    writeFileSync(output, code);
  }
  return {
    path: outputOf,
    remove() {
      const folders = new Set(sources.map((source) => source.split("/")[0] ?? ""));
      for (const folder of folders) rmSync(join(folderOf(folder), run), { recursive: true, force: true });
    },
  };
}

function sourcePath(source: string): string {
  const [name = "", ...path] = source.split("/");
  return join(folderOf(name), ...path);
}

function sourcesOf(name: string): string[] {
  const folder = join(folderOf(name), "src");
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !/\.(?:test|bench|d)\.ts$/u.test(path))
    .map((path) => `${name}/src/${path}`);
}

function relativeImport(from: string, to: string): string {
  const path = relative(dirname(from), to);
  return path.startsWith(".") ? path : `./${path}`;
}
