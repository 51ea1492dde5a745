import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeFrame, encodeFrame, FrameSplitter, ProtocolError } from "../src/index.js";
import { arbitraryMessage } from "./support/arbitraries.js";

/** The bytes of a frame without its length. */
const bodyOf = (frame: Uint8Array) => frame.subarray(4);

function decodesOrRefuses(bytes: Uint8Array): void {
  try {
    const message = decodeFrame(bytes);
    // What is read can be written again, and that stands for the same.
    expect(decodeFrame(bodyOf(encodeFrame(message)))).toEqual(message);
  } catch (error) {
    expect(error).toBeInstanceOf(ProtocolError);
  }
}

describe("frames", () => {
  test("what is written is read", () => {
    fc.assert(
      fc.property(arbitraryMessage, (message) => {
        const frame = encodeFrame(message);
        expect(new DataView(frame.buffer, frame.byteOffset).getUint32(0, true)).toBe(frame.length - 4);
        expect(decodeFrame(bodyOf(frame))).toEqual(message);
      }),
      { numRuns: 300, endOnFailure: true },
    );
  });

  test("a frame that is cut short is refused, and so is one with bytes left over", () => {
    fc.assert(
      fc.property(arbitraryMessage, fc.nat(), (message, at) => {
        const body = bodyOf(encodeFrame(message));
        expect(() => decodeFrame(body.subarray(0, at % body.length))).toThrow(/./);
        expect(() => decodeFrame(Buffer.concat([body, Buffer.from([0])]))).toThrow(/left over/);
      }),
      { numRuns: 300, endOnFailure: true },
    );
  });

  test("changed bytes are read as something, or refused as an error of the protocol", () => {
    fc.assert(
      fc.property(
        arbitraryMessage,
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 4 }),
        (message, edits) => {
          const body = Uint8Array.from(bodyOf(encodeFrame(message)));
          for (const [at, value] of edits) body[at % body.length] = value;
          decodesOrRefuses(body);
        },
      ),
      { numRuns: 2_000, endOnFailure: true },
    );
  });

  test("any bytes are read as something, or refused as an error of the protocol", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), decodesOrRefuses), { numRuns: 2_000, endOnFailure: true });
  });

  test("a stream is cut into the same frames, however its bytes come", () => {
    fc.assert(
      fc.property(
        fc.array(arbitraryMessage, { maxLength: 5 }),
        fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 }),
        (messages, sizes) => {
          const stream = Buffer.concat(messages.map((message) => encodeFrame(message)));
          const splitter = new FrameSplitter();
          const found: unknown[] = [];
          for (let at = 0, turn = 0; at < stream.length; turn++) {
            const size = sizes[turn % sizes.length] ?? 1;
            splitter.push(Uint8Array.from(stream.subarray(at, at + size)));
            at += size;
            for (let frame = splitter.next(); frame !== undefined; frame = splitter.next())
              found.push(decodeFrame(frame));
          }
          expect(found).toEqual(messages);
          expect(splitter.isInside).toBe(false);
        },
      ),
    );
  });
});
