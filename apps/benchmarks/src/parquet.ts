import { open } from "node:fs/promises";
import { DuckDBInstance } from "@duckdb/node-api";

export interface WrittenParquet {
  readonly sizeBytes: number;
  /** Length of the footer's metadata. */
  readonly footerSizeBytes: number;
}

/** The end of a Parquet file: the length of its metadata, then four letters. */
const tailBytes = 8;

/** Has DuckDB write the rows of a query to a Parquet file. `fieldIds` as in COPY: `{name: id}`. */
export async function writeParquet(path: string, query: string, fieldIds: string): Promise<WrittenParquet> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "2" });
  const connection = await instance.connect();
  try {
    await connection.run(`COPY (${query}) TO '${path.replaceAll("'", "''")}' (FORMAT parquet, FIELD_IDS ${fieldIds})`);
  } finally {
    connection.closeSync();
    instance.closeSync();
  }
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const { buffer } = await file.read(Buffer.alloc(tailBytes), 0, tailBytes, size - tailBytes);
    return { sizeBytes: size, footerSizeBytes: buffer.readUInt32LE() };
  } finally {
    await file.close();
  }
}
