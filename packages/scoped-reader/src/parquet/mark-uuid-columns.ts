import { DataFileError } from "@moraine/codec";
import { footerLength, trailerBytes } from "./footer.js";
import { ThriftReader, thriftType } from "./thrift-reader.js";

const uuidBytes = 16;
const fixedLengthByteArray = 7;
const logicalTypeId = 10;
const uuidMember = 14;

/**
 * Marks sixteen-byte columns of a Parquet file as UUIDs, by field id, at any depth. Writers that go through Arrow store
 * them as plain binary, which DuckDB then reads as BLOB. Only the footer changes: each such column's schema element gets
 * the logical type UUID, unless it has one. Returns a new file.
 *
 * Errors: `data_file` when the bytes are no Parquet file or a named column does not hold sixteen bytes.
 */
export function markUuidColumns(file: Uint8Array, fieldIds: ReadonlySet<number>): Uint8Array {
  try {
    const length = footerLength(file.subarray(-trailerBytes));
    const start = file.length - trailerBytes - length;
    const footer = file.subarray(Math.max(start, 0), file.length - trailerBytes);
    const marks = marksOf(footer, fieldIds);
    const marked = new Uint8Array(file.length + marks.reduce((sum, { bytes }) => sum + bytes.length, 0));
    marked.set(file.subarray(0, start));
    let from = 0;
    let to = start;
    for (const { at, bytes } of marks) {
      marked.set(footer.subarray(from, at), to);
      to += at - from;
      marked.set(bytes, to);
      to += bytes.length;
      from = at;
    }
    marked.set(footer.subarray(from), to);
    to += footer.length - from;
    new DataView(marked.buffer).setUint32(to, to - start, true);
    marked.set(file.subarray(-4), to + 4);
    return marked;
  } catch (error) {
    if (error instanceof DataFileError) throw error;
    throw new DataFileError("the bytes to mark are no complete Parquet file", {
      remedy: "Pass the whole file as its writer returned it.",
      cause: error,
    });
  }
}

interface Mark {
  /** Offset in the footer of the byte that ends the schema element. */
  readonly at: number;
  readonly bytes: Uint8Array;
}

function marksOf(footer: Uint8Array, fieldIds: ReadonlySet<number>): Mark[] {
  const reader = new ThriftReader(footer);
  const marks: Mark[] = [];
  reader.struct((id, type) => {
    if (id !== 2) return false;
    reader.list(type, () => {
      const mark = markOf(reader, fieldIds);
      if (mark !== undefined) marks.push(mark);
    });
    return true;
  });
  return marks;
}

function markOf(reader: ThriftReader, fieldIds: ReadonlySet<number>): Mark | undefined {
  let fieldId: number | undefined;
  let physicalType = -1;
  let width = 0;
  let lastId = 0;
  reader.struct((id, type) => {
    lastId = id;
    if (id === 1) physicalType = reader.i32(type);
    else if (id === 2) width = reader.i32(type);
    else if (id === 9) fieldId = reader.i32(type);
    else return false;
    return true;
  });
  if (fieldId === undefined || !fieldIds.has(fieldId)) return undefined;
  if (physicalType !== fixedLengthByteArray || width !== uuidBytes) {
    throw new DataFileError(`the column with field id ${fieldId} does not hold values of ${uuidBytes} bytes`, {
      remedy: "Write UUID columns as fixed binary of sixteen bytes.",
    });
  }
  if (lastId >= logicalTypeId) return undefined;
  // logicalType { UUID {} }: two nested structs, each ended by a zero byte.
  const bytes = Uint8Array.of(
    ((logicalTypeId - lastId) << 4) | thriftType.struct,
    (uuidMember << 4) | thriftType.struct,
    0,
    0,
  );
  return { at: reader.at - 1, bytes };
}
