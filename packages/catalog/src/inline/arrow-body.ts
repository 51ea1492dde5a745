import { CorruptionError } from "@moraine/codec";
import { FlatTable } from "./flat-table.js";

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

/**
 * Takes the body of an inline chunk apart. Buffers are views into `body`.
 *
 * Errors: `corruption` for bytes that are no record batch of so many rows.
 */
export function decodeBody(body: Uint8Array, rowCount: number): RecordBatchParts {
  const whole = new DataView(body.buffer, body.byteOffset, body.byteLength);
  if (body.byteLength < 4) throw damaged("shorter than its length field");
  const messageBytes = whole.getUint32(0, true);
  if (4 + messageBytes > body.byteLength) throw damaged("message cut short");
  const view = new DataView(body.buffer, body.byteOffset + 4, messageBytes);
  const message = FlatTable.root(view, "inline chunk body");
  if (message.uint8(1) !== headerTypeRecordBatch) throw damaged("not a record batch");
  const batch = message.table(2);
  if (batch === undefined) throw damaged("no record batch");
  if (batch.has(3)) throw damaged("compressed record batch");
  const nodes: FieldNode[] = [];
  const nodeVector = batch.vector(1, structBytes);
  for (let i = 0; i < nodeVector.count; i++) {
    const position = nodeVector.position + i * structBytes;
    nodes.push({ length: batch.countAt(position), nullCount: batch.countAt(position + 8) });
  }
  const buffers: BodyBuffer[] = [];
  const bodyStart = 4 + messageBytes;
  const bufferVector = batch.vector(2, structBytes);
  for (let i = 0; i < bufferVector.count; i++) {
    const position = bufferVector.position + i * structBytes;
    const offset = bodyStart + batch.countAt(position);
    const length = batch.countAt(position + 8);
    if (offset + length > body.byteLength) throw damaged("buffer outside of the body");
    buffers.push(body.subarray(offset, offset + length));
  }
  const length = batch.count(0);
  if (length !== rowCount) throw damaged(`${length} rows in place of ${rowCount}`);
  return { length, nodes, buffers };
}
