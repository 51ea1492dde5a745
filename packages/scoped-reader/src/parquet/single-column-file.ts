import type { ChunkPages, DataPage } from "./pages.js";
import { type TopLevelField, physicalTypes } from "./schema.js";
import { ThriftWriter } from "./thrift-writer.js";
import { thriftType } from "./thrift-reader.js";

const magic = Uint8Array.of(0x50, 0x41, 0x52, 0x31);
const int96Bytes = 12;

/** Physical values as the decoder returns them: annotations are interpreted on this side. */
export type PlainType = "BOOLEAN" | "INT32" | "INT64" | "FLOAT" | "DOUBLE" | "TEXT" | "BYTES" | "FIXED";

/** How a column's values are asked from the decoder. `byteWidth` is that of FIXED. */
export interface PlainLayout {
  readonly type: PlainType;
  readonly byteWidth: number;
}

/**
 * The layout for a field: its annotation is dropped, so that the decoder applies no conversions of its own (it would,
 * for instance, squeeze INT96 into nanoseconds and lose distant dates), except that text stays text to have its UTF-8
 * checked.
 */
export function plainLayout(field: TopLevelField): PlainLayout | undefined {
  switch (field.physicalType) {
    case undefined:
      return undefined;
    case "BYTE_ARRAY":
      return { type: field.annotation.kind === "string" ? "TEXT" : "BYTES", byteWidth: 0 };
    case "FIXED_LEN_BYTE_ARRAY":
      return { type: "FIXED", byteWidth: field.typeLength };
    case "INT96":
      return { type: "FIXED", byteWidth: int96Bytes };
    default:
      return { type: field.physicalType, byteWidth: 0 };
  }
}

const physicalOf: Readonly<Record<PlainType, (typeof physicalTypes)[number]>> = {
  BOOLEAN: "BOOLEAN",
  INT32: "INT32",
  INT64: "INT64",
  FLOAT: "FLOAT",
  DOUBLE: "DOUBLE",
  TEXT: "BYTE_ARRAY",
  BYTES: "BYTE_ARRAY",
  FIXED: "FIXED_LEN_BYTE_ARRAY",
};

/**
 * Builds, in memory, the smallest Parquet file that holds some neighbouring pages of one column. The bytes of the pages
 * are copied as they are; only the footer is new. This makes one decoder serve every read: a whole chunk, a few pages
 * chosen by page index, a column with a name or an annotation that the decoder would trip over.
 */
export function singleColumnFile(
  dictionary: ChunkPages["dictionary"],
  pages: readonly DataPage[],
  layout: PlainLayout,
  codec: number,
  nullable: boolean,
): Uint8Array {
  let dataBytes = dictionary.length;
  let rows = 0;
  for (const page of pages) {
    dataBytes += page.bytes.length;
    rows += page.rows;
  }
  const footer = footerOf(dictionary.length, dataBytes, rows, layout, codec, nullable);
  const file = new Uint8Array(magic.length + dataBytes + footer.length + 8);
  file.set(magic, 0);
  file.set(dictionary, magic.length);
  let at = magic.length + dictionary.length;
  for (const page of pages) {
    file.set(page.bytes, at);
    at += page.bytes.length;
  }
  file.set(footer, at);
  new DataView(file.buffer).setUint32(at + footer.length, footer.length, true);
  file.set(magic, file.length - magic.length);
  return file;
}

function footerOf(
  dictionaryBytes: number,
  dataBytes: number,
  rows: number,
  layout: PlainLayout,
  codec: number,
  nullable: boolean,
): Uint8Array {
  const physicalType = physicalTypes.indexOf(physicalOf[layout.type]);
  const writer = new ThriftWriter();
  writer.struct(null, () => {
    writer.i32(1, 2);
    writer.list(2, thriftType.struct, 2);
    writer.struct(null, () => {
      writer.text(4, "root");
      writer.i32(5, 1);
    });
    writer.struct(null, () => {
      writer.i32(1, physicalType);
      if (layout.type === "FIXED") writer.i32(2, layout.byteWidth);
      writer.i32(3, nullable ? 1 : 0);
      writer.text(4, "column");
      if (layout.type === "TEXT") writer.i32(6, 0);
    });
    writer.i64(3, rows);
    writer.list(4, thriftType.struct, 1);
    writer.struct(null, () => {
      writer.list(1, thriftType.struct, 1);
      writer.struct(null, () => {
        writer.i64(2, magic.length);
        writer.struct(3, () => {
          writer.i32(1, physicalType);
          writer.list(2, thriftType.i32, 0);
          writer.list(3, thriftType.binary, 1);
          writer.textElement("column");
          writer.i32(4, codec);
          writer.i64(5, rows);
          writer.i64(6, dataBytes);
          writer.i64(7, dataBytes);
          writer.i64(9, magic.length + dictionaryBytes);
          if (dictionaryBytes > 0) writer.i64(11, magic.length);
        });
      });
      writer.i64(2, dataBytes);
      writer.i64(3, rows);
    });
  });
  return writer.finish();
}
