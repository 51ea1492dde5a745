/**
 * The innermost step of index keys. A value's byte is framed inside its component (00 and 01 get an escape 01), complemented
 * if the column is descending, and then the whole canonical key is framed again, so a byte becomes:
 *
 *                 00            01            fe       ff       other
 *   ascending     01 01 01 00   01 01 01 01   fe       ff       itself
 *   descending    fe ff         fe fe         01 01    01 00    its complement
 */

/** Most bytes of a key that one byte of a value takes. */
export const maxBytesPerValueByte = 4;

/** Flag and terminator of one component, framed: at most this many bytes. */
export const maxComponentOverhead = 4;

function putAscending(out: Uint8Array, at: number, byte: number): number {
  if (byte > 1) {
    out[at] = byte;
    return at + 1;
  }
  out[at] = 1;
  out[at + 1] = 1;
  out[at + 2] = 1;
  out[at + 3] = byte;
  return at + 4;
}

function putDescending(out: Uint8Array, at: number, byte: number): number {
  const complement = 0xff - byte;
  if (byte > 1 && complement > 1) {
    out[at] = complement;
    return at + 1;
  }
  out[at] = byte > 1 ? 0x01 : 0xfe;
  out[at + 1] = complement;
  return at + 2;
}

function putWordAscending(out: Uint8Array, at: number, word: number): number {
  let p = putAscending(out, at, word >>> 24);
  p = putAscending(out, p, (word >>> 16) & 0xff);
  p = putAscending(out, p, (word >>> 8) & 0xff);
  return putAscending(out, p, word & 0xff);
}

function putWordDescending(out: Uint8Array, at: number, word: number): number {
  let p = putDescending(out, at, word >>> 24);
  p = putDescending(out, p, (word >>> 16) & 0xff);
  p = putDescending(out, p, (word >>> 8) & 0xff);
  return putDescending(out, p, word & 0xff);
}

/** One byte of a value. */
export function putByte(out: Uint8Array, at: number, byte: number, descending: boolean): number {
  return descending ? putDescending(out, at, byte) : putAscending(out, at, byte);
}

/** Four bytes of a value, the most significant first. */
export function putWord(out: Uint8Array, at: number, word: number, descending: boolean): number {
  return descending ? putWordDescending(out, at, word) : putWordAscending(out, at, word);
}

/** A component's flag, 0 or 1: never complemented. */
export function putFlag(out: Uint8Array, at: number, flag: number): number {
  out[at] = 1;
  out[at + 1] = flag;
  return at + 2;
}

/** The end of a component. */
export function putTerminator(out: Uint8Array, at: number, descending: boolean): number {
  if (descending) {
    out[at] = 0xff;
    return at + 1;
  }
  out[at] = 1;
  out[at + 1] = 0;
  return at + 2;
}

/** Values of a row, `start` to `end` of `bytes`, as the bytes of a component. Gives the position after them. */
export function putBytes(
  out: Uint8Array,
  at: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  descending: boolean,
): number {
  let p = at;
  if (descending) {
    for (let i = start; i < end; i++) p = putDescending(out, p, bytes[i] as number);
    return p;
  }
  for (let i = start; i < end; i++) {
    const byte = bytes[i] as number;
    if (byte > 1) {
      out[p++] = byte;
    } else {
      out[p] = 1;
      out[p + 1] = 1;
      out[p + 2] = 1;
      out[p + 3] = byte;
      p += 4;
    }
  }
  return p;
}
