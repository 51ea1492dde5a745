import { expect, test } from "vitest";
import { expectError } from "../test/support/errors.js";
import { toHex } from "../test/support/golden.js";
import {
  ChangelogValue,
  decodeValue,
  encodeValue,
  entityMessages,
  equalValue,
  HeadValue,
  IndexDefinitionValue,
  InlineChunkValue,
  OptionScopeValue,
  SchemaValue,
  SnapshotValue,
  TableStatsValue,
} from "./index.js";
import { valueScratchBytes } from "./limits.js";

const schema: SchemaValue = {
  schemaId: 1n,
  schemaUuid: "5eed0000-0000-4000-8000-000000000001",
  beginSnapshot: 2n,
  endSnapshot: undefined,
  schemaName: "sales",
  path: "sales/",
  pathIsRelative: true,
};

test("an optional zero is kept apart from none", () => {
  const ended = { ...schema, endSnapshot: 0n };
  expect(decodeValue(SchemaValue, encodeValue(SchemaValue, ended)).endSnapshot).toBe(0n);
  expect(decodeValue(SchemaValue, encodeValue(SchemaValue, schema)).endSnapshot).toBeUndefined();
  expect(equalValue(SchemaValue, schema, ended)).toBe(false);
});

test("a decoded value has every property, in field order", () => {
  const decoded = decodeValue(SchemaValue, encodeValue(SchemaValue, schema));
  expect(Object.keys(decoded)).toEqual(Object.keys(schema));
});

test.each([
  ["schemaId", 7],
  ["schemaId", -1n],
  ["schemaId", 1n << 64n],
  ["schemaId", undefined],
  ["endSnapshot", null],
  ["endSnapshot", "3"],
  ["schemaName", 5],
  ["schemaName", undefined],
  ["schemaName", "a\ud800"],
  ["path", "\udc00b"],
  ["pathIsRelative", 1],
])("a schema whose %s is %s is refused by name", (field, value) => {
  expectError(
    () => encodeValue(SchemaValue, { ...schema, [field]: value }),
    "invalid_argument",
    `SchemaValue.${field}`,
  );
});

test("lists, maps and bytes of another type are refused by name", () => {
  const index = { ...IndexDefinitionValue.defaults };
  expectError(
    () => encodeValue(IndexDefinitionValue, { ...index, columnIds: 5n as never }),
    "invalid_argument",
    "IndexValue.columnIds",
  );
  expectError(
    () => encodeValue(IndexDefinitionValue, { ...index, columnIds: [1n, 2 as never] }),
    "invalid_argument",
    "IndexValue.columnIds",
  );
  expectError(
    () => encodeValue(OptionScopeValue, { options: {} as never }),
    "invalid_argument",
    "OptionScopeValue.options",
  );
  expectError(() => encodeValue(ChangelogValue, { keys: ["x" as never] }), "invalid_argument", "ChangelogValue.keys");
  expectError(
    () => encodeValue(InlineChunkValue, { ...InlineChunkValue.defaults, body: "x" as never }),
    "invalid_argument",
  );
  expectError(
    () => encodeValue(entityMessages.tag, { objectId: 1n, entries: [null as never] }),
    "invalid_argument",
    "TagValue.entries",
  );
});

test("no message names a field with a word that makes DuckLake repeat a commit", () => {
  const index = { ...IndexDefinitionValue.defaults, unique: 1 as never };
  expectError(
    () => encodeValue(IndexDefinitionValue, index),
    "invalid_argument",
    "IndexValue field 7 is not a boolean",
  );
});

test("a refused value leaves nothing behind for the next one", () => {
  expectError(() => encodeValue(SchemaValue, { ...schema, path: "\ud800" }), "invalid_argument");
  expect(toHex(encodeValue(HeadValue, { snapshotId: 1n, batchSeq: 1n }))).toBe("4d524e450008011001");
});

test("a value larger than the scratch buffer is whole, and so is the next small one", () => {
  const body = Uint8Array.from({ length: 3 * valueScratchBytes + 7 }, (_, i) => i & 0xff);
  const large: InlineChunkValue = { body, rowIdStart: 5n, rowCount: 6n, dataFileId: undefined };
  const decoded = decodeValue(InlineChunkValue, encodeValue(InlineChunkValue, large));
  expect(equalValue(InlineChunkValue, decoded, large)).toBe(true);
  expect(toHex(encodeValue(HeadValue, { snapshotId: 1n, batchSeq: 1n }))).toBe("4d524e450008011001");
});

test("lengths around the one and two byte limits", () => {
  for (const length of [0, 1, 41, 42, 127, 128, 129, 16_383, 16_384]) {
    for (const character of ["a", "\u00e9", "\u20ac", "\u{1f600}"]) {
      const named = { ...schema, schemaName: character.repeat(length) };
      expect(decodeValue(SchemaValue, encodeValue(SchemaValue, named)).schemaName).toBe(named.schemaName);
    }
    const keys = [new Uint8Array(length).fill(3)];
    expect(decodeValue(ChangelogValue, encodeValue(ChangelogValue, { keys })).keys).toEqual(keys);
  }
});

test("bytes are a view of the input, plain even where the input is a Buffer", () => {
  const bytes = Buffer.from(
    encodeValue(InlineChunkValue, { ...InlineChunkValue.defaults, body: Uint8Array.of(1, 2, 3) }),
  );
  const { body } = decodeValue(InlineChunkValue, bytes);
  expect(Object.getPrototypeOf(body)).toBe(Uint8Array.prototype);
  expect(body.buffer).toBe(bytes.buffer);
  expect(body).toEqual(Uint8Array.of(1, 2, 3));
});

test("decoded lists and maps are not the shared defaults", () => {
  const one = decodeValue(
    IndexDefinitionValue,
    encodeValue(IndexDefinitionValue, { ...IndexDefinitionValue.defaults, columnIds: [1n] }),
  );
  expect(one.columnIds).toEqual([1n]);
  expect(IndexDefinitionValue.defaults.columnIds).toEqual([]);
  const options = decodeValue(
    OptionScopeValue,
    encodeValue(OptionScopeValue, { options: new Map([["a", "b"]]) }),
  ).options;
  expect(options.get("a")).toBe("b");
  expect(OptionScopeValue.defaults.options.size).toBe(0);
});

test("maps are written in the order of their keys' bytes", () => {
  const forward = new Map([
    ["a", "1"],
    ["\uffff", "2"],
    ["\u{10000}", "3"],
    ["z", "4"],
  ]);
  const backward = new Map([...forward].toReversed());
  expect(toHex(encodeValue(OptionScopeValue, { options: forward }))).toBe(
    toHex(encodeValue(OptionScopeValue, { options: backward })),
  );
  const decoded = decodeValue(OptionScopeValue, encodeValue(OptionScopeValue, { options: backward }));
  expect([...decoded.options.keys()]).toEqual(["a", "z", "\uffff", "\u{10000}"]);
  expect(equalValue(OptionScopeValue, { options: forward }, { options: backward })).toBe(true);
  expect(equalValue(OptionScopeValue, { options: forward }, { options: new Map([...forward, ["a", "2"]]) })).toBe(
    false,
  );
});

test("text keeps a byte order mark and refuses malformed bytes", () => {
  const marked = { ...SnapshotValue.defaults, changesMade: "\ufeffx\ufffd" };
  expect(decodeValue(SnapshotValue, encodeValue(SnapshotValue, marked)).changesMade).toBe("\ufeffx\ufffd");
  expectError(
    () => decodeValue(SnapshotValue, Uint8Array.from(Buffer.from("4d524e45003a02efbf", "hex"))),
    "corruption",
    "SnapshotValue",
  );
});

test("times before the epoch and the largest counts come back", () => {
  for (const micros of [-1n, -(1n << 63n), (1n << 63n) - 1n]) {
    const value = { ...SnapshotValue.defaults, snapshotTimeMicros: micros };
    expect(decodeValue(SnapshotValue, encodeValue(SnapshotValue, value)).snapshotTimeMicros).toBe(micros);
  }
  expectError(
    () => encodeValue(SnapshotValue, { ...SnapshotValue.defaults, snapshotTimeMicros: 1n << 63n }),
    "invalid_argument",
  );
  const stats = { ...TableStatsValue.defaults, nextRowId: (1n << 64n) - 1n };
  expect(decodeValue(TableStatsValue, encodeValue(TableStatsValue, stats)).nextRowId).toBe((1n << 64n) - 1n);
});
