import { limits } from "../limits.js";
import { MalformedFile, UnsupportedFile } from "../malformed.js";
import type { ColumnChunk } from "./footer.js";
import { ThriftReader } from "./thrift-reader.js";

/** One data page of a flat column: its rows, counted from the start of the row group, and its bytes with header. */
export interface DataPage {
  readonly firstRow: number;
  readonly rows: number;
  readonly encoding: number;
  /** What the page takes when it is decompressed. */
  readonly uncompressedBytes: number;
  readonly bytes: Uint8Array;
}

/** The pages of a column chunk, or of a selection of it, in row order. */
export interface ChunkPages {
  /** The dictionary page with its header; empty when the chunk has none. */
  readonly dictionary: Uint8Array;
  readonly pages: readonly DataPage[];
}

/** Where a data page lies, as a page index tells. */
export interface PageLocation {
  readonly offset: number;
  readonly length: number;
  readonly firstRow: number;
  readonly rows: number;
}

/** DELTA_BINARY_PACKED, among the encodings of data pages. */
export const deltaEncoding = 5;

const pageType = { data: 0, index: 1, dictionary: 2, dataV2: 3 } as const;

interface PageHeader {
  readonly type: number;
  readonly uncompressedBytes: number;
  readonly compressedBytes: number;
  readonly values: number;
  readonly encoding: number;
  readonly headerBytes: number;
}

/** Splits a whole column chunk into pages. Their rows must add up to the chunk's: a short page would shift rows unseen. */
export function splitPages(bytes: Uint8Array, chunk: ColumnChunk): ChunkPages {
  let dictionary = bytes.subarray(0, 0);
  const pages: DataPage[] = [];
  let at = 0;
  let row = 0;
  while (at < bytes.length && row < chunk.values) {
    const header = readPageHeader(bytes, at);
    const end = at + header.headerBytes + header.compressedBytes;
    if (end > bytes.length) throw new MalformedFile("a page ends outside its column chunk");
    if (header.type === pageType.dictionary) {
      if (dictionary.length > 0 || pages.length > 0) throw new MalformedFile("a dictionary page is out of place");
      dictionary = bytes.subarray(at, end);
    } else if (header.type !== pageType.index) {
      pages.push(dataPage(header, row, bytes.subarray(at, end)));
      row += header.values;
    }
    at = end;
  }
  if (row !== chunk.values)
    throw new MalformedFile(`the pages of a column chunk hold ${row} of its ${chunk.values} rows`);
  return { dictionary, pages };
}

/** Checks that a page fetched by page index is the one that the index promised. */
export function checkedPage(bytes: Uint8Array, location: PageLocation): DataPage {
  const header = readPageHeader(bytes, 0);
  const isData = header.type === pageType.data || header.type === pageType.dataV2;
  const length = header.headerBytes + header.compressedBytes;
  if (!isData || header.values !== location.rows || length > bytes.length) {
    throw new MalformedFile("a page is not what the page index says");
  }
  return dataPage(header, location.firstRow, bytes.subarray(0, length));
}

/** The dictionary page among the bytes before a chunk's first data page; empty when there are none. */
export function checkedDictionary(bytes: Uint8Array): Uint8Array {
  if (bytes.length === 0) return bytes;
  const header = readPageHeader(bytes, 0);
  const length = header.headerBytes + header.compressedBytes;
  if (header.type !== pageType.dictionary || length > bytes.length) {
    throw new MalformedFile("a dictionary page is not what the page index says");
  }
  return bytes.subarray(0, length);
}

/** Parses an offset index. Its pages must lie inside the chunk, in order, and cover all rows. */
export function parseOffsetIndex(bytes: Uint8Array, chunk: ColumnChunk): PageLocation[] {
  const reader = new ThriftReader(bytes);
  const starts: { offset: number; length: number; firstRow: number }[] = [];
  reader.struct((id, type) => {
    if (id !== 1) return false;
    reader.list(type, () => {
      let [offset, length, firstRow] = [-1, -1, -1];
      reader.struct((fieldId, fieldType) => {
        if (fieldId === 1) offset = reader.u63(fieldType);
        else if (fieldId === 2) length = reader.i32(fieldType);
        else if (fieldId === 3) firstRow = reader.u63(fieldType);
        else return false;
        return true;
      });
      starts.push({ offset, length, firstRow });
    });
    return true;
  });
  let end = chunk.offset;
  return starts.map((page, i) => {
    const nextRow = starts[i + 1]?.firstRow ?? chunk.values;
    const inOrder = page.offset >= end && page.length > 0 && nextRow > page.firstRow && (i > 0 || page.firstRow === 0);
    end = page.offset + page.length;
    if (!inOrder || end > chunk.offset + chunk.length)
      throw new MalformedFile("a page index does not fit its column chunk");
    return { ...page, rows: nextRow - page.firstRow };
  });
}

function dataPage(header: PageHeader, firstRow: number, bytes: Uint8Array): DataPage {
  const { values: rows, encoding, uncompressedBytes } = header;
  return { firstRow, rows, encoding, uncompressedBytes, bytes };
}

function readPageHeader(bytes: Uint8Array, at: number): PageHeader {
  const reader = new ThriftReader(bytes, at);
  let type = -1;
  let uncompressedBytes = -1;
  let compressedBytes = -1;
  let values: number | undefined;
  let encoding = -1;
  reader.struct((id, fieldType) => {
    switch (id) {
      case 1:
        type = reader.i32(fieldType);
        return true;
      case 2:
        uncompressedBytes = reader.i32(fieldType);
        return true;
      case 3:
        compressedBytes = reader.i32(fieldType);
        return true;
      case 5:
      case 8: {
        // Data pages: 1 = values, 2 = encoding; of version 2: 3 = rows, equal to the values of a flat column, 4 = encoding.
        const [valuesId, encodingId] = id === 5 ? [1, 2] : [3, 4];
        reader.struct((headerId, headerType) => {
          if (headerId === valuesId) values = reader.i32(headerType);
          else if (headerId === encodingId) encoding = reader.i32(headerType);
          else return false;
          return true;
        });
        return true;
      }
      default:
        return false;
    }
  });
  if (uncompressedBytes < 0 || compressedBytes < 0) throw new MalformedFile("a page has no valid size");
  if (uncompressedBytes > limits.maxPageBytes) throw new UnsupportedFile(`it has a page of ${uncompressedBytes} bytes`);
  if (type === pageType.data || type === pageType.dataV2) {
    if (values === undefined || values < 0) throw new MalformedFile("a data page has no valid number of values");
  } else if (type !== pageType.dictionary && type !== pageType.index) {
    throw new MalformedFile(`a page has the unknown type ${type}`);
  }
  return { type, uncompressedBytes, compressedBytes, values: values ?? 0, encoding, headerBytes: reader.at - at };
}
