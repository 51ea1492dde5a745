import { InvalidArgumentError } from "@moraine/codec";

/** Refuses what is not bytes. */
export function checkBytes(bytes: Uint8Array): void {
  if (!(bytes instanceof Uint8Array)) {
    throw new InvalidArgumentError("bytes must be a Uint8Array", { remedy: "Encode the contents before the call." });
  }
}
