import { InvalidArgumentError } from "@moraine/codec";
import { describe, expect, test } from "vitest";
import type { ByteRange } from "../interface.js";
import { dataLimits } from "./limits.js";
import { checkRanges, planReads } from "./plan-reads.js";

function spans(ranges: readonly ByteRange[], gapBytes: number, readBytes: number): [offset: number, length: number][] {
  return planReads(ranges, { gapBytes, readBytes }).map(({ offset, length }) => [offset, length]);
}

describe("planReads", () => {
  test("nothing for nothing", () => {
    expect(spans([], 10, 100)).toEqual([]);
    expect(spans([{ offset: 5, length: 0 }], 10, 100)).toEqual([]);
  });

  test("joins over a gap of just the limit, not of one byte more", () => {
    const ranges = (second: number): ByteRange[] => [
      { offset: second, length: 5 },
      { offset: 0, length: 10 },
    ];
    expect(spans(ranges(20), 10, 100)).toEqual([[0, 25]]);
    expect(spans(ranges(21), 10, 100)).toEqual([
      [0, 10],
      [21, 5],
    ]);
  });

  test("joins up to the longest read, and then begins a new one at a range, not inside one", () => {
    const ranges = [0, 30, 60, 90].map((offset) => ({ offset, length: 30 }));
    expect(spans(ranges, 0, 60)).toEqual([
      [0, 60],
      [60, 60],
    ]);
    expect(spans(ranges, 0, 89)).toEqual([
      [0, 60],
      [60, 60],
    ]);
  });

  test("splits a long range, and lets its rest take in what comes next", () => {
    expect(
      spans(
        [
          { offset: 0, length: 25 },
          { offset: 27, length: 3 },
        ],
        5,
        10,
      ),
    ).toEqual([
      [0, 10],
      [10, 10],
      [20, 10],
    ]);
  });

  test("reads no byte twice where ranges overlap", () => {
    const overlapping = [
      { offset: 0, length: 100 },
      { offset: 50, length: 100 },
      { offset: 10, length: 1 },
      { offset: 0, length: 100 },
    ];
    expect(spans(overlapping, 0, 40)).toEqual([
      [0, 40],
      [40, 40],
      [80, 20],
      [100, 40],
      [140, 10],
    ]);
  });
});

describe("checkRanges", () => {
  test("refuses more ranges or bytes than the limits", () => {
    const many = Array.from({ length: dataLimits.rangesPerRead + 1 }, () => ({ offset: 0, length: 0 }));
    expect(() => checkRanges(many)).toThrow(InvalidArgumentError);
    expect(() => checkRanges(many.slice(1))).not.toThrow();
    expect(() => checkRanges([{ offset: 0, length: dataLimits.bytesPerRead }])).not.toThrow();
    expect(() =>
      checkRanges([
        { offset: 0, length: dataLimits.bytesPerRead },
        { offset: 0, length: 1 },
      ]),
    ).toThrow(InvalidArgumentError);
  });

  test("names the range that is wrong", () => {
    expect(() =>
      checkRanges([
        { offset: 0, length: 1 },
        { offset: -1, length: 1 },
      ]),
    ).toThrow(/ranges\[1\]\.offset/u);
    expect(() => checkRanges([{ offset: 0, length: 1.5 }])).toThrow(/ranges\[0\]\.length/u);
    expect(() => checkRanges(7 as unknown as ByteRange[])).toThrow(InvalidArgumentError);
    expect(() => checkRanges([null as unknown as ByteRange])).toThrow(InvalidArgumentError);
  });
});
