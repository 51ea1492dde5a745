import { CorruptionError } from "@moraine/codec";

/**
 * The body of an inline chunk is one Arrow IPC record batch without its stream framing: a little-endian `u32` with the length
 * of the message flatbuffer, the flatbuffer, then the buffers. The flatbuffer of a record batch has one shape, so it is
 * written and read here directly: going through a general Arrow writer costs more than the rest of a small commit.
 */

/** One buffer of a record batch, as a view into the body. */
export type BodyBuffer = Uint8Array;

/** Length and number of NULLs of one field, in depth-first order of the schema. */
export interface FieldNode {
  readonly length: number;
  readonly nullCount: number;
}

/** A record batch taken apart: what the schema needs to become columns again. */
export interface RecordBatchParts {
  readonly length: number;
  readonly nodes: readonly FieldNode[];
  readonly buffers: readonly BodyBuffer[];
}

const bufferAlignmentBytes = 8;
const metadataVersionV5 = 4;
const headerTypeRecordBatch = 3;
const fixedHeaderBytes = 88;
const structBytes = 16;
const maxBodyBytes = 0x7fff_ffff;

function aligned(bytes: number): number {
  return Math.ceil(bytes / bufferAlignmentBytes) * bufferAlignmentBytes;
}

/** Encodes a record batch as the body of an inline chunk. */
export function encodeBody(parts: RecordBatchParts): Uint8Array {
  const { nodes, buffers } = parts;
  const messageBytes = fixedHeaderBytes + structBytes * nodes.length + 8 + structBytes * buffers.length;
  let bodyBytes = 0;
  for (const buffer of buffers) bodyBytes += aligned(buffer.byteLength);
  const out = new Uint8Array(4 + messageBytes + bodyBytes);
  const view = new DataView(out.buffer);
  view.setUint32(0, messageBytes, true);
  const at = 4;
  // Message table at 16, its vtable at 4: fields version, header type, header, body length.
  view.setUint32(at, 16, true);
  view.setUint16(at + 4, 12, true);
  view.setUint16(at + 6, 24, true);
  view.setUint16(at + 8, 16, true);
  view.setUint16(at + 10, 18, true);
  view.setUint16(at + 12, 4, true);
  view.setUint16(at + 14, 8, true);
  view.setInt32(at + 16, 12, true);
  view.setUint32(at + 20, 36, true);
  view.setBigInt64(at + 24, BigInt(bodyBytes), true);
  view.setInt16(at + 32, metadataVersionV5, true);
  view.setUint8(at + 34, headerTypeRecordBatch);
  // RecordBatch table at 56, its vtable at 40: fields length, nodes, buffers.
  view.setUint16(at + 40, 10, true);
  view.setUint16(at + 42, 24, true);
  view.setUint16(at + 44, 8, true);
  view.setUint16(at + 46, 4, true);
  view.setUint16(at + 48, 16, true);
  view.setInt32(at + 56, 16, true);
  view.setUint32(at + 60, 24, true);
  view.setBigInt64(at + 64, BigInt(parts.length), true);
  view.setUint32(at + 72, 20 + structBytes * nodes.length, true);
  view.setUint32(at + 84, nodes.length, true);
  let position = at + fixedHeaderBytes;
  for (const node of nodes) {
    view.setBigInt64(position, BigInt(node.length), true);
    view.setBigInt64(position + 8, BigInt(node.nullCount), true);
    position += structBytes;
  }
  view.setUint32(position + 4, buffers.length, true);
  position += 8;
  let offset = 0;
  const bodyStart = at + messageBytes;
  for (const buffer of buffers) {
    view.setBigInt64(position, BigInt(offset), true);
    view.setBigInt64(position + 8, BigInt(buffer.byteLength), true);
    position += structBytes;
    out.set(buffer, bodyStart + offset);
    offset += aligned(buffer.byteLength);
  }
  return out;
}

function damaged(what: string): CorruptionError {
  return new CorruptionError(`inline chunk body: ${what}`);
}

/** Checked access to the tables of a flatbuffer. Every offset comes from outside, so every step is bounds-checked. */
class FlatTable {
  readonly #view: DataView;
  readonly #start: number;
  readonly #position: number;
  readonly #vtable: number;
  readonly #vtableBytes: number;

  constructor(view: DataView, start: number, position: number) {
    this.#view = view;
    this.#start = start;
    this.#position = position;
    if (position < 0 || position + 4 > view.byteLength) throw damaged("table outside of the message");
    this.#vtable = position - view.getInt32(position, true);
    if (this.#vtable < 0 || this.#vtable + 4 > view.byteLength)
      throw damaged("table description outside of the message");
    this.#vtableBytes = view.getUint16(this.#vtable, true);
    if (this.#vtable + this.#vtableBytes > view.byteLength) throw damaged("table description cut short");
  }

  static root(view: DataView): FlatTable {
    if (view.byteLength < 4) throw damaged("message cut short");
    return new FlatTable(view, 0, view.getUint32(0, true));
  }

  #field(index: number, bytes: number): number | undefined {
    const slot = 4 + 2 * index;
    if (slot + 2 > this.#vtableBytes) return undefined;
    const offset = this.#view.getUint16(this.#vtable + slot, true);
    if (offset === 0) return undefined;
    const position = this.#position + offset;
    if (position + bytes > this.#view.byteLength) throw damaged("field outside of the message");
    return position;
  }

  uint8(index: number): number {
    const position = this.#field(index, 1);
    return position === undefined ? 0 : this.#view.getUint8(position);
  }

  /** A 64-bit count or offset. Arrow's are signed; a negative or unsafe one is damage. */
  count(index: number): number {
    const position = this.#field(index, 8);
    return position === undefined ? 0 : readCount(this.#view, position);
  }

  has(index: number): boolean {
    return this.#field(index, 1) !== undefined;
  }

  table(index: number): FlatTable | undefined {
    const position = this.#field(index, 4);
    return position === undefined
      ? undefined
      : new FlatTable(this.#view, this.#start, position + this.#view.getUint32(position, true));
  }

  /** Positions of the first element and number of elements of a vector of 16-byte structs. */
  structs(index: number): { readonly position: number; readonly count: number } {
    const position = this.#field(index, 4);
    if (position === undefined) return { position: 0, count: 0 };
    const vector = position + this.#view.getUint32(position, true);
    if (vector + 4 > this.#view.byteLength) throw damaged("vector outside of the message");
    const count = this.#view.getUint32(vector, true);
    if (vector + 4 + count * structBytes > this.#view.byteLength) throw damaged("vector cut short");
    return { position: vector + 4, count };
  }
}

function readCount(view: DataView, position: number): number {
  const value = view.getBigInt64(position, true);
  if (value < 0n || value > BigInt(maxBodyBytes)) throw damaged("length out of range");
  return Number(value);
}

/** Takes the body of an inline chunk apart. Buffers are views into `body`, copied only where alignment asks for it. */
export function decodeBody(body: Uint8Array): RecordBatchParts {
  const whole = new DataView(body.buffer, body.byteOffset, body.byteLength);
  if (body.byteLength < 4) throw damaged("shorter than its length field");
  const messageBytes = whole.getUint32(0, true);
  if (4 + messageBytes > body.byteLength) throw damaged("message cut short");
  const view = new DataView(body.buffer, body.byteOffset + 4, messageBytes);
  const message = FlatTable.root(view);
  if (message.uint8(1) !== headerTypeRecordBatch) throw damaged("not a record batch");
  const batch = message.table(2);
  if (batch === undefined) throw damaged("no record batch");
  if (batch.has(3)) throw damaged("compressed record batch");
  const nodes: FieldNode[] = [];
  const nodeVector = batch.structs(1);
  for (let i = 0; i < nodeVector.count; i++) {
    const position = nodeVector.position + i * structBytes;
    nodes.push({ length: readCount(view, position), nullCount: readCount(view, position + 8) });
  }
  const buffers: BodyBuffer[] = [];
  const bodyStart = 4 + messageBytes;
  const bufferVector = batch.structs(2);
  for (let i = 0; i < bufferVector.count; i++) {
    const position = bufferVector.position + i * structBytes;
    const offset = bodyStart + readCount(view, position);
    const length = readCount(view, position + 8);
    if (offset + length > body.byteLength) throw damaged("buffer outside of the body");
    const bytes = body.subarray(offset, offset + length);
    buffers.push(bytes.byteOffset % bufferAlignmentBytes === 0 ? bytes : bytes.slice());
  }
  return { length: batch.count(0), nodes, buffers };
}
