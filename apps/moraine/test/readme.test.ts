import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { exitCodeHelp, exitCodes } from "../src/cli/exit-codes.js";
import { compilerMessages, type ExampleScope, examplesOfMarkdown, writeExampleModule } from "./support/examples.js";
import { extensionAvailable, stopServices } from "./support/services.js";

const modulePath = fileURLToPath(new URL("../.cache/readme-examples.ts", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "moraine-readme-"));
process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
const files = { "README.md": "../../../README.md", "apps/moraine/README.md": "../README.md" };
const examples = Object.entries(files).flatMap(([name, path]) =>
  examplesOfMarkdown(readFileSync(new URL(path, import.meta.url), "utf8"), name),
);
const scopeType = "interface Scope { readonly check: (actual: unknown, expected: unknown) => void }";

writeExampleModule(modulePath, "", examples, scopeType, "", (at) => ({
  '"lake/': `"${folder}/${at}/`,
}));

describe("examples of the README files", async () => {
  const module = (await import(modulePath)) as { examples: Record<string, (scope: ExampleScope) => Promise<void>> };
  afterAll(async () => {
    await stopServices(folder);
    rmSync(folder, { recursive: true, force: true });
  });

  it("compile as they stand", () => {
    expect(examples).toHaveLength(6);
    expect(compilerMessages(modulePath)).toEqual([]);
  });

  it("take less than 25 lines for a first use", () => {
    expect(examples[0]?.code.trimEnd().split("\n").length).toBeLessThan(25);
  });

  const inSql = examples.flatMap(({ name, code }, at) => (code.includes("openDuckDB") ? [`${at + 1} ${name}`] : []));

  it.for(Object.keys(module.examples))("%s", async (name, { skip }) => {
    skip(inSql.includes(name) && !extensionAvailable, "needs the DuckDB extension");
    const scope: ExampleScope = { check: (actual, expected) => expect(actual).toEqual(expected) };
    expect.hasAssertions();
    await module.examples[name]?.(scope);
    // Whoever tries an example tries it twice.
    await module.examples[name]?.(scope);
  });
});

describe("the table of exit statuses", () => {
  const statuses = (text: string, row: RegExp): string[][] => [...text.matchAll(row)].map((match) => match.slice(1));

  it("of the README says what the help says, of every status", () => {
    const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
    const ofReadme = statuses(readme, /^\| (\d+) +\| (.+?) +\|$/gmu);
    const ofHelp = statuses(exitCodeHelp, /^ +(\d+) {2}(.+)$/gmu);
    expect(ofReadme).toEqual(ofHelp);
    expect(ofReadme.map(([code]) => Number(code))).toEqual(Object.values(exitCodes));
  });
});
