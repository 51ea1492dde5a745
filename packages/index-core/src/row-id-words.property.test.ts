import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RowIdList, sortedDistinct } from "./row-id-words.js";

const rowId = fc.oneof(fc.bigInt({ min: 0n, max: 20n }), fc.bigInt({ min: 0n, max: 0xffff_ffff_ffff_ffffn }));

describe("row ids as words", () => {
  it("reads big-endian bytes into a growing list", () => {
    fc.assert(
      fc.property(fc.array(rowId), fc.nat(4), fc.array(rowId), (rowIds, expected, more) => {
        const bytes = new DataView(new ArrayBuffer(rowIds.length * 8 + 3));
        for (const [i, id] of rowIds.entries()) bytes.setBigUint64(i * 8 + 3, id);
        const list = new RowIdList(expected);
        for (let i = 0; i < rowIds.length; i++) list.appendBytes(new Uint8Array(bytes.buffer), i * 8 + 3);
        list.appendAll(BigUint64Array.from(more));
        expect([...list.finish()]).toEqual([...rowIds, ...more]);
        expect(list.count).toBe(rowIds.length + more.length);
      }),
    );
  });

  it("sorts and drops repeats", () => {
    fc.assert(
      fc.property(fc.array(rowId), (rowIds) => {
        const expected = [...new Set(rowIds)].toSorted((left, right) => (left < right ? -1 : 1));
        expect([...sortedDistinct(BigUint64Array.from(rowIds))]).toEqual(expected);
      }),
    );
  });
});
