import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test, vi } from "vitest";
import { findAddon } from "./find-addon.js";
import { platformOf } from "./platform.js";

const folder = mkdtempSync(join(tmpdir(), "moraine-platform-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A file that begins as a program does, with this loader as the second entry of its program header. */
function programWith(loader: string): string {
  const entryBytes = 56;
  const header = Buffer.alloc(64);
  header.write("\x7fELF", "latin1");
  header.writeBigUInt64LE(64n, 32);
  header.writeUInt16LE(entryBytes, 54);
  header.writeUInt16LE(2, 56);
  const entries = Buffer.alloc(2 * entryBytes);
  entries.writeUInt32LE(6, 0);
  entries.writeUInt32LE(3, entryBytes);
  entries.writeBigUInt64LE(BigInt(64 + entries.length), entryBytes + 8);
  entries.writeBigUInt64LE(BigInt(loader.length + 1), entryBytes + 32);
  const path = join(folder, `program-${loader.replaceAll("/", "-")}`);
  writeFileSync(path, Buffer.concat([header, entries, Buffer.from(`${loader}\0behind`)]));
  return path;
}

function writeText(text: string): string {
  const path = join(folder, "text");
  writeFileSync(path, text);
  return path;
}

describe("platformOf", () => {
  test.each([
    ["/lib64/ld-linux-x86-64.so.2", { name: "linux-x64-gnu" }],
    ["/nix/store/ld-musl-and-glibc/lib/ld-linux-x86-64.so.2", { name: "linux-x64-gnu" }],
    ["/lib/ld-musl-x86_64.so.1", { name: undefined, without: "linux x64 with musl" }],
  ])("a program that names the loader %s", (loader, expected) => {
    expect(platformOf({ platform: "linux", arch: "x64", execPath: programWith(loader) })).toEqual(expected);
  });

  test("a program that cannot be read, is too short or is none is tried with glibc", () => {
    for (const execPath of [join(folder, "nowhere"), writeText("#!"), writeText("no program".repeat(100))]) {
      expect(platformOf({ platform: "linux", arch: "arm64", execPath })).toEqual({ name: "linux-arm64-gnu" });
    }
  });

  test("other systems and processors", () => {
    const execPath = programWith("/lib/ld-musl-x86_64.so.1");
    expect(platformOf({ platform: "darwin", arch: "arm64", execPath })).toEqual({ name: "darwin-arm64" });
    expect(platformOf({ platform: "linux", arch: "ia32", execPath })).toEqual({
      name: undefined,
      without: "linux ia32",
    });
    expect(platformOf({ platform: "win32", arch: "x64", execPath })).toEqual({ name: undefined, without: "win32 x64" });
  });

  test("this process: what Node's report says of its C library", () => {
    const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
    expect(platformOf(process).name?.endsWith("-gnu") ?? false).toBe(header?.glibcVersionRuntime !== undefined);
  });
});

test("looking for the addon makes no report, which would look up the host of every open connection", () => {
  const getReport = vi.spyOn(process.report, "getReport");
  try {
    findAddon(undefined);
    expect(getReport).not.toHaveBeenCalled();
  } finally {
    getReport.mockRestore();
  }
});
