import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { ClosedError, ConfigurationError, InvalidArgumentError, UnsupportedError } from "@moraine/codec";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { DataStoreSet, resolveDataPath } from "../../src/data/data-store-set.js";
import { dropMemoryDataStore } from "../../src/data/memory-data-store.js";

describe("resolveDataPath", () => {
  test.each([
    ["", "main/", true, "main/"],
    ["main/", "orders/", true, "main/orders/"],
    ["main", "orders", true, "main/orders"],
    ["main/orders/", "s3://other/x.parquet", false, "s3://other/x.parquet"],
    ["main/orders/", "/abs/x.parquet", false, "/abs/x.parquet"],
    ["main/orders/", "file:///abs/x.parquet", false, "file:///abs/x.parquet"],
    ["s3://other/t", "x.parquet", true, "s3://other/t/x.parquet"],
    ["main/", "here/x.parquet", false, resolve("here/x.parquet")],
  ])("%j, %j, relative %j", (parent, path, isRelative, result) => {
    expect(resolveDataPath(parent, path, isRelative)).toBe(result);
  });
});

describe("DataStoreSet", () => {
  let folder: string;
  let set: DataStoreSet;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "moraine-set-"));
    set = new DataStoreSet(join(folder, "lake"));
  });

  afterEach(async () => {
    await set.close();
    await rm(folder, { recursive: true, force: true });
  });

  test("a relative path lies below the data path", async () => {
    const { store, path } = set.resolve("main/orders/x.parquet");
    expect(path).toBe("main/orders/x.parquet");
    expect(store.location).toBe(join(folder, "lake"));
    await store.put(path, new Uint8Array([1]));
    expect(await set.root.head("main/orders/x.parquet")).toEqual({ path, sizeBytes: 1 });
  });

  test("an absolute path lies where it says, in any spelling", async () => {
    await set.root.put("x", new Uint8Array([1, 2]));
    for (const spelling of [
      join(folder, "lake", "x"),
      `file://${folder}/lake/x`,
      `file:${folder}/lake/x`,
      `${folder}/lake/../lake/x`,
    ]) {
      const inside = set.resolve(spelling);
      expect(inside.path).toBe("x");
      expect(await inside.store.head(inside.path)).toEqual({ path: "x", sizeBytes: 2 });
    }
    const outside = set.resolve(join(folder, "elsewhere", "y"));
    expect(outside.store.location).toBe("/");
    await outside.store.put(outside.path, new Uint8Array([3]));
    expect(await outside.store.readRanges(outside.path, [{ offset: 0, length: 1 }])).toEqual([new Uint8Array([3])]);
    const neighbour = set.resolve(join(folder, "lake-2", "y"));
    expect(neighbour.store.location).toBe("/");
  });

  test("a URL of another kind leads to its own store", async () => {
    const name = randomUUID();
    const { store, path } = set.resolve(`memory://${name}/a/b`);
    await store.put(path, new Uint8Array(5));
    expect(await store.head("a/b")).toEqual({ path: "a/b", sizeBytes: 5 });
    const s3 = set.resolve("s3://bucket/a/b%20c.parquet");
    expect(s3.store.location).toBe("s3://bucket");
    expect(s3.path).toBe("a/b%20c.parquet");
  });

  test("without a data path only absolute paths lead anywhere", () => {
    const rootless = new DataStoreSet(undefined);
    expect(() => rootless.resolve("x")).toThrow(ConfigurationError);
    expect(() => rootless.root).toThrow(ConfigurationError);
    expect(rootless.resolve("/abs/x").path).toBe("abs/x");
  });

  test("refuses what leads nowhere", () => {
    for (const path of ["", "../x", "a//b", "/", "s3://bucket", 7 as unknown as string]) {
      expect(() => set.resolve(path)).toThrow(InvalidArgumentError);
    }
    expect(() => set.resolve("https://example.com/x")).toThrow(UnsupportedError);
    expect(() => new DataStoreSet("s3://")).toThrow(ConfigurationError);
  });

  test("stores beyond the bound are closed when idle and opened again when needed", async () => {
    const small = new DataStoreSet("memory://root", {}, 2);
    const names = Array.from({ length: 6 }, () => randomUUID());
    const resolved = names.map((name) => small.resolve(`memory://${name}/x`));
    for (const { store, path } of resolved) await store.put(path, new Uint8Array([1]));
    await small.root.delete("x");
    expect(small.openStores).toBe(3);
    await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const entry = resolved[index % 6];
        expect(await entry?.store.head(entry.path)).toEqual({ path: "x", sizeBytes: 1 });
      }),
    );
    await resolved[0]?.store.put("y", new Uint8Array());
    const listed: string[] = [];
    for await (const { path } of resolved[0]?.store.list("") ?? []) {
      listed.push(path);
      for (const { store } of resolved) await store.head("x");
    }
    expect(listed).toEqual(["x", "y"]);
    expect(small.openStores).toBe(3);
    for (const name of names) dropMemoryDataStore(name);
    await small.close();
  });

  test("a store that cannot be opened fails each call, and the set still closes", async () => {
    await set.root.put("file", new Uint8Array(1));
    const broken = new DataStoreSet(join(folder, "lake", "file"));
    await expect(broken.root.head("x")).rejects.toThrow(ConfigurationError);
    await expect(broken.root.list("").next()).rejects.toThrow(ConfigurationError);
    await broken.close();
  });

  test("closing refuses later calls of its stores", async () => {
    const { root } = set;
    await root.put("x", new Uint8Array(1));
    const listing = root.list("");
    await listing.next();
    await set.close();
    await set.close();
    await expect(root.head("x")).rejects.toThrow(ClosedError);
    await expect(listing.next()).rejects.toThrow(ClosedError);
    await expect(set.resolve("x").store.head("x")).rejects.toThrow(ClosedError);
  });
});
