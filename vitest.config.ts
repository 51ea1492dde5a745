import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// Tests run on sources, not on build output: a stale dist can never make a test pass.
const packages = readdirSync(source("packages"));

/** Places of the tests that take longest, half a minute and more. */
const long = [
  "apps/extension/test/differential/",
  "packages/catalog/src/testing/differential",
  "apps/benchmarks/test/",
  "apps/extension/test/stopped-service",
  "apps/extension/test/service",
  "apps/moraine/test/cli",
  "packages/catalog/test/faults/",
  "packages/store/test/ordered/broken-folder",
];

/** Begins with the files that take longest: where one of them came last, one worker would be idle meanwhile. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = long.findIndex((place) => moduleId.includes(`/${place}`));
      return at < 0 ? long.length : at;
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  resolve: {
    alias: [
      ...packages.map((name) => ({ find: `@moraine/${name}`, replacement: source(`packages/${name}/src/index.ts`) })),
      { find: "@moraine/extension", replacement: source("apps/extension/src/index.ts") },
      { find: /^moraine$/, replacement: source("apps/moraine/src/index.ts") },
    ],
  },
  test: {
    include: [
      "packages/*/src/**/*.test.ts",
      "packages/*/test/**/*.test.ts",
      "apps/*/src/**/*.test.ts",
      "apps/*/test/**/*.test.ts",
      "tools/**/*.test.ts",
    ],
    testTimeout: 60_000,
    hookTimeout: 60_000,
    // A process of its own for each file: the native library keeps state per process, and stores in memory go by name.
    pool: "forks",
    isolate: true,
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
  },
});
