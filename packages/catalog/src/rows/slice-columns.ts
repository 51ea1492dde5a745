import type { ColumnData } from "./column-data.js";

/** Rows `start` up to, not including, `end` of a column. Shares the column's bytes where it can. */
export function sliceColumn(column: ColumnData, start: number, end: number): ColumnData {
  const rows = end - start;
  if (start === 0 && rows === column.rows) return column;
  const validity = column.validity === undefined ? undefined : sliceBits(column.validity, start, end);
  const { offsets, values, children, type } = column;
  if (offsets !== undefined) {
    const first = offsets[start] ?? 0;
    const last = offsets[end] ?? first;
    return {
      type,
      rows,
      validity,
      offsets: offsets.slice(start, end + 1).map((offset) => offset - first),
      values: values?.subarray(first, last),
      children: children.map((child) => sliceColumn(child, first, last)),
    };
  }
  if (values === undefined) {
    // A struct's fields have as many rows as the struct, an array's element a fixed number for each.
    const perRow = (child: ColumnData): number => (column.rows === 0 ? 1 : child.rows / column.rows);
    const parts = children.map((child) => sliceColumn(child, start * perRow(child), end * perRow(child)));
    return { type, rows, validity, offsets, values, children: parts };
  }
  const width = values.byteLength / column.rows;
  // Booleans are the one type of less than a byte a row, and short columns of them must not pass for bytes.
  const isBits = type.toUpperCase() === "BOOLEAN";
  const part = isBits ? sliceBits(values, start, end) : values.subarray(start * width, end * width);
  return { type, rows, validity, offsets, values: part, children };
}

export function sliceBits(bits: Uint8Array, start: number, end: number): Uint8Array {
  if (start % 8 === 0 && end % 8 === 0) return bits.subarray(start >> 3, end >> 3);
  const out = new Uint8Array((end - start + 7) >> 3);
  for (let row = start; row < end; row++) {
    const bit = ((bits[row >> 3] ?? 0) >> (row & 7)) & 1;
    const at = row - start;
    out[at >> 3] = (out[at >> 3] ?? 0) | (bit << (at & 7));
  }
  return out;
}

/** Whether two columns hold the same values, byte by byte. What is under a NULL counts too, and is zero by the protocol. */
export function sameColumn(a: ColumnData, b: ColumnData): boolean {
  return (
    a.rows === b.rows &&
    a.children.length === b.children.length &&
    sameBits(a.validity, b.validity, a.rows) &&
    sameBytes(a.values, b.values) &&
    sameBytes(bytesOf(a.offsets), bytesOf(b.offsets)) &&
    a.children.every((child, at) => sameColumn(child, b.children[at] as ColumnData))
  );
}

function bytesOf(offsets: Uint32Array | undefined): Uint8Array | undefined {
  return offsets === undefined ? undefined : new Uint8Array(offsets.buffer, offsets.byteOffset, offsets.byteLength);
}

function sameBytes(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return Buffer.compare(a, b) === 0;
}

/** No validity and one without a NULL say the same. */
function sameBits(a: Uint8Array | undefined, b: Uint8Array | undefined, rows: number): boolean {
  for (let row = 0; row < rows; row++) if (isValid(a, row) !== isValid(b, row)) return false;
  return true;
}

/** Whether a row is not NULL. */
export function isValid(validity: Uint8Array | undefined, row: number): boolean {
  return validity === undefined || (((validity[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}
