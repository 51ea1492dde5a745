import { createRequire } from "node:module";
import type { TestLake } from "./lake.js";

const wasm = createRequire(import.meta.url)("parquet-wasm/node") as typeof import("parquet-wasm/node");

/** A file of DuckDB written again by parquet-wasm, which adds a page index: small pages, one row group per `rows`, a dictionary only for column c. */
export async function withPageIndex(
  lake: TestLake,
  from: string,
  pageBytes: number,
  rows: number,
): Promise<Uint8Array> {
  const table = wasm.readParquet(await lake.bytes(from), { batchSize: rows });
  const properties = new wasm.WriterPropertiesBuilder()
    .setDataPageSizeLimit(pageBytes)
    .setWriteBatchSize(64)
    .setMaxRowGroupSize(rows)
    .setStatisticsEnabled(wasm.EnabledStatistics.Page)
    .setCompression(wasm.Compression.SNAPPY)
    .setDictionaryEnabled(false)
    .setColumnDictionaryEnabled("c", true)
    .build();
  return wasm.writeParquet(table, properties);
}

/** Columns of a Parquet file as the Arrow IPC stream of parquet-wasm: a second reader, with types of its own. */
export async function arrowStream(lake: TestLake, name: string): Promise<Uint8Array> {
  return wasm.readParquet(await lake.bytes(name), { batchSize: 100_000 }).intoIPCStream();
}
