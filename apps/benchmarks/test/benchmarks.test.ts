import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { stopServices } from "../../../packages/duckdb-ext/test/services.js";
import { areasOf } from "../src/areas/all.js";
import type { Figure } from "../src/figure.js";
import { quickSizes } from "../src/sizes.js";

// Shows that each benchmark runs and yields figures. What they are is nothing to assert: it depends on the machine.

const folder = mkdtempSync(join(tmpdir(), "moraine-bench-test-"));
process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
const loader = fileURLToPath(new URL("source-loader.mjs", import.meta.url));
const context = { sizes: quickSizes, quick: true, folder, nodeArguments: ["--expose-gc", "--import", loader] };

afterAll(async () => {
  await stopServices(folder);
  rmSync(folder, { recursive: true, force: true });
});

const mayBeMissing =
  /^(better-sqlite3 cannot be loaded: .|everything above is on the plain binding$|configuration: (the DuckDB extension is not built|DuckDB's extension \w+ \S+ is not there))/u;

/** A figure that could not be measured says why: peers, the extension and the comparison with the loops in use may be missing. */
function expectFigure({ name, value, unit, p99, note }: Figure): void {
  if (value === null) {
    expect(note).toMatch(mayBeMissing);
    return;
  }
  // A process that grows by little may have grown by nothing.
  if (unit === "MiB") expect(value, name).toBeGreaterThanOrEqual(0);
  else expect(value, name).toBeGreaterThan(0);
  expect(value, name).toBeLessThan(Number.POSITIVE_INFINITY);
  if (p99 !== undefined) expect(p99, name).toBeGreaterThanOrEqual(value);
}

describe.each(areasOf(context))("$name", ({ benchmarks, close }) => {
  afterAll(() => close?.());

  test.each(benchmarks)("$name", async ({ run }) => {
    const figures = await run();
    expect(figures.length).toBeGreaterThan(0);
    for (const figure of figures) expectFigure(figure);
  });
});

test("names are told apart", () => {
  const names = areasOf(context).flatMap((area) => area.benchmarks.map(({ name }) => `${area.name}/${name}`));
  expect(new Set(names).size).toBe(names.length);
});
