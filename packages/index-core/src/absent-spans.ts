import { compareBytes } from "@moraine/codec";
import { compareRanges } from "./bytes.js";
import { absentSpansPerIndex } from "./limits.js";

/** Keys from `start` (inclusive) to `end` (exclusive). */
export interface KeySpan {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
}

/**
 * Spans of keys of one index in which the view holds no entry. A new key inside one needs no read to be known absent:
 * appends above everything indexed so far, or a load into an empty index, cost two scans in place of one probe a key.
 */
export class AbsentSpans {
  readonly #spans: KeySpan[] = [];

  /** Remembers a span; one that is empty or covered already is ignored. */
  add(span: KeySpan): void {
    if (compareBytes(span.start, span.end) >= 0 || this.cover(span)) return;
    if (this.#spans.length === absentSpansPerIndex) this.#spans.shift();
    this.#spans.push(span);
  }

  /** Whether a key is known to be absent from the view. */
  hold(data: Uint8Array, start: number, end: number): boolean {
    for (const span of this.#spans) {
      if (
        compareRanges(data, start, end, span.start, 0, span.start.length) >= 0 &&
        compareRanges(data, start, end, span.end, 0, span.end.length) < 0
      ) {
        return true;
      }
    }
    return false;
  }

  /** Whether one known span covers all of this one. */
  cover(wanted: KeySpan): boolean {
    return this.#spans.some(
      (span) => compareBytes(span.start, wanted.start) <= 0 && compareBytes(wanted.end, span.end) <= 0,
    );
  }
}
