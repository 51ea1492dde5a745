import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { decodeFrame, encodeFrame, FrameSplitter, type Message } from "../src/index.js";
import { remoteDefinitions } from "../src/remote/definitions.js";
import { messageNames } from "../src/wire/messages.js";
import { batchOf, column } from "./support/columns.js";
import { columnVectors, messageFrames } from "./support/golden-frames.js";

const golden = fileURLToPath(new URL("../../../golden/", import.meta.url));
/** Frames that the extension reads and writes, which its own test reads as well, and those of connected applications. */
const folders = ["wire", "wire-remote"] as const;
type Folder = (typeof folders)[number];

const vectors: Readonly<Record<string, Message>> = {
  ...Object.fromEntries(messageFrames.map((message) => [`message_${message.type}`, message])),
  ...Object.fromEntries(
    Object.entries(columnVectors).map(([name, [type, values]]): [string, Message] => [
      `column_${name}`,
      { type: "rows", schema: "main", table: "t", batch: batchOf(column(type, values)) },
    ]),
  ),
};

const ofApplications = new Set(Object.keys(remoteDefinitions).map((type) => `message_${type}`));
const folderOf = (name: string): Folder => (ofApplications.has(name) ? "wire-remote" : "wire");
const pathOf = (name: string): string => join(golden, folderOf(name), `${name}.hex`);

/** A message, or values of a column, in JSON: bigints as text, bytes in hex. */
function reading(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => {
    if (typeof item === "bigint") return item.toString();
    if (item instanceof Uint8Array) return `hex ${Buffer.from(item).toString("hex")}`;
    // A Buffer has become a plain object before it gets here.
    if (isBufferJson(item)) return `hex ${Buffer.from(item.data).toString("hex")}`;
    if (item instanceof Uint32Array) return [...item];
    return item instanceof Map ? Object.fromEntries(item as Map<string, unknown>) : item;
  });
}

function isBufferJson(item: unknown): item is { readonly data: number[] } {
  return typeof item === "object" && item !== null && "type" in item && item.type === "Buffer";
}

function fileText(name: string, message: Message): string {
  const values = columnVectors[name.replace(/^column_/, "")];
  const hex = Buffer.from(encodeFrame(message)).toString("hex");
  return [`# ${reading(values ?? message)}`, ...(hex.match(/.{1,64}/g) ?? []), ""].join("\n");
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text.replaceAll(/^#.*$|\s/gm, ""), "hex");
}

// Written anew by intent only: `MORAINE_WRITE_GOLDEN=1`. What changes is a new version of the protocol.
if (process.env["MORAINE_WRITE_GOLDEN"] === "1") {
  for (const folder of folders) mkdirSync(join(golden, folder), { recursive: true });
  for (const [name, message] of Object.entries(vectors)) writeFileSync(pathOf(name), fileText(name, message));
}

describe("golden frames", () => {
  test("there is one for each kind of message, and no other file", () => {
    expect(messageFrames.map(({ type }) => type).toSorted()).toEqual(messageNames.toSorted());
    const found = folders.flatMap((folder) =>
      readdirSync(join(golden, folder)).map((file) => join(golden, folder, file)),
    );
    expect(found.toSorted()).toEqual(Object.keys(vectors).map(pathOf).toSorted());
  });

  test.each(Object.entries(vectors))("%s", (name, message) => {
    const text = readFileSync(pathOf(name), "utf8");
    const bytes = bytesOf(text);
    expect(Buffer.from(encodeFrame(message)).toString("hex")).toBe(Buffer.from(bytes).toString("hex"));
    expect(text).toBe(fileText(name, message));
    const splitter = new FrameSplitter();
    splitter.push(bytes);
    const frame = splitter.next();
    expect(frame).toBeDefined();
    expect(reading(decodeFrame(frame!))).toBe(reading(message));
    expect(splitter.isInside).toBe(false);
  });

  test("every type that travels has a vector", () => {
    const types = Object.values(columnVectors).map(([type]) => type);
    for (const type of ["BIT", "TIME WITH TIME ZONE", "INTEGER[2]", "VARIANT", '"NULL"']) expect(types).toContain(type);
  });
});
