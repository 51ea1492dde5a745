import { expect, test } from "vitest";
import * as codec from "../src/index.js";
import { CorruptionError, decodeKey, encodeKey, type Key } from "../src/index.js";
import { fromHex, readGolden, revive, toHex } from "./support/golden.js";

interface KeyVectors {
  readonly keys: readonly { name: string; key: Record<string, unknown>; hex: string }[];
  readonly prefixes: readonly { call: readonly [string, ...(string | number)[]]; hex: string }[];
  readonly invalid: readonly { name: string; hex: string }[];
}

const vectors = readGolden<KeyVectors>("keys.json");

/** Ids beyond 2^53 are strings in the file. */
function ids(value: unknown): unknown {
  if (typeof value === "string" && /^\d+$/.test(value)) return BigInt(value);
  if (Array.isArray(value)) return value.map(ids);
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, ids(field)]));
}

test.each(vectors.keys)("key $name", ({ key, hex }) => {
  const logical = ids(revive(key)) as Key;
  expect(toHex(encodeKey(logical))).toBe(hex);
  expect(decodeKey(fromHex(hex))).toEqual(logical);
});

test.each(vectors.prefixes)("prefix $call", ({ call: [name, ...given], hex }) => {
  const make = (codec as unknown as Readonly<Record<string, (...ids: unknown[]) => Uint8Array>>)[name];
  if (make === undefined) throw new Error(`${name} is not exported`);
  expect(toHex(make(...given.map((argument) => (typeof argument === "number" ? BigInt(argument) : argument))))).toBe(
    hex,
  );
});

test.each(vectors.invalid)("not a key: $name", ({ hex }) => {
  expect(() => decodeKey(fromHex(hex))).toThrow(CorruptionError);
});

test("every kind of key has a vector", () => {
  const kinds = new Set(vectors.keys.map(({ key }) => kindOf(ids(revive(key)) as Key)));
  const entityKinds = Object.entries(codec.entityKinds);
  const expected = [
    ...["format", "head", "migration", "maintenance_status", "loose_rows", "lakes"].map((kind) => `sys/${kind}`),
    "snapshot",
    "changelog",
    "gc_file",
    "schema_version",
    "index/unique",
    "index/multi",
    ...entityKinds.map(([kind]) => `current/${kind}`),
    ...entityKinds.filter(([, info]) => info.versioned).map(([kind]) => `history/${kind}`),
    ...["schema", "schema_dropped", "file_delete_table", "chunk_range", "chunk_locator", "row_tombstone"].map(
      (kind) => `inline/${kind}`,
    ),
    ...["chunk", "row_delete", "file_delete"].flatMap((kind) => [`inline/live/${kind}`, `inline/archived/${kind}`]),
  ];
  expect([...kinds].toSorted()).toEqual(expected.toSorted());
});

function kindOf(key: Key): string {
  switch (key.subspace) {
    case "sys":
      return `sys/${key.kind}`;
    case "current":
    case "history":
      return `${key.subspace}/${key.entity.kind}`;
    case "inline":
      return "archived" in key ? `inline/${key.archived ? "archived" : "live"}/${key.kind}` : `inline/${key.kind}`;
    case "index":
      return `index/${key.shape}`;
    default:
      return key.subspace;
  }
}
