import { mkdir, mkdtemp, readdir, rename, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execFileSync } from "node:child_process";
import {
  ConfigurationError,
  InvalidArgumentError,
  NotFoundError,
  StoreError,
  StoreUnavailableError,
} from "@moraine/codec";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { LocalDataStore } from "../../src/data/local-data-store.js";
import { localFailure } from "../../src/data/local-errors.js";
import { type DataStoreOptions, openDataStore } from "../../src/data/open-data-store.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "moraine-local-"));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

async function openLocal(options: DataStoreOptions = {}): Promise<LocalDataStore> {
  const store = await openDataStore(join(folder, "lake"), options);
  if (!(store instanceof LocalDataStore)) throw new Error("not a local store");
  return store;
}

async function paths(store: LocalDataStore): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of store.list("")) found.push(path);
  return found;
}

const first = [{ offset: 0, length: 1 }];

test("opening creates nothing; a folder that is not there is empty", async () => {
  const store = await openLocal();
  expect(await paths(store)).toEqual([]);
  await store.delete("x");
  expect(await readdir(folder)).toEqual([]);
  await store.put("a/b/x", new Uint8Array(1));
  expect(await readdir(join(folder, "lake", "a", "b"))).toEqual(["x"]);
  await store.close();
});

test("a data path that is a file is refused", async () => {
  await writeFile(join(folder, "file"), "");
  await expect(openDataStore(join(folder, "file"))).rejects.toThrow(ConfigurationError);
  await expect(openDataStore(join(folder, "file", "below"))).rejects.toThrow(ConfigurationError);
});

test("a file of many ranges is opened once and stays open; the number of open files is bounded", async () => {
  const store = await openLocal({ openFiles: 3, gapBytes: 0 });
  for (let index = 0; index < 10; index++) await store.put(`x${index}`, new Uint8Array(100).fill(index));
  const ranges = Array.from({ length: 20 }, (_, index) => ({ offset: index * 5, length: 1 }));
  await store.readRanges("x0", ranges);
  await store.readRanges("x0", ranges);
  expect(store.openFiles).toBe(1);
  const reads = Array.from({ length: 100 }, (_, index) => store.readRanges(`x${index % 10}`, ranges));
  for (const [index, parts] of (await Promise.all(reads)).entries()) {
    expect(parts.every((part) => part[0] === index % 10)).toBe(true);
    expect(store.openFiles).toBeLessThanOrEqual(3);
  }
  await store.close();
  expect(store.openFiles).toBe(0);
});

test("a file that another process replaces, removes or shortens is seen at once", async () => {
  const store = await openLocal();
  const file = join(folder, "lake", "x");
  await store.put("x", new Uint8Array([1, 1]));
  await store.readRanges("x", first);
  await writeFile(`${file}.new`, new Uint8Array([2, 2]));
  await rename(`${file}.new`, file);
  expect(await store.readRanges("x", first)).toEqual([new Uint8Array([2])]);
  await truncate(file, 1);
  await expect(store.readRanges("x", [{ offset: 0, length: 2 }])).rejects.toThrow(StoreError);
  await rm(file);
  await expect(store.readRanges("x", first)).rejects.toThrow(NotFoundError);
  await store.close();
});

test("a length far beyond the file is refused before memory is taken for it", async () => {
  const store = await openLocal();
  await store.put("x", new Uint8Array(10));
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 20; round++) {
    await expect(store.readRanges("x", [{ offset: 0, length: 1_000_000_000 }])).rejects.toThrow(/ends after 10 bytes/u);
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(100_000_000);
  await store.close();
});

test("a failed put leaves nothing behind and the old object whole", async () => {
  const store = await openLocal();
  await store.put("folder/x", new Uint8Array([1]));
  await expect(store.put("folder", new Uint8Array([2]))).rejects.toThrow(StoreError);
  await expect(store.put("folder/x/y", new Uint8Array([2]))).rejects.toThrow(StoreError);
  await expect(store.put("n".repeat(300), new Uint8Array([2]))).rejects.toThrow(InvalidArgumentError);
  expect(await readdir(join(folder, "lake"), { recursive: true })).toEqual(["folder", "folder/x"]);
  expect(await store.readRanges("folder/x", first)).toEqual([new Uint8Array([1])]);
  await store.close();
});

test("puts of one path at the same time leave one of them, whole", async () => {
  const store = await openLocal();
  await Promise.all(
    Array.from({ length: 20 }, (_, index) => store.put("x", new Uint8Array(10_000 + index).fill(index))),
  );
  const { sizeBytes } = await store.head("x");
  const [bytes] = await store.readRanges("x", [{ offset: 0, length: sizeBytes }]);
  expect(bytes).toEqual(new Uint8Array(sizeBytes).fill(sizeBytes - 10_000));
  expect(await readdir(join(folder, "lake"))).toEqual(["x"]);
  await store.close();
});

test("a listing shows regular files and links to them, and nothing unfinished", async () => {
  const store = await openLocal();
  await store.put("a/x", new Uint8Array(1));
  await store.put(".hidden", new Uint8Array(2));
  const lake = join(folder, "lake");
  await writeFile(join(lake, "a", ".moraine-put-0000"), "half");
  await mkdir(join(lake, "empty"));
  await symlink(join(lake, "a"), join(lake, "to-folder"));
  await symlink(join(lake, "a", "x"), join(lake, "to-file"));
  await symlink(join(lake, "nowhere"), join(lake, "to-nothing"));
  await symlink(lake, join(lake, "a", "loop"));
  execFileSync("mkfifo", [join(lake, "pipe")]);
  expect(await paths(store)).toEqual([".hidden", "a/x", "to-file"]);
  await store.close();
});

test("what is no regular file is not found, and a pipe does not block", async () => {
  const store = await openLocal();
  await store.put("a/x", new Uint8Array(1));
  execFileSync("mkfifo", [join(folder, "lake", "pipe")]);
  for (const path of ["a", "pipe", "a/x/y"]) {
    await expect(store.head(path)).rejects.toThrow(NotFoundError);
    await expect(store.readRanges(path, first)).rejects.toThrow(NotFoundError);
  }
  await store.close();
});

describe("localFailure", () => {
  const action = { verb: "write", path: "a/x.parquet", location: "file:///lake" } as const;
  test.each([
    ["ENOSPC", StoreError, /no space/u],
    ["EDQUOT", StoreError, /no space/u],
    ["EMFILE", StoreError, /open files/u],
    ["EROFS", StoreError, /read-only/u],
    ["EACCES", StoreUnavailableError, /EACCES/u],
    ["ENOENT", NotFoundError, /a\/x\.parquet/u],
    ["ENAMETOOLONG", InvalidArgumentError, /too long/u],
    ["ENOTDIR", StoreError, /where a folder is needed/u],
    ["EIO", StoreError, /EIO/u],
  ])("%s", (code, kind, text) => {
    const cause = Object.assign(new Error("from the system"), { code });
    const failure = localFailure(cause, action);
    expect(failure).toBeInstanceOf(kind);
    expect(failure.message).toMatch(text);
    expect(failure.message).toContain("a/x.parquet");
    expect(failure.remedy).not.toBe("");
    expect(failure.cause).toBe(cause);
  });

  test("anything else is still a store error", () => {
    expect(localFailure("text", action)).toBeInstanceOf(StoreError);
  });
});

test("options of the wrong kind are refused by name", async () => {
  for (const options of [
    { requestTimeoutMs: 0 },
    { requestTimeoutMs: 2 ** 31 },
    { requestsInFlight: 0 },
    { requestAttempts: 1.5 },
    { gapBytes: -1 },
    { readBytes: 0 },
    { openFiles: Number.NaN },
  ]) {
    const failure = openDataStore(folder, options);
    await expect(failure).rejects.toThrow(InvalidArgumentError);
    await expect(failure).rejects.toThrow(`options.${Object.keys(options)[0]}`);
  }
});
