import { createRequire } from "node:module";
import {
  Field,
  Int64,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from "apache-arrow";
import { columnData } from "../inline/arrow-access.js";
import { encodeBody } from "../inline/arrow-body.js";
import { encodeSchema, parseSchema } from "../inline/arrow-schema.js";
import { encodeRows, type PlainRow } from "../inline/encode-rows.js";
import { chunkTable } from "../inline/slice.js";

const parquet = createRequire(import.meta.url)("parquet-wasm/node") as typeof import("parquet-wasm/node");

/** A column of a file that a test writes. */
export interface WrittenColumn {
  /** `undefined` for a column without one, as other writers than DuckLake write it. */
  readonly fieldId: bigint | undefined;
  readonly name: string;
  readonly columnType: string;
}

/** A column of a table, in its files by its field id. */
export interface FileColumn extends WrittenColumn {
  readonly fieldId: bigint;
}

/** Size and footer of a written file, as registrations want them. */
export interface FileFacts {
  readonly bytes: Uint8Array;
  readonly fileSizeBytes: number;
  readonly footerSize: number;
}

/** The column in which DuckLake keeps the ids of rows that do not follow one another. */
export const rowIdColumn: FileColumn = {
  fieldId: 2_147_483_540n,
  name: "_ducklake_internal_row_id",
  columnType: "BIGINT",
};

/** Writes rows of plain values as a Parquet file. */
export function dataFileBytes(columns: readonly WrittenColumn[], rows: readonly PlainRow[]): FileFacts {
  const inline = columns.map(({ name, columnType }) => ({ name, columnType, nullsAllowed: true, children: [] }));
  const table = chunkTable(parseSchema(encodeSchema(inline)), encodeBody(encodeRows(inline, rows)), rows.length);
  const fields = table.schema.fields.map((field, at) => withFieldId(field, columns[at]!.fieldId));
  const children = fields.map((_, at) => columnData(table, at));
  const data = makeData({ type: new Struct(fields), length: rows.length, nullCount: 0, children });
  return facts(new Table([new RecordBatch(new Schema(fields), data)]));
}

/** Writes a delete file of DuckLake's form. */
export function deleteFileBytes(path: string, positions: readonly number[]): FileFacts {
  const filePath = vectorFromArray(
    positions.map(() => path),
    new Utf8(),
  );
  const pos = vectorFromArray(positions.map(BigInt), new Int64());
  return facts(new Table({ file_path: filePath, pos }));
}

function withFieldId(field: Field, id: bigint | undefined): Field {
  if (id === undefined) return field;
  return new Field(field.name, field.type, field.nullable, new Map([["PARQUET:field_id", String(id)]]));
}

function facts(table: Table): FileFacts {
  const bytes = parquet.writeParquet(parquet.Table.fromIPCStream(tableToIPC(table, "stream")));
  const footerSize = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.byteLength - 8, true);
  return { bytes, fileSizeBytes: bytes.byteLength, footerSize };
}
