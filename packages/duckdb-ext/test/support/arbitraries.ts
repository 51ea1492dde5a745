import type { ColumnData, RowBatch } from "@moraine/catalog";
import fc from "fast-check";
import type { Message } from "../../src/index.js";
import { exceptionNumbers, type ExceptionClass } from "../../src/wire/messages.js";
import { column, type TestValue } from "./columns.js";

const u64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((value) => Uint8Array.from(value));
const text = fc.string({ unit: "grapheme", maxLength: 10 });

interface TypedValue {
  readonly type: string;
  readonly value: fc.Arbitrary<TestValue>;
}

const scalars: readonly TypedValue[] = [
  { type: "BOOLEAN", value: fc.boolean() },
  { type: "TINYINT", value: fc.integer({ min: -128, max: 127 }) },
  { type: "INTEGER", value: fc.integer() },
  { type: "BIGINT", value: fc.bigInt({ min: -(1n << 63n), max: (1n << 63n) - 1n }) },
  { type: "DOUBLE", value: fc.double() },
  { type: "DECIMAL(38,3)", value: bytes(16) },
  { type: "UUID", value: bytes(16) },
  { type: "VARCHAR", value: text },
  { type: "BLOB", value: fc.uint8Array({ maxLength: 9 }).map((value) => Uint8Array.from(value)) },
  { type: '"NULL"', value: fc.constant(null) },
];

const { typed } = fc.letrec<{ typed: TypedValue }>((tie) => ({
  typed: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    fc.constantFrom(...scalars),
    tie("typed").map(({ type, value }) => ({
      type: `${type}[]`,
      value: fc.array(fc.option(value), { maxLength: 3 }) as fc.Arbitrary<TestValue>,
    })),
    tie("typed").map(({ type, value }) => ({
      type: `${type}[2]`,
      value: fc.array(fc.option(value), { minLength: 2, maxLength: 2 }) as fc.Arbitrary<TestValue>,
    })),
    fc.tuple(tie("typed"), tie("typed")).map(([key, item]) => ({
      type: `MAP(${key.type}, ${item.type})`,
      value: fc.array(fc.tuple(key.value, fc.option(item.value)), { maxLength: 3 }) as fc.Arbitrary<TestValue>,
    })),
    fc.array(tie("typed"), { minLength: 1, maxLength: 3 }).map((fields) => ({
      type: `STRUCT(${fields.map(({ type }, at) => `"f ${at}" ${type}`).join(", ")})`,
      value: fc.tuple(...fields.map(({ value }) => fc.option(value))) as fc.Arbitrary<TestValue>,
    })),
  ),
}));

function arbitraryColumn(rows: number): fc.Arbitrary<ColumnData> {
  return typed.chain(({ type, value }) =>
    fc.array(fc.option(value, { freq: 4 }), { minLength: rows, maxLength: rows }).map((values) => column(type, values)),
  );
}

const arbitraryBatch: fc.Arbitrary<RowBatch> = fc
  .integer({ min: 0, max: 12 })
  .chain((rows) => fc.array(arbitraryColumn(rows), { maxLength: 3 }).map((columns) => ({ rows, columns })));

const batches = fc.array(arbitraryBatch, { maxLength: 2 });
const map = fc.array(fc.tuple(text, text), { maxLength: 3 }).map((entries) => new Map(entries));
const columns = fc.array(fc.record({ name: text, type: text }), { maxLength: 3 });
const attachment = u64;

const changes = fc.record({
  ddl: fc.array(
    fc.record({
      kind: fc.constantFrom("create_table", "drop_table", "create_schema", "drop_schema", "other"),
      schema: text,
      name: text,
      columns,
      sql: text,
    }),
    { maxLength: 2 },
  ),
  tables: fc.array(
    fc.record({
      schema: text,
      name: text,
      columns: fc.array(text, { maxLength: 3 }),
      deleted: batches,
      before: batches,
      after: batches,
      inserted: batches,
    }),
    { maxLength: 2 },
  ),
});

const packed = fc.uint8Array({ maxLength: 9 }).map((value) => Uint8Array.from(value));
const u32s = fc.uint32Array({ maxLength: 4 }).map((value) => Uint32Array.from(value));
const news = maybe(fc.record({ keys: packed, keyEnds: u32s, data: packed, offsets: u32s, lengths: u32s }));

/** Any message at all. */
export const arbitraryMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ type: fc.constant("pin" as const), attachment, known: maybe(u64), since: maybe(u64) }),
  fc.record({ type: fc.constant("pinned" as const), revision: u64, news }),
  fc.record({ type: fc.constant("read_many" as const), attachment, revision: u64, keys: packed, ends: u32s }),
  fc.record({
    type: fc.constant("scan_rows" as const),
    attachment,
    revision: u64,
    start: maybe(packed),
    end: maybe(packed),
    reverse: fc.boolean(),
    rows: fc.nat(),
  }),
  fc.record({ type: fc.constant("row_block" as const), data: packed, ends: u32s, more: fc.boolean() }),
  fc.record({
    type: fc.constant("commit_verbs" as const),
    attachment,
    base: u64,
    baseSnapshot: u64,
    author: maybe(text),
    message: maybe(text),
    extraInfo: maybe(text),
    members: fc.array(packed, { maxLength: 3 }),
  }),
  fc.record({ type: fc.constant("refused" as const), code: text, message: text, remedy: text }),
  fc.record({
    type: fc.constant("hello" as const),
    magic: fc.constant(0x4d524e58),
    version: fc.integer({ min: 0, max: 65_535 }),
    client: text,
    pid: u64,
    program: text,
  }),
  fc.record({
    type: fc.constant("attach" as const),
    store: text,
    cwd: text,
    lake: text,
    readOnly: fc.boolean(),
    options: map,
    storeSecret: map,
    dataSecret: map,
  }),
  fc.record({ type: fc.constant("attached" as const), attachment, exists: fc.boolean(), dataPath: maybe(text) }),
  fc.record({
    type: fc.constant("follow" as const),
    attachment,
    revision: maybe(u64),
    oldestInUse: maybe(u64),
    flags: fc.record({ retry: fc.boolean(), mayBeOlder: fc.boolean() }),
  }),
  fc.record({ type: fc.constant("statements" as const), sql: text }),
  fc.record({ type: fc.constant("rows" as const), schema: text, table: text, batch: arbitraryBatch }),
  fc.record({
    type: fc.constant("commit" as const),
    attachment,
    base: maybe(u64),
    flags: fc.record({ mayHaveLanded: fc.boolean() }),
    changes,
  }),
  fc.record({
    type: fc.constant("create_index" as const),
    attachment,
    schema: text,
    table: text,
    name: text,
    columns: fc.array(text, { maxLength: 3 }),
    unique: fc.boolean(),
    ifNotExists: fc.boolean(),
    options: map,
  }),
  fc.record({
    type: fc.constant("read_index" as const),
    attachment,
    snapshot: maybe(u64),
    index: u64,
    kind: fc.constantFrom("lookup", "in", "range", "nulls"),
    flags: fc.record({ lowerInclusive: fc.boolean(), upperInclusive: fc.boolean(), reverse: fc.boolean() }),
    keys: batches,
  }),
  fc.record({
    type: fc.constant("failed" as const),
    code: text,
    exception: fc.constantFrom(...(Object.keys(exceptionNumbers) as ExceptionClass[])),
    retryable: fc.boolean(),
    message: text,
  }),
);
