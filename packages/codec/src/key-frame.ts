/**
 * The framing of a byte string inside a key: every byte 00 or 01 is preceded by 01, and 00 ends the string. Order is
 * preserved, and a string sorts before its extensions.
 */

const escape = 0x01;
const terminator = 0x00;

/** Length of `bytes` once framed, terminator included. */
export function framedLength(bytes: Uint8Array): number {
  let length = bytes.length + 1;
  for (const byte of bytes) if (byte <= escape) length++;
  return length;
}

/** Writes `bytes` framed at `at` and returns the position after its terminator. */
export function putFramed(out: Uint8Array, at: number, bytes: Uint8Array): number {
  let position = at;
  for (const byte of bytes) {
    if (byte <= escape) out[position++] = escape;
    out[position++] = byte;
  }
  out[position++] = terminator;
  return position;
}

/**
 * Reads the framed string that starts at `at`. `mask` is 0xff where the framed bytes are complemented, else 0. `next` is
 * the position after the terminator. Gives `undefined` when there is no terminator, or an escape before a byte that needs none.
 */
export function readFramed(
  bytes: Uint8Array,
  at: number,
  mask: 0 | 0xff,
): { value: Uint8Array; next: number } | undefined {
  const value = new Uint8Array(bytes.length - at);
  let length = 0;
  let position = at;
  while (position < bytes.length) {
    let byte = (bytes[position++] as number) ^ mask;
    if (byte === terminator) return { value: value.subarray(0, length), next: position };
    if (byte === escape) {
      if (position === bytes.length) return undefined;
      byte = (bytes[position++] as number) ^ mask;
      if (byte > escape) return undefined;
    }
    value[length++] = byte;
  }
  return undefined;
}
