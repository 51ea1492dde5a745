import type { KeyRangeBytes } from "@moraine/codec";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withoutHoles } from "./key-ranges.js";

const edge = fc.integer({ min: 0, max: 20 }).map((key) => Uint8Array.of(key));
const range = fc.record({ start: edge, end: edge });

const holds = ({ start, end }: KeyRangeBytes, key: number): boolean => key >= start[0]! && key < end[0]!;

describe("withoutHoles", () => {
  it("leaves exactly the keys of the range that no hole covers, in ascending parts", () => {
    fc.assert(
      fc.property(range, fc.array(range, { maxLength: 4 }), (whole, holes) => {
        const parts = withoutHoles(whole, holes);
        for (let key = 0; key < 25; key++) {
          const expected = holds(whole, key) && !holes.some((hole) => holds(hole, key));
          expect(parts.filter((part) => holds(part, key)).length).toBe(expected ? 1 : 0);
        }
        const starts = parts.map((part) => part.start[0]!);
        expect(starts).toEqual(starts.toSorted((left, right) => left - right));
      }),
    );
  });
});
