import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkPlatforms } from "./check-platforms.mjs";
import { addonProblems, oldestGlibc, platformManifestProblems } from "./lib/platforms.mjs";
import { temporaryWorkspace } from "./lib/temporary-workspace.js";
import { listPackages, workspaceRoot } from "./lib/workspace.mjs";

const machines = { x64: 62, arm64: 183 };

/** The beginning of an ELF file, and the strings that a binary holds. */
function elf(machine: number, ...strings: string[]): Buffer {
  const header = Buffer.alloc(64);
  header.writeUInt32BE(0x7f454c46, 0);
  header.writeUInt8(2, 4);
  header.writeUInt8(1, 5);
  header.writeUInt16LE(3, 16);
  header.writeUInt16LE(machine, 18);
  return Buffer.concat([header, Buffer.from(`\0${strings.join("\0")}\0`)]);
}

const entry = "napi_register_module_v1";
const good = ["libc.so.6", entry, "GLIBC_2.2.5", `GLIBC_${oldestGlibc}`, "GLIBC_2.3"];

describe("an addon", () => {
  test("that may be shipped", () => {
    expect(addonProblems(elf(machines.x64, ...good), "x64")).toEqual([]);
    expect(addonProblems(elf(machines.arm64, ...good), "arm64")).toEqual([]);
  });

  test.each([
    ["another file", Buffer.from("#!/bin/sh"), /not a 64-bit ELF file/],
    ["another processor", elf(machines.arm64, ...good), /another processor/],
    ["no entry point", elf(machines.x64, "GLIBC_2.2.5"), /not a Node-API addon/],
    ["a newer system", elf(machines.x64, ...good, "GLIBC_2.34"), /needs glibc 2\.34/],
    ["a C++ runtime from outside", elf(machines.x64, ...good, "libstdc++.so.6"), /needs libstdc\+\+/],
    ["sanitizers", elf(machines.x64, ...good, "libasan.so.8"), /AddressSanitizer/],
  ])("%s", (_what, bytes, problem) => {
    const problems = addonProblems(bytes, "x64");
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });
});

test("the manifests of this workspace are right, and a wrong one is found", () => {
  const manifests = listPackages(workspaceRoot)
    .filter(({ folder }) => folder.includes("/platforms/"))
    .map(({ manifest }) => manifest);
  expect(manifests.map(({ name }) => name)).toEqual(["@moraine/store-linux-arm64-gnu", "@moraine/store-linux-x64-gnu"]);
  expect(manifests.flatMap((manifest) => platformManifestProblems(manifest))).toEqual([]);
  expect(manifests.flatMap((manifest) => platformManifestProblems({ ...manifest, cpu: ["ia32"] }))).toHaveLength(2);
  expect(platformManifestProblems({ name: "@moraine/store-linux-x64-gnu" })).toHaveLength(5);
});

test("a package without its addon cannot be published, nor one whose addon does not load", async () => {
  const files = Object.fromEntries(
    listPackages(workspaceRoot)
      .filter(({ folder }) => folder.includes("/platforms/"))
      .map(({ folder, manifest }) => [join(folder, "package.json"), manifest]),
  );
  const root = temporaryWorkspace(files);
  const lacking = (platform: string): string => `${platform}: no moraine-store.node: the release workflow builds it`;
  expect(await checkPlatforms(root, [])).toEqual([lacking("linux-arm64-gnu"), lacking("linux-x64-gnu")]);
  expect(await checkPlatforms(root, ["linux-x64-gnu", "plan9"])).toEqual([
    "plan9: no such platform package",
    lacking("linux-x64-gnu"),
  ]);
});
