import { batch } from "./batch.js";
import { ByteReader } from "./byte-reader.js";
import { ByteWriter } from "./byte-writer.js";
import { rowChanges } from "./changes.js";
import {
  bool,
  constant,
  type Field,
  flags,
  list,
  oneOf,
  option,
  record,
  type RecordOf,
  text,
  textMap,
  u16,
  u32,
  u64,
} from "./fields.js";
import { remoteDefinitions } from "../remote/definitions.js";
import { ProtocolError } from "./protocol-error.js";

/** The first field of `Hello` and `Welcome`. */
export const protocolMagic = 0x4d524e58;
export const protocolVersion = 1;

/** The class of the exception that the client throws. */
export const exceptionNumbers = {
  Catalog: 1,
  Transaction: 2,
  IO: 3,
  InvalidInput: 4,
  Interrupt: 5,
  Binder: 6,
  Constraint: 7,
  NotImplemented: 8,
  Permission: 9,
  InvalidConfiguration: 10,
} as const;
export type ExceptionClass = keyof typeof exceptionNumbers;

const magic = constant(u32, protocolMagic, "magic number");
const readKinds = { lookup: 1, in: 2, range: 3, nulls: 4 } as const;
const readFlags = ["lowerInclusive", "upperInclusive", "reverse"] as const;

/** Every message: its kind, and its fields in order. Source: PROTOCOL.md, "Requests and answers". */
const definitions = {
  hello: [0x01, { magic, version: u16, client: text, pid: u64, program: text }],
  attach: [
    0x02,
    {
      store: text,
      cwd: text,
      lake: text,
      readOnly: bool,
      options: textMap,
      storeSecret: textMap,
      dataSecret: textMap,
    },
  ],
  join: [0x03, { attachment: u64 }],
  follow: [
    0x04,
    { attachment: u64, revision: option(u64), oldestInUse: option(u64), flags: flags(["retry", "mayBeOlder"]) },
  ],
  commit: [0x05, { attachment: u64, base: option(u64), flags: flags(["mayHaveLanded"]), changes: rowChanges }],
  create_index: [
    0x06,
    {
      attachment: u64,
      schema: text,
      table: text,
      name: text,
      columns: list(text),
      unique: bool,
      ifNotExists: bool,
      options: textMap,
    },
  ],
  drop_index: [0x07, { attachment: u64, schema: option(text), name: text, ifExists: bool }],
  describe_index: [0x08, { attachment: u64, snapshot: option(u64), schema: text, table: text, index: text }],
  read_index: [
    0x09,
    {
      attachment: u64,
      snapshot: option(u64),
      index: u64,
      kind: oneOf(readKinds, "kind of index read"),
      flags: flags(readFlags),
      keys: list(batch),
    },
  ],
  list_indexes: [0x0a, { attachment: u64, snapshot: option(u64), schema: text, table: text }],
  detach: [0x0b, { attachment: u64 }],
  use: [0x0e, { attachment: u64, schema: text, dataSecret: textMap }],
  status: [0x0c, {}],
  stop: [0x0d, {}],
  ...remoteDefinitions,
  failed: [0x7f, { code: text, exception: oneOf(exceptionNumbers, "exception class"), retryable: bool, message: text }],
  welcome: [0x81, { magic, version: u16, server: text, pid: u64 }],
  attached: [0x82, { attachment: u64, exists: bool, dataPath: option(text) }],
  joined: [0x83, {}],
  unchanged: [0x84, {}],
  changes_begin: [0x85, { full: bool }],
  statements: [0x86, { sql: text }],
  rows: [0x87, { schema: text, table: text, batch }],
  changes_end: [0x88, { revision: u64 }],
  committed: [0x89, { revision: u64 }],
  done: [0x8a, { changed: bool }],
  index_shape: [0x8b, { index: u64, unique: bool, columns: list(record({ name: text, type: text })) }],
  row_ids: [0x8c, { batch }],
  indexes: [0x8d, { batch }],
  status_report: [0x8e, { json: text }],
} as const satisfies Readonly<
  Record<string, readonly [kind: number, fields: Readonly<Record<string, Field<unknown>>>]>
>;

type Definitions = typeof definitions;
export type MessageName = keyof Definitions;

/** One message; `type` is its name. */
export type MessageOf<Name extends MessageName> = { readonly type: Name } & RecordOf<Definitions[Name][1]>;
export type Message = { readonly [Name in MessageName]: MessageOf<Name> }[MessageName];

interface Coding {
  readonly name: MessageName;
  readonly kind: number;
  readonly fields: Field<unknown>;
}

const codings: readonly Coding[] = (Object.keys(definitions) as MessageName[]).map((name) => {
  const [kind, fields] = definitions[name];
  return { name, kind, fields: record(fields) as Field<unknown> };
});
const byName = new Map(codings.map((coding) => [coding.name, coding]));
const byKind = new Map(codings.map((coding) => [coding.kind, coding]));

export const messageNames: readonly MessageName[] = codings.map(({ name }) => name);

/** A whole frame, its length included. Fails with `ProtocolError` for values that no frame holds. */
export function encodeFrame(message: Message): Uint8Array {
  const coding = byName.get(message.type);
  if (coding === undefined) throw new ProtocolError("there is no message of that name");
  const to = new ByteWriter();
  to.u8(coding.kind);
  coding.fields.write(to, message);
  return to.finish();
}

/** The message of a frame without its length. Fails with `ProtocolError`; batches are views of `bytes`. */
export function decodeFrame(bytes: Uint8Array): Message {
  const from = new ByteReader(bytes);
  const kind = from.u8();
  const coding = byKind.get(kind);
  if (coding === undefined) throw new ProtocolError(`there is no kind of message ${kind}`);
  const message = { type: coding.name, ...(coding.fields.read(from) as object) } as Message;
  from.end();
  return message;
}
