import { describe, expect, test } from "vitest";
import { decodeSingleColumn } from "./decoder.js";
import { singleColumnFile, type PlainLayout } from "./single-column-file.js";

const boolean: PlainLayout = { type: "BOOLEAN", byteWidth: 0 };

// A data page whose header disagrees with its levels: the decoder stops with a trap on it.
const trap =
  "UEFSMRUAFRIVEiwVKBUEFQYVBgAAAgAAACgBVVUFFQQZLEgEcm9vdBUCABUAJQIYBmNvbHVtbgAWKBkcGRwmCBwVABkFGRgGY29sdW1uFQAWKBY0FjQmCAAAFjQWKAAAQgAAAFBBUjE=";

/** The same page with the flipped bit put back: twenty booleans, true and false in turn. */
function sound(): Uint8Array {
  const bytes = Uint8Array.from(Buffer.from(trap, "base64"));
  bytes[14] = (bytes[14] ?? 0) ^ 4;
  return bytes;
}

const count = (): number => decodeSingleColumn(sound(), 20, boolean, (raw) => raw.length);

describe("a trap of the WebAssembly module", () => {
  test("is an ordinary exception, and the next file is read by a fresh instance", () => {
    for (let i = 0; i < 3; i++) {
      expect(count()).toBe(20);
      const trapped = Uint8Array.from(Buffer.from(trap, "base64"));
      expect(() => decodeSingleColumn(trapped, 20, boolean, (raw) => raw.length)).toThrow("unreachable");
    }
    expect(count()).toBe(20);
  });
});

test("an error in the caller's function leaves the decoder usable", () => {
  const failing = (): never => {
    throw new TypeError("not ours");
  };
  expect(() => decodeSingleColumn(sound(), 20, boolean, failing)).toThrow("not ours");
  expect(count()).toBe(20);
});

test("another number of rows than the pages hold is refused", () => {
  expect(() => decodeSingleColumn(sound(), 19, boolean, (raw) => raw.length)).toThrow("batches");
  expect(() => decodeSingleColumn(sound(), 21, boolean, (raw) => raw.length)).toThrow("rows");
});

test("a column without pages has no rows", () => {
  const none = singleColumnFile(new Uint8Array(0), [], boolean, 0, true);
  expect(decodeSingleColumn(none, 0, boolean, (raw) => raw.length)).toBe(0);
});
