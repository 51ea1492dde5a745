import { damagedMessage, FlatTable } from "./flat-table.js";

/**
 * A check of Arrow's schema message before a general Arrow reader sees it. Such a reader trusts the offsets of the
 * flatbuffer: damaged bytes make it loop or allocate without end, where this walk answers within a bounded number of steps.
 * Field numbers are those of Arrow's `Schema.fbs` and `Message.fbs`.
 */

const continuation = 0xffff_ffff;
const headerTypeSchema = 1;
const maxDepth = 64;

const message = { headerType: 1, header: 2, bodyLength: 3 } as const;
const schema = { fields: 1, metadata: 2 } as const;
const field = { name: 0, typeKind: 2, type: 3, dictionary: 4, children: 5, metadata: 6 } as const;
const keyValue = { key: 0, value: 1 } as const;

const typeKinds = {
  int: 2,
  decimal: 7,
  timestamp: 10,
  list: 12,
  union: 14,
  fixedSizeBinary: 15,
  fixedSizeList: 16,
  map: 17,
  largeList: 21,
  last: 26,
} as const;
const withOneChild: readonly number[] = [typeKinds.list, typeKinds.fixedSizeList, typeKinds.map, typeKinds.largeList];
const maxFixedBytes = 0x00ff_ffff;

/** Counts down the tables a message of its size can hold, so that tables shared by reference cannot multiply the work. */
class Budget {
  #left: number;
  constructor(bytes: number) {
    // A table takes four bytes for its vtable offset, and the vector that names it four more.
    this.#left = Math.ceil(bytes / 8);
  }
  spend(): void {
    if (this.#left-- <= 0) throw damagedMessage("more tables than the message has room for");
  }
}

function checkMetadata(table: FlatTable, index: number, budget: Budget): void {
  for (const pair of table.tables(index)) {
    budget.spend();
    pair.vector(keyValue.key, 1);
    pair.vector(keyValue.value, 1);
  }
}

function checkType(kind: number, type: FlatTable | undefined): void {
  if (kind === 0 || kind > typeKinds.last || type === undefined) throw damagedMessage(`field of type kind ${kind}`);
  if (kind === typeKinds.int && ![8, 16, 32, 64].includes(type.int32(0))) {
    throw damagedMessage(`integer of ${type.int32(0)} bits`);
  }
  if (kind === typeKinds.timestamp) type.vector(1, 1);
  if (kind === typeKinds.union) type.vector(1, 4);
  if (kind === typeKinds.fixedSizeBinary || kind === typeKinds.fixedSizeList) {
    const width = type.int32(0);
    if (width < 0 || width > maxFixedBytes) throw damagedMessage(`fixed width of ${width}`);
  }
  if (kind === typeKinds.decimal) {
    // An absent bit width means 128.
    const bits = type.has(2) ? type.int32(2) : 128;
    if (![32, 64, 128, 256].includes(bits)) throw damagedMessage(`decimal of ${bits} bits`);
  }
}

function checkField(table: FlatTable, depth: number, budget: Budget): void {
  budget.spend();
  if (depth > maxDepth) throw damagedMessage(`fields nested deeper than ${maxDepth}`);
  table.vector(field.name, 1);
  const kind = table.uint8(field.typeKind);
  checkType(kind, table.table(field.type));
  table.table(field.dictionary)?.table(1);
  checkMetadata(table, field.metadata, budget);
  const children = table.vector(field.children, 4).count;
  if (withOneChild.includes(kind) && children !== 1) throw damagedMessage(`list with ${children} children`);
  for (const child of table.tables(field.children)) {
    checkField(child, depth + 1, budget);
    if (kind === typeKinds.map && child.vector(field.children, 4).count !== 2) {
      throw damagedMessage("map whose entries are no pairs");
    }
  }
}

/**
 * The part of a schema record that holds its schema message, framing included: an IPC stream with nothing but the schema.
 * Fails with `corruption` where the bytes are no well-formed schema message; time and memory are linear in `bytes`.
 */
export function checkedSchemaMessage(bytes: Uint8Array): Uint8Array {
  const whole = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.byteLength < 8) throw damagedMessage("shorter than its framing");
  const start = whole.getUint32(0, true) === continuation ? 8 : 4;
  const messageBytes = whole.getUint32(start - 4, true);
  const end = start + messageBytes;
  if (end > bytes.byteLength) throw damagedMessage("cut short");
  const root = FlatTable.root(new DataView(bytes.buffer, bytes.byteOffset + start, messageBytes));
  const header = root.table(message.header);
  if (root.uint8(message.headerType) !== headerTypeSchema || header === undefined) throw damagedMessage("not a schema");
  if (root.count(message.bodyLength) !== 0) throw damagedMessage("schema with a body");
  const budget = new Budget(messageBytes);
  checkMetadata(header, schema.metadata, budget);
  for (const child of header.tables(schema.fields)) checkField(child, 1, budget);
  return bytes.subarray(0, end);
}
