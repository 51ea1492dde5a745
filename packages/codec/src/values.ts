import { CorruptionError } from "./errors.js";
import type { MessageType } from "./message.js";
import { readFields } from "./message-reader.js";
import { writeFields } from "./message-writer.js";
import { WireReader } from "./wire-reader.js";
import { WireWriter } from "./wire-writer.js";

/** "MRNE", then the encoding version. Every record value but an index entry's begins with it. */
const frame = new Uint8Array([0x4d, 0x52, 0x4e, 0x45, 0x00]);
const versionAt = 4;

const writer = new WireWriter(frame);

/**
 * Bytes of a record value, frame included. Fields are written in ascending number, zero and empty ones not at all, maps
 * sorted by key: equal values have equal bytes.
 *
 * Errors: `invalid_argument`, naming the field, for a value of the wrong type, an integer out of range, or text with a
 * lone surrogate.
 */
export function encodeValue<T>(type: MessageType<T>, value: T): Uint8Array {
  try {
    writeFields(writer, type.fields, value);
    return writer.copy();
  } finally {
    writer.clear();
  }
}

/**
 * A record value from its bytes. Unknown fields are skipped, so that a newer writer's additions do no harm. `bytes` fields
 * are views of the input: they hold it in memory and change with it.
 *
 * Errors: `corruption`, naming the message, for anything that is not a framed value of this type.
 */
export function decodeValue<T>(type: MessageType<T>, bytes: Uint8Array): T {
  const at = frameEnd(type.name, bytes, 0, bytes.length);
  return readFields(new WireReader(bytes, at, type.name), type);
}

/** Checks the frame of a value that lies between two positions, and gives where its fields begin. */
export function frameEnd(name: string, bytes: Uint8Array, start: number, end: number): number {
  if (end - start < frame.length) throw new CorruptionError(`value ${name}: ${end - start} bytes hold no frame`);
  for (let i = 0; i < versionAt; i++) {
    if (bytes[start + i] !== frame[i]) throw new CorruptionError(`value ${name}: the frame's magic bytes are missing`);
  }
  const version = bytes[start + versionAt];
  if (version !== frame[versionAt])
    throw new CorruptionError(`value ${name}: encoding version ${version} is newer than this program reads`);
  return start + frame.length;
}
