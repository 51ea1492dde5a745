import { afterAll, beforeAll, expect, test } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { withPageIndex } from "../test/support/page-index.js";
import { fromVector, scanRows } from "../test/support/values.js";
import { type FileSource, scanFile } from "./index.js";
import { parseFooter } from "./parquet/footer.js";

let lake: TestLake;
let source: FileSource;
const count = 100_000;
const columns = [request("a", "BIGINT"), request("b", "VARCHAR")];

beforeAll(async () => {
  lake = await TestLake.create();
  const query = `SELECT i::BIGINT AS a, md5(i::VARCHAR) AS b, CASE WHEN i % 2 = 0 THEN i % 100 END AS c FROM range(${count}) t(i)`;
  await lake.write("plain.parquet", query);
  await lake.writeBytes("indexed.parquet", await withPageIndex(lake, "plain.parquet", 4096, 50_000), BigInt(count));
  source = await lake.source("indexed.parquet");
});
afterAll(async () => {
  await lake.close();
});

test("all rows are read as without an index", async () => {
  const rows = await scanRows(source, { columns, rowIds: "lineage" });
  const plain = await scanRows(await lake.source("plain.parquet"), { columns, rowIds: "lineage" });
  const text = ({ position, rowId, values }: (typeof rows)[number]): string =>
    `${position} ${rowId} ${values.join(" ")}`;
  expect(rows.map(text).join("\n") === plain.map(text).join("\n")).toBe(true);
  expect(rows).toHaveLength(count);
});

test("a few positions read a few pages, and give the same rows", async () => {
  const positions = [17, 18, 49_999, 50_000, 77_777, count - 1];
  const read = async (file: FileSource): Promise<[unknown, number]> => {
    lake.store.reset();
    return [await scanRows(file, { columns, rowIds: "lineage", positions }), lake.store.bytesRead];
  };
  const [withIndex, indexedBytes] = await read(source);
  const [without] = await read(await lake.source("plain.parquet"));
  expect(withIndex).toEqual(without);
  // Footer and page indexes come on top of the pages themselves.
  expect(indexedBytes).toBeLessThan(source.sizeBytes / 8);
  lake.store.reset();
  await scanRows(source, { columns, rowIds: "lineage", positions });
  expect(lake.store.calls).toBeLessThanOrEqual(3);
});

test("NULLs and dictionaries survive the selection of pages", async () => {
  const positions = Array.from({ length: 200 }, (_, i) => i * 499);
  const rows = await scanRows(source, { columns: [request("c", "BIGINT")], rowIds: "none", positions });
  expect(rows.map(({ values }) => values[0])).toEqual(
    positions.map((position) => (position % 2 === 0 ? BigInt(position % 100) : null)),
  );
});

test("columns whose pages end at different rows stay side by side in one long row group", async () => {
  const query = "SELECT i::BIGINT AS a, repeat('x', (i % 37)::INT) || i AS b, i % 100 AS c FROM range(300000) t(i)";
  await lake.write("long.parquet", query);
  await lake.writeBytes("one-group.parquet", await withPageIndex(lake, "long.parquet", 20_000, 300_000), 300_000n);
  const file = await lake.source("one-group.parquet");
  const three = [request("c", "SMALLINT"), request("b", "VARCHAR"), request("a", "BIGINT")];
  let next = 0;
  let wrong = 0;
  for await (const { columns: vectors, positions, length } of scanFile(file, { columns: three, rowIds: "none" })) {
    const [small, text, big] = vectors;
    if (small === undefined || text === undefined || big === undefined) throw new Error("a column is missing");
    for (let i = 0; i < length; i++, next++) {
      const isRow = positions[i] === next && big.values[i] === BigInt(next) && small.values[i] === next % 100;
      if (!isRow || (next % 997 === 0 && fromVector(text, i) !== `${"x".repeat(next % 37)}${next}`)) wrong++;
    }
  }
  expect([next, wrong]).toEqual([300_000, 0]);
});

test("a damaged page index is a typed error, never a shifted row", async () => {
  const bytes = await lake.bytes("indexed.parquet");
  const metadata = bytes.subarray(bytes.length - 8 - (source.footerSizeBytes ?? 0), bytes.length - 8);
  const index = parseFooter(metadata).chunk(1, 0, bytes.length).offsetIndex;
  if (index === null) throw new Error("the file has no page index");
  const positions = [60_000, 99_000];
  let refused = 0;
  for (let at = index.offset; at < index.offset + index.length; at += 17) {
    const damaged = bytes.slice();
    damaged[at] = (damaged[at] ?? 0) ^ 0x15;
    const file = await lake.writeBytes("damaged.parquet", damaged, BigInt(count));
    try {
      const rows = await scanRows(file, { columns: [request("a", "BIGINT")], rowIds: "none", positions });
      expect(rows.map(({ values }) => values[0])).toEqual([60_000n, 99_000n]);
    } catch (error) {
      expect(error).toMatchObject({ code: "data_file" });
      refused++;
    }
  }
  expect(refused).toBeGreaterThan(0);
});
