import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const sources = fileURLToPath(new URL("../../src/", import.meta.url));

/** JavaScript of one TypeScript text, types dropped. */
export function javaScriptOf(text: string): string {
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
  return ts.transpileModule(text, { compilerOptions }).outputText;
}

/** A new folder with the package as JavaScript, for processes of their own. The caller removes it. */
export function compiledPackage(): string {
  const folder = mkdtempSync(join(tmpdir(), "moraine-codec-"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  for (const name of readdirSync(sources)) {
    if (!name.endsWith(".ts") || /\.(?:test|bench)\.ts$/.test(name)) continue;
    writeFileSync(join(folder, name.replace(/\.ts$/, ".js")), javaScriptOf(readFileSync(join(sources, name), "utf8")));
  }
  return folder;
}
