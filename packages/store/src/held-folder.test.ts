import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { type FolderDescriptors, nodeFolders } from "./folder-descriptors.js";
import { HeldFolder } from "./held-folder.js";
import { limits } from "./limits.js";

let parent: string;
let folder: string;

beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), "moraine-held-"));
  folder = join(parent, "store");
  for (const name of ["wal", "manifest"]) mkdirSync(join(folder, name), { recursive: true });
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(parent, { recursive: true, force: true });
});

/** Descriptors that are open. */
const open = new Set<number>();
const watched: FolderDescriptors = {
  outliveThreads: true,
  open: (path) => {
    const descriptor = nodeFolders.open(path);
    open.add(descriptor);
    return descriptor;
  },
  close: (descriptor) => {
    open.delete(descriptor);
    nodeFolders.close(descriptor);
  },
};

const hold = (folders = watched): HeldFolder => HeldFolder.hold(folder, ["wal", "manifest"], folders);
const isLinux = process.platform === "linux";

describe("a look at a folder that is held", () => {
  test("finds it as long as it is there, whatever is written into it", async () => {
    const held = hold();
    writeFileSync(join(folder, "wal", "1"), "");
    mkdirSync(join(folder, "compacted"));
    expect([held.look(), held.glance(), await held.lookAside(), held.isDeleted]).toEqual([
      undefined,
      undefined,
      undefined,
      false,
    ]);
    renameSync(folder, `${folder}-away`);
    renameSync(`${folder}-away`, folder);
    expect([held.look(), await held.lookAside(), held.isDeleted]).toEqual([undefined, undefined, false]);
    held.release();
  });

  test.each([
    ["moved", () => renameSync(folder, `${folder}-away`), "was moved or deleted", false],
    ["moved by a folder above", () => renameSync(parent, `${parent}-away`), "was moved or deleted", false],
    ["deleted", () => rmSync(folder, { recursive: true }), "was moved or deleted", true],
    [
      "deleted, and made anew",
      () => {
        rmSync(folder, { recursive: true });
        for (const name of ["wal", "manifest"]) mkdirSync(join(folder, name), { recursive: true });
      },
      "was emptied or replaced",
      true,
    ],
    [
      "replaced by a copy",
      () => {
        renameSync(folder, `${folder}-away`);
        cpSync(`${folder}-away`, folder, { recursive: true });
      },
      "was emptied or replaced",
      false,
    ],
    ["without its manifests", () => rmSync(join(folder, "manifest"), { recursive: true }), "was emptied or", false],
    [
      "with a file in its place",
      () => {
        renameSync(folder, `${folder}-away`);
        writeFileSync(folder, "");
      },
      "was emptied or replaced",
      false,
    ],
  ])("%s: says so, and whether it was deleted", async (_, lose, what, isDeleted) => {
    const held = hold();
    lose();
    const gone = { code: "store_gone", message: `store gone: the folder ${folder} of a store that is open ${what}` };
    if (!what.endsWith("emptied or")) expect(held.glance()).toMatchObject(held.look() ?? {});
    for (const found of [held.look(), await held.lookAside()]) {
      expect(found).toMatchObject({ code: gone.code, message: expect.stringContaining(gone.message) as string });
    }
    if (isLinux) expect(held.isDeleted).toBe(isDeleted);
    held.release();
    if (existsSync(`${parent}-away`)) renameSync(`${parent}-away`, parent);
  });
});

describe("what is written through a folder that is held", () => {
  test("lands in it wherever it is, where the system can do that, and nowhere once it has been deleted", () => {
    const held = hold();
    renameSync(folder, `${folder}-away`);
    mkdirSync(join(folder, "wal"), { recursive: true });
    writeFileSync(join(held.root, "wal", "1"), "");
    const found = [existsSync(join(`${folder}-away`, "wal", "1")), existsSync(join(folder, "wal", "1"))];
    expect(found).toEqual([isLinux, !isLinux]);
    for (const each of [`${folder}-away`, folder]) rmSync(each, { recursive: true });
    expect(() => writeFileSync(join(held.root, "2"), "")).toThrow("ENOENT");
    held.release();
  });

  test("is not for a thread whose end closes its folders: the path counts there", () => {
    const held = hold({ ...watched, outliveThreads: false });
    expect(held.root).toBe(folder);
    const before = open.size;
    held.release();
    expect(open.size).toBe(before - 3);
  });
});

describe("a folder that is let go", () => {
  test("stays open until each engine has ended, and a while longer", () => {
    vi.useFakeTimers();
    open.clear();
    const held = hold();
    const ends = [held.use(), held.use()];
    held.release();
    vi.advanceTimersByTime(10 * limits.folderLingerMs);
    ends[0]?.();
    ends[0]?.();
    vi.advanceTimersByTime(10 * limits.folderLingerMs);
    expect(open.size).toBe(3);
    ends[1]?.();
    if (isLinux) expect(open.size).toBe(3);
    vi.advanceTimersByTime(limits.folderLingerMs);
    expect(open.size).toBe(0);
    held.release();
  });

  test("that could not be held is let go at once", () => {
    open.clear();
    expect(() => HeldFolder.hold(folder, ["wal", "absent"], watched)).toThrow("ENOENT");
    expect(open.size).toBe(0);
  });
});
