import { expect, test } from "vitest";
import { FileCache } from "./file-cache.js";
import { holdsPosition } from "./positions.js";

const list = (length: number): Float64Array => Float64Array.from({ length }, (_, i) => i * 3);
const cacheOf = (positions: number): FileCache<Float64Array> =>
  new FileCache(positions * Float64Array.BYTES_PER_ELEMENT, ({ byteLength }) => byteLength);

test("a position is found in a list exactly if it is there", () => {
  for (const length of [0, 1, 2, 7, 100]) {
    const positions = list(length);
    for (let position = -1; position < length * 3 + 2; position++)
      expect(holdsPosition(positions, position)).toBe(positions.includes(position));
  }
});

test("what is known is not read again, and what was used longest ago is forgotten first", async () => {
  const cache = cacheOf(3 * 10);
  const reads: string[] = [];
  const get = (key: string, length = 10): Promise<Float64Array> =>
    cache.get(key, () => {
      reads.push(key);
      return Promise.resolve(list(length));
    });
  for (const key of ["a", "b", "c", "a", "d", "a", "c", "b"]) expect(await get(key)).toEqual(list(10));
  expect(reads).toEqual(["a", "b", "c", "d", "b"]);
  // One that is larger than the cache is not kept, and takes no other's place.
  await get("large", 31);
  await get("large", 31);
  await get("b");
  expect(reads.slice(5)).toEqual(["large", "large"]);
});

test("a failed read leaves nothing, and several at once count once", async () => {
  const cache = cacheOf(2 * 10);
  await expect(cache.get("a", () => Promise.reject(new Error("gone")))).rejects.toThrow("gone");
  await Promise.all([1, 2, 3].map(() => cache.get("a", () => Promise.resolve(list(10)))));
  await cache.get("b", () => Promise.resolve(list(10)));
  expect(await cache.get("a", () => Promise.reject(new Error("read again")))).toEqual(list(10));
});
