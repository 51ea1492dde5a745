import { afterAll, beforeAll, bench, describe } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { withPageIndex } from "../test/support/page-index.js";
import { type ColumnRequest, FooterCache, type FileSource, scanFile, type ScanOptions } from "./index.js";

// Rates come from vitest; the table at the end says what a round costs in bytes, calls of the store and rows a second.
const rows = 1_000_000;
const columns = {
  bigint: request("id", "BIGINT", 1n),
  "bigint, NULLs": request("n", "BIGINT", 2n),
  "integer read as bigint": request("k", "BIGINT", 3n),
  "text of about 11 bytes": request("s", "VARCHAR", 4n),
  UUID: request("u", "UUID", 5n),
  "DECIMAL(30,2)": request("d", "DECIMAL(30,2)", 6n),
  TIMESTAMP_S: request("t", "TIMESTAMP_S", 7n),
  boolean: request("b", "BOOLEAN", 8n),
} as const;

let lake: TestLake;
let file: FileSource;
let indexed: FileSource;
const report: string[] = [];

async function round(name: string, source: FileSource, options: ScanOptions): Promise<void> {
  lake.store.reset();
  const startMs = performance.now();
  let read = 0;
  for await (const batch of scanFile(source, options)) read += batch.length;
  const seconds = (performance.now() - startMs) / 1000;
  const { bytesRead, calls } = lake.store;
  report.push(
    `${name.padEnd(36)} ${String(read).padStart(8)} rows ${(read / seconds / 1e6).toFixed(2).padStart(7)} M rows/s ` +
      `${(bytesRead / 1e6).toFixed(2).padStart(7)} MB ${String(calls).padStart(3)} calls`,
  );
}

beforeAll(async () => {
  lake = await TestLake.create();
  const query = `SELECT i::BIGINT AS id, CASE WHEN i % 7 = 0 THEN NULL ELSE i * 3 END::BIGINT AS n, (i % 1000)::INTEGER AS k, 'name-' || i AS s,
    uuid() AS u, (i / 7)::DECIMAL(30,2) AS d, make_timestamp(i * 1000000)::TIMESTAMP_S AS t, i % 2 = 0 AS b FROM range(${rows}) x(i)`;
  file = await lake.write("bench.parquet", query, "FIELD_IDS {id: 1, n: 2, k: 3, s: 4, u: 5, d: 6, t: 7, b: 8}");
  await lake.write("small.parquet", `SELECT id, s FROM '${lake.path("bench.parquet")}'`);
  await lake.writeBytes(
    "indexed.parquet",
    await withPageIndex(lake, "small.parquet", 64 * 1024, 122_880),
    BigInt(rows),
  );
  indexed = { ...(await lake.source("indexed.parquet")), footers: new FooterCache() };
  file = { ...file, footers: new FooterCache() };
});

afterAll(async () => {
  await lake.close();
  const last = new Map(report.map((line) => [line.slice(0, 36), line]));
  process.stdout.write(`\n${[...last.values()].join("\n")}\n`);
});

const settings = { iterations: 5, time: 0, warmupIterations: 1, warmupTime: 0 };

describe(`one column of ${rows} rows`, () => {
  for (const [name, column] of Object.entries<ColumnRequest>(columns)) {
    bench(name, async () => await round(name, file, { columns: [column], rowIds: "lineage" }), settings);
  }
});

describe("a thousand positions", () => {
  const near = Array.from({ length: 1000 }, (_, i) => 500_000 + i);
  const spread = Array.from({ length: 1000 }, (_, i) => i * 1000);
  const both = [columns.bigint, columns["text of about 11 bytes"]];
  const named = [request("id", "BIGINT"), request("s", "VARCHAR")];
  for (const [place, positions] of [
    ["near", near],
    ["spread", spread],
  ] as const) {
    bench(
      `${place}, no page index`,
      async () => await round(`${place}, no page index`, file, { columns: both, rowIds: "lineage", positions }),
      settings,
    );
    bench(
      `${place}, page index`,
      async () => await round(`${place}, page index`, indexed, { columns: named, rowIds: "lineage", positions }),
      settings,
    );
  }
});
