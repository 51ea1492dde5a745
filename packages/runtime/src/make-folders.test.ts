import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { makeFolders } from "./make-folders.js";

const root = mkdtempSync(join(tmpdir(), "moraine-folders-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe("makeFolders", () => {
  it("makes what is missing, with the mode given, and nothing twice", () => {
    makeFolders(join(root, "a/b"), 0o700);
    makeFolders(join(root, "a/b"), 0o755);
    for (const path of ["a", "a/b"]) expect(statSync(join(root, path)).mode & 0o777).toBe(0o700);
  });

  it("fails below a file, and where no folder can be made", () => {
    writeFileSync(join(root, "file"), "");
    expect(() => makeFolders(join(root, "file/below"))).toThrow(/ENOTDIR/u);
    expect(() => makeFolders("/dev/null/below/it")).toThrow(/ENOTDIR/u);
    expect(() => makeFolders("/proc/moraine/below")).toThrow(/ENOENT|EACCES|EPERM|EROFS|ENOTSUP/u);
  });
});
