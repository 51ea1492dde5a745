/** Bytes that a string may need, as a multiple of its length in UTF-16 units. */
export const maxUtf8BytesPerUnit = 3;

/**
 * Writes the UTF-8 form of `text` at `at` and returns the position after it, or -1 when `text` holds a lone surrogate.
 * `out` has room for three bytes a unit. Never asks the locale.
 */
export function writeUtf8(out: Uint8Array, at: number, text: string): number {
  let position = at;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) {
      out[position++] = unit;
    } else if (unit < 0x800) {
      out[position++] = 0xc0 | (unit >> 6);
      out[position++] = 0x80 | (unit & 0x3f);
    } else if (unit < 0xd800 || unit > 0xdfff) {
      out[position++] = 0xe0 | (unit >> 12);
      out[position++] = 0x80 | ((unit >> 6) & 0x3f);
      out[position++] = 0x80 | (unit & 0x3f);
    } else {
      const low = i + 1 < text.length ? text.charCodeAt(i + 1) : 0;
      if (unit > 0xdbff || low < 0xdc00 || low > 0xdfff) return -1;
      i++;
      const point = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
      out[position++] = 0xf0 | (point >> 18);
      out[position++] = 0x80 | ((point >> 12) & 0x3f);
      out[position++] = 0x80 | ((point >> 6) & 0x3f);
      out[position++] = 0x80 | (point & 0x3f);
    }
  }
  return position;
}

/** Whether `bytes` from `start` to `end` are well-formed UTF-8: no overlong form, no surrogate, nothing above U+10FFFF. */
export function isUtf8(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    const lead = bytes[at++] as number;
    if (lead < 0x80) continue;
    let low = 0x80;
    let high = 0xbf;
    let more: number;
    if (lead >= 0xc2 && lead <= 0xdf) {
      more = 1;
    } else if (lead >= 0xe0 && lead <= 0xef) {
      more = 2;
      if (lead === 0xe0) low = 0xa0;
      if (lead === 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
      more = 3;
      if (lead === 0xf0) low = 0x90;
      if (lead === 0xf4) high = 0x8f;
    } else {
      return false;
    }
    if (end - at < more) return false;
    for (; more > 0; more--) {
      const byte = bytes[at++] as number;
      if (byte < low || byte > high) return false;
      low = 0x80;
      high = 0xbf;
    }
  }
  return true;
}

/** Up to this many ASCII bytes a loop is quicker than a call into the runtime. */
const shortTextBytes = 24;

/** The text of UTF-8 bytes, or `undefined` when they are malformed. A byte order mark is kept. */
export function readUtf8(bytes: Uint8Array, start: number, end: number): string | undefined {
  if (end - start <= shortTextBytes) {
    let text = "";
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at] as number;
      if (byte >= 0x80) break;
      text += String.fromCharCode(byte);
    }
    if (at === end) return text;
  }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
  // Malformed input shows as U+FFFD, which can also be there by right.
  return text.includes("\ufffd") && !isUtf8(bytes, start, end) ? undefined : text;
}

/** Orders strings by their UTF-8 bytes, which is by code point: surrogate pairs sort above every other unit. */
export function compareUtf8(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return (isSurrogate(x) ? x + 0x10000 : x) - (isSurrogate(y) ? y + 0x10000 : y);
  }
  return a.length - b.length;
}

function isSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdfff;
}

/** Whether text has a UTF-8 form: no surrogate without its other half. */
export function isWellFormedText(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}
