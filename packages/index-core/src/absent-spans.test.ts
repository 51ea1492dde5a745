import { describe, expect, it } from "vitest";
import { AbsentSpans } from "./absent-spans.js";
import { absentSpansPerIndex } from "./limits.js";

const key = (...bytes: number[]): Uint8Array => Uint8Array.from(bytes);
const span = (start: number, end: number) => ({ start: key(start), end: key(end) });
const holds = (spans: AbsentSpans, ...bytes: number[]): boolean => spans.hold(key(9, ...bytes, 9), 1, 1 + bytes.length);

describe("AbsentSpans", () => {
  it("holds keys from its start up to, and without, its end", () => {
    const spans = new AbsentSpans();
    spans.add(span(3, 5));
    expect([2, 3, 4, 5].map((byte) => holds(spans, byte))).toEqual([false, true, true, false]);
    expect([holds(spans, 2, 255), holds(spans, 3, 0), holds(spans, 4, 255, 255), holds(spans, 5, 0)]).toEqual([
      false,
      true,
      true,
      false,
    ]);
  });

  it("covers what lies inside of one span", () => {
    const spans = new AbsentSpans();
    spans.add(span(3, 5));
    spans.add(span(5, 7));
    expect([
      spans.cover(span(3, 5)),
      spans.cover(span(4, 5)),
      spans.cover(span(4, 6)),
      spans.cover(span(2, 4)),
    ]).toEqual([true, true, false, false]);
  });

  it("ignores empty spans and forgets the oldest of too many", () => {
    const spans = new AbsentSpans();
    spans.add(span(5, 5));
    spans.add(span(6, 5));
    expect(holds(spans, 5)).toBe(false);
    spans.add(span(0, 1));
    spans.add(span(0, 1));
    for (let i = 1; i < absentSpansPerIndex; i++) spans.add(span(10 * i, 10 * i + 1));
    expect(holds(spans, 0)).toBe(true);
    spans.add(span(200, 201));
    expect([holds(spans, 0), holds(spans, 10), holds(spans, 200)]).toEqual([false, true, true]);
  });
});
