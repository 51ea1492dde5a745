import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { compilerMessages, type ExampleScope, examplesOfMarkdown, writeExampleModule } from "./support/examples.js";

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
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it("are one for each, and compile as they stand", () => {
    expect(examples).toHaveLength(2);
    expect(compilerMessages(modulePath)).toEqual([]);
  });

  it("take about twenty lines for a first use", () => {
    expect(examples[0]?.code.trimEnd().split("\n").length).toBeLessThanOrEqual(20);
  });

  it.each(Object.keys(module.examples))("%s", async (name) => {
    expect.hasAssertions();
    await module.examples[name]?.({ check: (actual, expected) => expect(actual).toEqual(expected) });
  });
});
