const littleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** Index of the less significant half when eight bytes are seen as two 32-bit words of this machine. */
export const lowWord: 0 | 1 = littleEndian ? 0 : 1;
/** Index of the more significant half. */
export const highWord: 0 | 1 = littleEndian ? 1 : 0;
