// A bundle of the service is taken for as long as it is what was compiled last, in this place.
import { cpSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bundleFolder, compiledParts, isBundled, stampName } from "../bin/service-bundle.js";

const packages = ["codec", "runtime", "store", "index-core", "scoped-reader", "catalog", "duckdb-ext"];
const parts = ["apps/extension", ...packages.map((name) => `packages/${name}`)];

/** A checkout in which everything was compiled and bundled. */
function checkout(): string {
  const root = mkdtempSync(join(tmpdir(), "moraine-bundle-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const part of parts) {
    mkdirSync(join(root, part, "dist"), { recursive: true });
    writeFileSync(join(root, part, "dist/.tsbuildinfo"), "");
  }
  mkdirSync(bundleFolder(root));
  writeFileSync(join(bundleFolder(root), stampName), compiledParts(root) ?? "");
  return root;
}

test("one of what was compiled last is taken", () => {
  expect(isBundled(checkout())).toBe(true);
});

test.each(parts)("it is not when %s was compiled again, or has gone", (part) => {
  const root = checkout();
  const build = join(root, part, "dist/.tsbuildinfo");
  utimesSync(build, 1, 1);
  expect(isBundled(root)).toBe(false);
  rmSync(build);
  expect(isBundled(root)).toBe(false);
});

test("one of another checkout is not, and neither is none", () => {
  const [root, other] = [checkout(), checkout()];
  cpSync(bundleFolder(other), bundleFolder(root), { recursive: true });
  expect(isBundled(root)).toBe(false);
  rmSync(bundleFolder(other), { recursive: true });
  expect(isBundled(other)).toBe(false);
});
