import { deserialize, serialize } from "node:v8";
import { InvalidArgumentError } from "@moraine/codec";
import { ProtocolError } from "../wire/protocol-error.js";

/** Bytes of a plain value: bigints, dates, maps and typed arrays as well. Errors: `invalid_argument` for functions and the like. */
export function valueBytes(value: unknown): Uint8Array {
  try {
    return serialize(value);
  } catch (cause) {
    throw new InvalidArgumentError("arguments hold something that is no plain value", {
      remedy: "Pass plain objects, arrays, maps, typed arrays, dates and scalars.",
      cause,
    });
  }
}

/** The value again; typed arrays may be views of the bytes. Bytes that are none are a `ProtocolError`. */
export function valueOf(bytes: Uint8Array): unknown {
  try {
    return deserialize(bytes);
  } catch (cause) {
    throw new ProtocolError(`${bytes.length} bytes are no value (${String(cause)})`);
  }
}
