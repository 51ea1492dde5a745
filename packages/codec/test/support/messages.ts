import * as codec from "../../src/index.js";
import type { MessageType } from "../../src/index.js";

function isMessage(value: unknown): value is MessageType<object> {
  return typeof value === "object" && value !== null && "byNumber" in value && "defaults" in value;
}

/** Every message of the package by its name in the format. */
export const messages: ReadonlyMap<string, MessageType<object>> = new Map(
  Object.values(codec)
    .filter(isMessage)
    .map((message) => [message.name, message]),
);
