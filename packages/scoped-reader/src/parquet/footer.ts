import { limits } from "../limits.js";
import { MalformedFile, UnsupportedFile } from "../malformed.js";
import { type ParquetSchema, type SchemaElement, physicalTypes, readSchemaElement, topLevelFields } from "./schema.js";
import { ThriftReader } from "./thrift-reader.js";

/** Where one column of one row group lies in the file. All numbers are bytes, except `values` (rows of a flat column). */
export interface ColumnChunk {
  readonly offset: number;
  readonly length: number;
  readonly values: number;
  readonly codec: number;
  /** `null` when the writer made no page index for the chunk. */
  readonly offsetIndex: { readonly offset: number; readonly length: number } | null;
}

/** What the end of a Parquet file says, as far as a scoped read needs it. */
export class ParquetFooter {
  readonly schema: ParquetSchema;
  readonly rowCount: number;
  /** Rows of each row group. */
  readonly rowGroupRows: readonly number[];
  /** Bytes that the footer takes in the file, for caches. */
  readonly sizeBytes: number;
  readonly #chunks: Float64Array;

  constructor(schema: ParquetSchema, rowGroupRows: readonly number[], chunks: Float64Array, sizeBytes: number) {
    this.schema = schema;
    this.rowGroupRows = rowGroupRows;
    this.rowCount = rowGroupRows.reduce((sum, rows) => sum + rows, 0);
    this.sizeBytes = sizeBytes;
    this.#chunks = chunks;
  }

  /** The chunk of a leaf, checked against the file's size; `MalformedFile` where it cannot be what it says. */
  chunk(rowGroup: number, leaf: number, fileSizeBytes: number): ColumnChunk {
    const at = (rowGroup * this.schema.leafCount + leaf) * chunkNumbers;
    const number = (index: number): number => this.#chunks[at + index] ?? 0;
    const flags = number(6);
    if (flags === encrypted) throw new UnsupportedFile("its columns are encrypted");
    if (flags === elsewhere) throw new UnsupportedFile("its column data lies in another file");
    if (flags === missing) throw new MalformedFile("a column chunk has no metadata");
    const [offset, length, values] = [number(0), number(1), number(2)];
    if (offset < magicBytes || offset + length > fileSizeBytes - 2 * magicBytes - 4) {
      throw new MalformedFile("a column chunk lies outside the file");
    }
    if (!decodableCodecs.has(number(3))) throw new UnsupportedFile(`its compression codec ${number(3)} is not known`);
    const rows = this.rowGroupRows[rowGroup];
    if (values !== rows) throw new MalformedFile(`a column chunk has ${values} values in a row group of ${rows} rows`);
    const [indexOffset, indexLength] = [number(4), number(5)];
    const hasIndex = indexLength > 0 && indexOffset >= magicBytes && indexOffset + indexLength <= fileSizeBytes;
    return {
      offset,
      length,
      values,
      codec: number(3),
      offsetIndex: hasIndex ? { offset: indexOffset, length: indexLength } : null,
    };
  }
}

export const magicBytes = 4;
/** Bytes behind the footer's metadata: its length and the magic number. */
export const trailerBytes = 8;

/** UNCOMPRESSED, SNAPPY, GZIP, BROTLI, LZ4, ZSTD, LZ4_RAW: all but LZO, which nobody writes. */
const decodableCodecs: ReadonlySet<number> = new Set([0, 1, 2, 4, 5, 6, 7]);
const chunkNumbers = 7;
const present = 0;
const encrypted = 1;
const elsewhere = 2;
const missing = 3;

/** Length of the metadata of a file, from its last eight bytes. */
export function footerLength(trailer: Uint8Array): number {
  const view = new DataView(trailer.buffer, trailer.byteOffset, trailer.byteLength);
  const magic = view.getUint32(trailer.byteLength - 4, true);
  if (magic === 0x45524150) throw new UnsupportedFile("it is encrypted"); // "PARE"
  if (magic === 0x31414650) throw new UnsupportedFile("it holds deletion vectors (Puffin)"); // "PFA1"
  if (magic !== 0x31524150) throw new MalformedFile("it does not end like a Parquet file"); // "PAR1"
  const length = view.getUint32(trailer.byteLength - trailerBytes, true);
  if (length > limits.maxFooterBytes) throw new MalformedFile(`its footer of ${length} bytes is too long`);
  return length;
}

/** Parses the metadata of a file (without the trailer). */
export function parseFooter(metadata: Uint8Array): ParquetFooter {
  const reader = new ThriftReader(metadata);
  const elements: SchemaElement[] = [];
  const rowGroupRows: number[] = [];
  let schema: ParquetSchema | undefined;
  let chunks = new Float64Array(0);
  let rowCount: number | undefined;
  let isEncrypted = false;
  reader.struct((id, type) => {
    switch (id) {
      case 2:
        reader.list(type, () => elements.push(readSchemaElement(reader)));
        schema = topLevelFields(elements);
        return true;
      case 3:
        rowCount = reader.u63(type);
        return true;
      case 4: {
        if (schema === undefined) throw new MalformedFile("row groups come before the schema");
        const { leafCount } = schema;
        reader.list(type, (_, index) => {
          const needed = (index + 1) * leafCount * chunkNumbers;
          if (needed > chunks.length) chunks = grown(chunks, Math.max(needed, chunks.length * 2));
          rowGroupRows.push(readRowGroup(reader, chunks, index * leafCount, leafCount));
        });
        return true;
      }
      case 8:
        isEncrypted = true;
        return false;
      default:
        return false;
    }
  });
  if (schema === undefined || rowCount === undefined) throw new MalformedFile("its footer has no schema or row count");
  if (isEncrypted) throw new UnsupportedFile("its columns are encrypted");
  const footer = new ParquetFooter(schema, rowGroupRows, chunks, metadata.length);
  if (footer.rowCount !== rowCount) {
    throw new MalformedFile(`its footer counts ${rowCount} rows and its row groups ${footer.rowCount}`);
  }
  return footer;
}

function grown(from: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const to = new Float64Array(length);
  to.set(from);
  return to;
}

function readRowGroup(reader: ThriftReader, chunks: Float64Array, firstChunk: number, leafCount: number): number {
  let rows: number | undefined;
  let columns = 0;
  reader.struct((id, type) => {
    if (id === 1) {
      reader.list(type, () => {
        if (columns === leafCount) throw new MalformedFile("a row group has more columns than the schema");
        readColumnChunk(reader, chunks, (firstChunk + columns) * chunkNumbers);
        columns++;
      });
      return true;
    }
    if (id === 3) {
      rows = reader.u63(type);
      return true;
    }
    return false;
  });
  if (rows === undefined || columns !== leafCount) {
    throw new MalformedFile(`a row group has ${columns} columns where the schema has ${leafCount}`);
  }
  return rows;
}

function readColumnChunk(reader: ThriftReader, chunks: Float64Array, at: number): void {
  let state: number = missing;
  reader.struct((id, type) => {
    switch (id) {
      case 1:
        if (reader.text(type) !== "") state = elsewhere;
        return true;
      case 3:
        if (state === missing) state = present;
        readColumnMetadata(reader, chunks, at);
        return true;
      case 4:
        chunks[at + 4] = reader.u63(type);
        return true;
      case 5:
        chunks[at + 5] = reader.i32(type);
        return true;
      case 8:
        state = encrypted;
        return false;
      default:
        return false;
    }
  });
  chunks[at + 6] = state;
}

function readColumnMetadata(reader: ThriftReader, chunks: Float64Array, at: number): void {
  let dataPageOffset = -1;
  let dictionaryPageOffset = 0;
  reader.struct((id, type) => {
    switch (id) {
      case 1:
        if (physicalTypes[reader.i32(type)] === undefined)
          throw new MalformedFile("a column chunk has an unknown type");
        return true;
      case 4:
        chunks[at + 3] = reader.i32(type);
        return true;
      case 5:
        chunks[at + 2] = reader.u63(type);
        return true;
      case 7:
        chunks[at + 1] = reader.u63(type);
        return true;
      case 9:
        dataPageOffset = reader.u63(type);
        return true;
      case 11:
        dictionaryPageOffset = reader.i64(type);
        return true;
      default:
        return false;
    }
  });
  if (dataPageOffset < 0) throw new MalformedFile("a column chunk has no data pages");
  // Some writers set the dictionary's offset to 0 when there is none, and some leave it out when there is one.
  chunks[at] = dictionaryPageOffset > 0 ? Math.min(dictionaryPageOffset, dataPageOffset) : dataPageOffset;
}
