import fc from "fast-check";
import { expect, test } from "vitest";
import type { ByteRange } from "../interface.js";
import { planReads } from "./plan-reads.js";
import { readPlanned } from "./read-ranges.js";

const objectBytes = 500;

const anyRanges = fc.array(
  fc
    .tuple(fc.nat(objectBytes), fc.nat(objectBytes))
    .map(([a, b]): ByteRange => ({ offset: Math.min(a, b), length: Math.abs(a - b) })),
  { maxLength: 20 },
);
const nearRanges = fc.array(fc.record({ offset: fc.nat(objectBytes - 30), length: fc.nat(30) }), { maxLength: 60 });
const options = fc.record({ gapBytes: fc.nat(40), readBytes: fc.integer({ min: 1, max: 200 }) });
const cases = fc.tuple(fc.oneof(anyRanges, nearRanges), options);

function isWanted(ranges: readonly ByteRange[], byte: number): boolean {
  return ranges.some(({ offset, length }) => byte >= offset && byte < offset + length);
}

test("reads are sorted, apart, bounded, and hold no byte that no rule allows", () => {
  fc.assert(
    fc.property(cases, ([ranges, { gapBytes, readBytes }]) => {
      const reads = planReads(ranges, { gapBytes, readBytes });
      let end = 0;
      for (const read of reads) {
        expect(read.offset).toBeGreaterThanOrEqual(end);
        expect(read.length).toBeGreaterThan(0);
        expect(read.length).toBeLessThanOrEqual(readBytes);
        end = read.offset + read.length;
        expect(isWanted(ranges, read.offset) && isWanted(ranges, end - 1)).toBe(true);
        let gap = 0;
        let widest = 0;
        for (let byte = read.offset; byte < end; byte++) {
          gap = isWanted(ranges, byte) ? 0 : gap + 1;
          widest = Math.max(widest, gap);
        }
        expect(widest).toBeLessThanOrEqual(gapBytes);
      }
    }),
    { numRuns: 300 },
  );
});

test("two neighbours are never apart when one read could have served them", () => {
  fc.assert(
    fc.property(cases, ([ranges, { gapBytes, readBytes }]) => {
      const reads = planReads(ranges, { gapBytes, readBytes });
      reads.slice(1).forEach((read, index) => {
        const before = reads[index];
        if (before === undefined || read.offset - (before.offset + before.length) > gapBytes) return;
        // What kept them apart is a range that did not fit in whole: it begins the second read, or runs on into it.
        const first = Math.max(...read.parts.filter((part) => part.readOffset === 0).map(({ range }) => range));
        const range = ranges[first];
        expect(range).toBeDefined();
        const longest = Math.max(
          ...ranges
            .filter(({ offset, length }) => offset <= read.offset && offset + length > read.offset)
            .map(({ offset, length }) => offset + length),
        );
        expect(longest - before.offset).toBeGreaterThan(readBytes);
      });
    }),
    { numRuns: 300 },
  );
});

test("the parts of all reads fill every range exactly once", () => {
  fc.assert(
    fc.property(cases, ([ranges, planOptions]) => {
      const filled = ranges.map(({ length }) => new Uint8Array(length));
      for (const read of planReads(ranges, planOptions)) {
        for (const part of read.parts) {
          expect(read.offset + part.readOffset).toBe((ranges[part.range]?.offset ?? Number.NaN) + part.rangeOffset);
          expect(part.readOffset + part.length).toBeLessThanOrEqual(read.length);
          for (let byte = 0; byte < part.length; byte++) {
            const target = filled[part.range];
            if (target !== undefined) target[part.rangeOffset + byte] = (target[part.rangeOffset + byte] ?? 9) + 1;
          }
        }
      }
      for (const range of filled) expect(range.every((times) => times === 1)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test("carrying the plan out gives the bytes of each range", async () => {
  const object = Uint8Array.from({ length: objectBytes }, (_, index) => index * 7);
  await fc.assert(
    fc.asyncProperty(cases, fc.integer({ min: 1, max: 5 }), async ([ranges, planOptions], readsInFlight) => {
      let underWay = 0;
      const results = await readPlanned(ranges, { ...planOptions, readsInFlight }, async (offset, target) => {
        underWay++;
        expect(underWay).toBeLessThanOrEqual(readsInFlight);
        await Promise.resolve();
        target.set(object.subarray(offset, offset + target.length));
        underWay--;
      });
      expect(results).toEqual(ranges.map(({ offset, length }) => object.slice(offset, offset + length)));
      for (const result of results) expect(result.buffer.byteLength).toBe(result.length);
    }),
    { numRuns: 200 },
  );
});
