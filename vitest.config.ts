import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

// Tests run on sources, not on build output: a stale dist can never make a test pass.
const packages = readdirSync(source("packages"));

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
  },
});
