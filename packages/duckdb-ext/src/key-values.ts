import type { ColumnData, RowBatch } from "@moraine/catalog";
import {
  fromIndexValue,
  type IndexableType,
  InvalidArgumentError,
  parseColumnType,
  parseDuckDbType,
} from "@moraine/codec";

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The rows of a batch of index keys, each as plain values in the catalog's form for their types: packages/catalog/README.md,
 * "Values".
 *
 * Errors: `constraint` for a type that no index holds, `invalid_argument` for text that is not UTF-8.
 */
export function keyRows(batch: RowBatch): unknown[][] {
  const columns = batch.columns.map(valuesOf);
  return Array.from({ length: batch.rows }, (_, row) => columns.map((values) => values[row]));
}

function valuesOf(column: ColumnData): unknown[] {
  const read = readerOf(ducklakeName(column.type), column);
  return Array.from({ length: column.rows }, (_, row) => {
    const isValid = column.validity === undefined || (((column.validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
    return isValid ? read(row) : null;
  });
}

/** DuckDB's own name, which no rule of DuckLake's takes for another type: `INT8` has eight bytes for the one and one for the other. */
function ducklakeName(text: string): string {
  const { name, precision, scale } = parseDuckDbType(text);
  return name === "DECIMAL" ? `DECIMAL(${precision},${scale})` : name;
}

function readerOf(columnType: string, column: ColumnData): (row: number) => unknown {
  const type = parseColumnType(columnType);
  const bytes = column.values ?? new Uint8Array();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const offsets = column.offsets ?? new Uint32Array(column.rows + 1);
  const part = (row: number): Uint8Array => bytes.subarray(offsets[row], offsets[row + 1]);
  switch (type.logical) {
    case "boolean":
      return (row) => (((bytes[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
    case "string":
      return (row) => decoded(part(row));
    case "blob":
      return (row) => part(row).slice();
    case "uuid":
      return (row) => bytes.slice(row * 16, row * 16 + 16);
    case "float":
      return type.valueType === "float32"
        ? (row) => view.getFloat32(row * 4, true)
        : (row) => view.getFloat64(row * 8, true);
    case "decimal":
      return (row) => {
        const high = view.getBigInt64(row * 16 + 8, true);
        return fromIndexValue(columnType, (high << 64n) | view.getBigUint64(row * 16, true));
      };
    case "integer":
    case "date":
    case "time":
    case "timestamp":
      return (row) => fromIndexValue(columnType, integerAt(view, type, row));
  }
}

function integerAt(view: DataView, type: IndexableType, row: number): bigint {
  switch (type.valueType) {
    case "int8":
      return BigInt(view.getInt8(row));
    case "uint8":
      return BigInt(view.getUint8(row));
    case "int16":
      return BigInt(view.getInt16(row * 2, true));
    case "uint16":
      return BigInt(view.getUint16(row * 2, true));
    case "int32":
      return BigInt(view.getInt32(row * 4, true));
    case "uint32":
      return BigInt(view.getUint32(row * 4, true));
    case "uint64":
      return view.getBigUint64(row * 8, true);
    default:
      return view.getBigInt64(row * 8, true);
  }
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes);
  } catch (cause) {
    throw new InvalidArgumentError(`a key holds a text of ${bytes.length} bytes that is not UTF-8`, {
      remedy: "Look up text that is UTF-8.",
      cause,
    });
  }
}
