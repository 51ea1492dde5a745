import { existsSync, writeFileSync } from "node:fs";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.js";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "moraine-folder-"));
});
afterAll(async () => {
  await rm(root, { recursive: true });
});

describe("makeFolder", () => {
  it("makes what is missing and says what the topmost folder was", async () => {
    expect(await makeFolder(join(root, "a/b/c"))).toBe(join(root, "a"));
    expect((await stat(join(root, "a/b/c"))).isDirectory()).toBe(true);
    expect(await makeFolder(join(root, "a/b/d"))).toBe(join(root, "a/b/d"));
    expect(await makeFolder(join(root, "a/b"))).toBeUndefined();
  });

  it("makes one folder for many who ask at once", async () => {
    await Promise.all(Array.from({ length: 8 }, () => makeFolder(join(root, "x/y/z"))));
    expect(existsSync(join(root, "x/y/z"))).toBe(true);
  });

  it("refuses a file in the folder's place and above it", async () => {
    writeFileSync(join(root, "file"), "");
    await expect(makeFolder(join(root, "file"))).rejects.toMatchObject({ code: "EEXIST" });
    await expect(makeFolder(join(root, "file/below"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it("ends where a file system takes no folders", async () => {
    await expect(makeFolder("/proc/moraine/store")).rejects.toThrow(/ENOENT|EACCES|EPERM|EROFS/);
  });
});
