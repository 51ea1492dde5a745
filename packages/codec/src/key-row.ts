import { type ColumnSource, sourceKinds, wrongShape } from "./column-source.js";
import { orderedFloat32, notText, oversized, putFloat64 } from "./component.js";
import {
  maxBytesPerValueByte,
  maxComponentOverhead,
  putByte,
  putBytes,
  putFlag,
  putTerminator,
  putWord,
} from "./component-bytes.js";
import { maxIndexedValueBytes } from "./index-value.js";
import type { KeyBuffer } from "./key-buffer.js";
import { idBytes, indexShapeTags } from "./keys.js";
import { isUtf8 } from "./utf8.js";
import { highWord, lowWord } from "./words.js";

const prefixBytes = 2 + idBytes;

/** Most bytes of a key apart from its values of varying length. */
export function fixedKeyBytes(sources: readonly ColumnSource[]): number {
  let bytes = prefixBytes + 1 + idBytes;
  for (const source of sources) bytes += maxComponentOverhead + maxBytesPerValueByte * source.valueBytes;
  return bytes;
}

/**
 * Appends the complete key of one row and says whether it has the multi shape (1) or not (0). The caller has reserved
 * `fixedBytes`; values of varying length reserve their own room and that much again.
 */
export function putRow(
  buffer: KeyBuffer,
  prefix: Uint8Array,
  sources: readonly ColumnSource[],
  row: number,
  rowIdWords: Uint32Array,
  fixedBytes: number,
): 0 | 1 {
  const start = buffer.at;
  let out = buffer.bytes;
  let at = start;
  for (let i = 0; i < prefixBytes; i++) out[at++] = prefix[i] as number;
  let total = 0;
  for (let c = 0; c < sources.length; c++) {
    const source = sources[c] as ColumnSource;
    if (source.validity?.[row] === 0) {
      at = putFlag(out, at, source.nullFlag);
      out[start + 1] = indexShapeTags.multi;
      continue;
    }
    at = putFlag(out, at, source.flag);
    if (source.kind >= sourceKinds.text) {
      const from = source.offsets[row] as number;
      const to = source.offsets[row + 1] as number;
      if (from < 0 || to < from || to > source.octets.length) throw wrongShape("has offsets outside its values");
      total += to - from;
      if (total > maxIndexedValueBytes) throw oversized(total);
      buffer.at = at;
      buffer.reserve(maxBytesPerValueByte * (to - from) + fixedBytes);
      out = buffer.bytes;
      if (source.kind === sourceKinds.text && !isUtf8(source.octets, from, to)) throw notText();
      at = putBytes(out, at, source.octets, from, to, source.descending);
    } else {
      total += source.valueBytes;
      if (total > maxIndexedValueBytes) throw oversized(total);
      at = putFixedValue(out, at, source, row);
    }
    at = putTerminator(out, at, source.descending);
  }
  out[at++] = 0;
  const multi = out[start + 1] === indexShapeTags.multi;
  if (multi) {
    at = putIdWord(out, at, rowIdWords[2 * row + highWord] as number);
    at = putIdWord(out, at, rowIdWords[2 * row + lowWord] as number);
  }
  buffer.at = at;
  return multi ? 1 : 0;
}

function putIdWord(out: Uint8Array, at: number, word: number): number {
  out[at] = word >>> 24;
  out[at + 1] = word >>> 16;
  out[at + 2] = word >>> 8;
  out[at + 3] = word;
  return at + 4;
}

function putFixedValue(out: Uint8Array, at: number, source: ColumnSource, row: number): number {
  const { descending } = source;
  switch (source.kind) {
    case sourceKinds.doubleWord: {
      const high = (source.words[2 * row + highWord] as number) ^ source.flip;
      return putWord(out, putWord(out, at, high, descending), source.words[2 * row + lowWord] as number, descending);
    }
    case sourceKinds.word:
      return putWord(out, at, (source.words[row] as number) ^ source.flip, descending);
    case sourceKinds.float64:
      return putFloat64(
        out,
        at,
        source.words[2 * row + highWord] as number,
        source.words[2 * row + lowWord] as number,
        descending,
      );
    case sourceKinds.float32:
      return putWord(out, at, orderedFloat32(source.words[row] as number), descending);
    case sourceKinds.half: {
      const half = (source.halves[row] as number) ^ source.flip;
      return putByte(out, putByte(out, at, half >>> 8, descending), half & 0xff, descending);
    }
    case sourceKinds.octet:
      return putByte(out, at, (source.octets[row] as number) ^ source.flip, descending);
    case sourceKinds.boolean:
      return putByte(out, at, source.octets[row] === 0 ? 0 : 1, descending);
    default:
      return putInt128(out, at, source, row);
  }
}

/** Sixteen little-endian bytes, written from the last to the first. */
function putInt128(out: Uint8Array, at: number, source: ColumnSource, row: number): number {
  let p = putByte(out, at, (source.octets[16 * row + 15] as number) ^ 0x80, source.descending);
  for (let i = 16 * row + 14; i >= 16 * row; i--) p = putByte(out, p, source.octets[i] as number, source.descending);
  return p;
}
