import { mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FileHandleCache, type OpenFile } from "./file-handle-cache.js";

let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "moraine-handles-"));
  await Promise.all(Array.from({ length: 20 }, (_, index) => writeFile(file(index), String(index))));
});

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
});

function file(index: number): string {
  return join(folder, String(index));
}

function theFile(opened: OpenFile): Promise<OpenFile> {
  return Promise.resolve(opened);
}

async function contents({ handle }: OpenFile): Promise<string> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(10), 0, 10, 0);
  return buffer.toString("utf8", 0, bytesRead);
}

test("a file is opened once for many uses", async () => {
  const cache = new FileHandleCache(4);
  const opened = await Promise.all(Array.from({ length: 10 }, () => cache.use(file(1), theFile)));
  opened.push(await cache.use(file(1), theFile));
  expect(new Set(opened).size).toBe(1);
  expect(cache.openFiles).toBe(1);
  await cache.close();
  expect(cache.openFiles).toBe(0);
});

test("never holds more than its capacity open, and closes the least recently used", async () => {
  const cache = new FileHandleCache(3);
  let most = 0;
  const uses = Array.from({ length: 200 }, (_, index) =>
    cache.use(file((index * 7) % 20), async (opened) => {
      most = Math.max(most, cache.openFiles);
      return await contents(opened);
    }),
  );
  expect(await Promise.all(uses)).toEqual(uses.map((_, index) => String((index * 7) % 20)));
  expect(most).toBe(3);
  const first = await cache.use(file(1), theFile);
  for (const index of [2, 3]) await cache.use(file(index), contents);
  expect(await cache.use(file(1), theFile)).toBe(first);
  await cache.use(file(4), contents);
  expect(await cache.use(file(1), theFile)).toBe(first);
  await cache.close();
  expect(cache.openFiles).toBe(0);
});

test("a failure to open takes no place and is not remembered", async () => {
  const cache = new FileHandleCache(1);
  const path = join(folder, "later");
  for (let round = 0; round < 3; round++) {
    await expect(cache.use(path, contents)).rejects.toMatchObject({ code: "ENOENT" });
  }
  expect(cache.openFiles).toBe(0);
  await writeFile(path, "now");
  expect(await cache.use(path, contents)).toBe("now");
  await cache.close();
});

test("a failed use gives the file back", async () => {
  const cache = new FileHandleCache(1);
  await expect(cache.use(file(1), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await cache.use(file(2), contents)).toBe("2");
  await cache.close();
});

test("a forgotten file serves its uses to their end, and new ones open the new file", async () => {
  const cache = new FileHandleCache(2);
  const path = join(folder, "replaced");
  await writeFile(path, "old");
  let goOn = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const before = cache.use(path, async (opened) => {
    await held;
    return await contents(opened);
  });
  await cache.use(path, contents);
  await writeFile(`${path}.new`, "new");
  await rename(`${path}.new`, path);
  await cache.forget(path);
  expect(await cache.use(path, contents)).toBe("new");
  expect(cache.openFiles).toBe(2);
  goOn();
  expect(await before).toBe("old");
  expect(cache.openFiles).toBe(1);
  await cache.close();
  expect(cache.openFiles).toBe(0);
});
