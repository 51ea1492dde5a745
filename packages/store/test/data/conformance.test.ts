import { randomBytes } from "node:crypto";
import { ClosedError, InvalidArgumentError, NotFoundError, StoreError } from "@moraine/codec";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DataStore } from "../../src/interface.js";
import { comparePaths } from "../../src/data/path.js";
import { type StartedBackend, allBackends } from "./backends.js";
import { sameBytes } from "./same-bytes.js";

for (const { name, available, start } of allBackends("data store conformance over S3")) {
  describe.skipIf(!available)(`data store: ${name}`, () => {
    let backend: StartedBackend;
    let store: DataStore;

    beforeAll(async () => {
      backend = await start();
      store = await backend.open();
    });

    afterAll(async () => {
      await store.close();
      await backend.stop();
    });

    const listed = async (prefix: string): Promise<string[]> => {
      const paths: string[] = [];
      for await (const { path } of store.list(prefix)) paths.push(path);
      return paths;
    };

    test("what is put is read back, whole and in ranges, in the order asked for", async () => {
      const bytes = randomBytes(100_000);
      await store.put("read/a.parquet", bytes);
      expect(await store.head("read/a.parquet")).toEqual({ path: "read/a.parquet", sizeBytes: 100_000 });
      const ranges = [
        { offset: 99_992, length: 8 },
        { offset: 0, length: 4 },
        { offset: 50_000, length: 0 },
        { offset: 0, length: 100_000 },
        { offset: 3, length: 2 },
        { offset: 3, length: 2 },
        { offset: 200_000, length: 0 },
      ];
      const parts = await store.readRanges("read/a.parquet", ranges);
      const expected = ranges.map(({ offset, length }) => bytes.subarray(offset, offset + length));
      expect(sameBytes(parts, expected)).toBe(true);
    });

    test("results share no memory and keep no larger read alive", async () => {
      await store.put("read/shared", new Uint8Array(1000).fill(7));
      const [first, second] = await store.readRanges("read/shared", [
        { offset: 0, length: 10 },
        { offset: 5, length: 10 },
      ]);
      first?.fill(0);
      expect(second).toEqual(new Uint8Array(10).fill(7));
      expect(first?.constructor).toBe(Uint8Array);
      expect(first?.buffer.byteLength).toBe(10);
    });

    test("ranges without bytes ask for nothing, not even whether the object exists", async () => {
      expect(await store.readRanges("read/none", [])).toEqual([]);
      expect(await store.readRanges("read/none", [{ offset: 5, length: 0 }])).toEqual([new Uint8Array()]);
    });

    test("a put replaces the object; readers see the new one", async () => {
      await store.put("put/x", new Uint8Array([1, 2, 3]));
      await store.readRanges("put/x", [{ offset: 0, length: 3 }]);
      await store.put("put/x", new Uint8Array([4, 5]));
      expect(await store.head("put/x")).toEqual({ path: "put/x", sizeBytes: 2 });
      expect(await store.readRanges("put/x", [{ offset: 0, length: 2 }])).toEqual([new Uint8Array([4, 5])]);
    });

    test("an object may be empty", async () => {
      await store.put("put/empty", new Uint8Array());
      expect(await store.head("put/empty")).toEqual({ path: "put/empty", sizeBytes: 0 });
      expect(await store.readRanges("put/empty", [{ offset: 0, length: 0 }])).toEqual([new Uint8Array()]);
    });

    test("what was put does not follow the caller's buffer", async () => {
      const bytes = new Uint8Array([1, 2, 3]);
      await store.put("put/own", bytes);
      bytes.fill(9);
      expect(await store.readRanges("put/own", [{ offset: 0, length: 3 }])).toEqual([new Uint8Array([1, 2, 3])]);
    });

    test("another handle sees the same objects", async () => {
      const other = await backend.open();
      await store.put("other/x", new Uint8Array([1]));
      await store.readRanges("other/x", [{ offset: 0, length: 1 }]);
      await other.put("other/x", new Uint8Array([2, 3]));
      expect(await store.readRanges("other/x", [{ offset: 0, length: 2 }])).toEqual([new Uint8Array([2, 3])]);
      await other.delete("other/x");
      await expect(store.readRanges("other/x", [{ offset: 0, length: 1 }])).rejects.toThrow(NotFoundError);
      await other.close();
    });

    test("an absent object is not found, by every way to read it", async () => {
      for (const path of ["absent", "absent/deeper/x.parquet", "read"]) {
        await expect(store.head(path)).rejects.toThrow(NotFoundError);
        await expect(store.readRanges(path, [{ offset: 0, length: 1 }])).rejects.toThrow(NotFoundError);
      }
      const failure = await store.head("absent/deeper/x.parquet").catch((error: unknown) => error);
      expect(failure).toMatchObject({ code: "not_found", retryable: false });
      expect(String(failure)).toContain('"absent/deeper/x.parquet"');
    });

    test("a range beyond the end is refused, never shortened", async () => {
      await store.put("short", new Uint8Array(10));
      for (const range of [
        { offset: 0, length: 11 },
        { offset: 9, length: 2 },
        { offset: 10, length: 1 },
        { offset: 1_000_000, length: 1 },
      ]) {
        const read = store.readRanges("short", [{ offset: 0, length: 1 }, range]);
        await expect(read).rejects.toThrow(StoreError);
        await expect(read).rejects.toThrow(/"short"/u);
      }
    });

    test("delete removes; deleting what is absent succeeds", async () => {
      await store.put("delete/x", new Uint8Array(1));
      await store.delete("delete/x");
      await expect(store.head("delete/x")).rejects.toThrow(NotFoundError);
      await store.delete("delete/x");
      await store.delete("delete/never/was");
      await store.delete("delete");
    });

    test("names with spaces, percent signs, plus signs, markup and any script", async () => {
      const names = [
        "a b",
        "a+b",
        "a%20b",
        "100%",
        "é",
        "日本",
        "🦀",
        "x=1&y=2",
        "<&>'\"",
        "a#b?c",
        "dot.",
        "..a",
        "~",
      ];
      const paths = names.map((part) => `names/day=${part}/f ${part}.parquet`);
      for (const path of paths) await store.put(path, Buffer.from(path));
      for (const path of paths) {
        const length = Buffer.byteLength(path);
        const [bytes] = await store.readRanges(path, [{ offset: 0, length }]);
        expect(Buffer.from(bytes ?? []).toString()).toBe(path);
      }
      const found = await listed("names/");
      expect(found).toEqual([...found].sort(comparePaths));
      expect(new Set(found)).toEqual(new Set(paths));
    });

    test("list gives the paths that start with a prefix, in order, with sizes", async () => {
      const paths = ["l/a", "l/a-1/x", "l/a.b", "l/a/1", "l/a/2/3", "l/ab", "l/b/x", "lx"].filter(
        (path) => path !== "l/a",
      );
      for (const [index, path] of paths.entries()) await store.put(path, new Uint8Array(index));
      expect(await listed("l/")).toEqual(["l/a-1/x", "l/a.b", "l/a/1", "l/a/2/3", "l/ab", "l/b/x"]);
      expect(await listed("l")).toEqual([...(await listed("l/")), "lx"]);
      expect(await listed("l/a")).toEqual(["l/a-1/x", "l/a.b", "l/a/1", "l/a/2/3", "l/ab"]);
      expect(await listed("l/a/")).toEqual(["l/a/1", "l/a/2/3"]);
      expect(await listed("l/a/1")).toEqual(["l/a/1"]);
      expect(await listed("l/nothing")).toEqual([]);
      expect(await listed("nothing/at/all")).toEqual([]);
      const sizes: number[] = [];
      for await (const { sizeBytes } of store.list("l/a")) sizes.push(sizeBytes);
      expect(sizes).toEqual([0, 1, 2, 3, 4]);
      expect(await listed("")).toEqual(expect.arrayContaining(paths));
    });

    test("a listing may be left early and runs over any number of objects", async () => {
      const paths = Array.from({ length: 60 }, (_, index) => `many/${index % 3}/${String(index).padStart(3, "0")}`);
      await Promise.all(paths.map((path) => store.put(path, new Uint8Array(1))));
      expect(await listed("many/")).toEqual(paths.sort(comparePaths));
      for await (const { path } of store.list("many/")) {
        expect(path).toBe(paths[0]);
        break;
      }
    });

    test("refuses what is no path, naming the argument", async () => {
      const bad = [
        "",
        "/abs",
        "a//b",
        "a/",
        "../a",
        "a/../b",
        "a/..",
        ".",
        "a/./b",
        "a\0b",
        "a/\ud800",
        "x".repeat(1025),
      ];
      for (const path of [...bad, ".moraine-put-1", "a/.moraine-put-1/b"]) {
        for (const call of [
          store.head(path),
          store.readRanges(path, []),
          store.put(path, new Uint8Array()),
          store.delete(path),
        ]) {
          await expect(call).rejects.toThrow(InvalidArgumentError);
        }
      }
      await expect(store.head("a//b")).rejects.toThrow(/path/u);
      for (const prefix of ["/", "a//", "../", "a/../b", "\0"]) {
        await expect(listed(prefix)).rejects.toThrow(InvalidArgumentError);
      }
    });

    test("refuses arguments of the wrong type", async () => {
      await expect(store.head(7 as unknown as string)).rejects.toThrow(InvalidArgumentError);
      await expect(store.put("x", "text" as unknown as Uint8Array)).rejects.toThrow(InvalidArgumentError);
      for (const range of [
        { offset: -1, length: 1 },
        { offset: 0, length: -1 },
        { offset: 0.5, length: 1 },
        { offset: 0, length: Number.NaN },
        { offset: Number.MAX_SAFE_INTEGER, length: 1 },
        { offset: 0, length: 2 ** 40 },
      ]) {
        await expect(store.readRanges("x", [range])).rejects.toThrow(InvalidArgumentError);
      }
    });

    test("long ranges are split and near ones joined without a difference to see", async () => {
      const bytes = randomBytes(50_000);
      const small = await backend.open({ readBytes: 1000, gapBytes: 10, requestsInFlight: 4 });
      await small.put("split", bytes);
      const ranges = [
        { offset: 0, length: 50_000 },
        { offset: 49_999, length: 1 },
        { offset: 500, length: 1000 },
        { offset: 1505, length: 3000 },
      ];
      const parts = await small.readRanges("split", ranges);
      const expected = ranges.map(({ offset, length }) => bytes.subarray(offset, offset + length));
      expect(sameBytes(parts, expected)).toBe(true);
      await small.close();
    });

    test("many calls at once", async () => {
      const bytes = randomBytes(10_000);
      await store.put("busy", bytes);
      const reads = Array.from({ length: 200 }, (_, index) =>
        store.readRanges("busy", [{ offset: index, length: 50 }]),
      );
      const results = await Promise.all(reads);
      results.forEach(([part], index) => expect(part).toEqual(Uint8Array.from(bytes.subarray(index, index + 50))));
    });

    test("a closed store refuses every call; closing twice is harmless", async () => {
      const closing = await backend.open();
      const listing = closing.list("many/");
      await listing.next();
      await closing.close();
      await closing.close();
      await expect(closing.head("busy")).rejects.toThrow(ClosedError);
      await expect(closing.readRanges("busy", [{ offset: 0, length: 1 }])).rejects.toThrow(ClosedError);
      await expect(closing.put("busy", new Uint8Array())).rejects.toThrow(ClosedError);
      await expect(closing.delete("busy")).rejects.toThrow(ClosedError);
      await expect(closing.list("").next()).rejects.toThrow(ClosedError);
      await expect(listing.next()).rejects.toThrow(ClosedError);
    });

    test("closing lets calls under way finish or fail with closed", async () => {
      const closing = await backend.open();
      const reads = Array.from({ length: 20 }, async () => {
        try {
          const [bytes] = await closing.readRanges("busy", [{ offset: 0, length: 5000 }]);
          return bytes?.length;
        } catch (error) {
          return error instanceof ClosedError ? "closed" : error;
        }
      });
      await closing.close();
      for (const result of await Promise.all(reads)) expect([5000, "closed"]).toContain(result);
    });
  });
}
