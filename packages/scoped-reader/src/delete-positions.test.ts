import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TestLake } from "../test/support/lake.js";
import { type DeleteFileSource, readDeletePositions } from "./index.js";

let lake: TestLake;
let files = 0;
beforeAll(async () => {
  lake = await TestLake.create();
});
afterAll(async () => {
  await lake.close();
});

const ids = "FIELD_IDS {file_path: 2147483546, pos: 2147483545}";
const write = async (query: string, options = ids): Promise<DeleteFileSource> =>
  await lake.write(`${files++}.parquet`, query, options);
const deletes = (list: string): string =>
  `SELECT 'main/t/data.parquet' AS file_path, unnest([${list}]::BIGINT[]) AS pos`;

test("positions are read, and only they", async () => {
  const source = await write(
    `SELECT md5(i::VARCHAR) || repeat('path', 50) AS file_path, i * 3 AS pos FROM range(20000) t(i)`,
  );
  lake.store.reset();
  const positions = await readDeletePositions(source, { recordCount: 60_000n });
  expect(positions).toEqual(Float64Array.from({ length: 20_000 }, (_, i) => i * 3));
  expect(lake.store.bytesRead).toBeLessThan(source.sizeBytes / 3);
});

test("positions come sorted, each once", async () => {
  expect(await readDeletePositions(await write(deletes("9, 2, 9, 4, 2")), { recordCount: 10n })).toEqual(
    Float64Array.of(2, 4, 9),
  );
});

test("a delete file without rows names none", async () => {
  const source = await write(`${deletes("1")} LIMIT 0`);
  expect(await readDeletePositions(source, { recordCount: 10n })).toEqual(new Float64Array(0));
});

test("a position beyond the target is a constraint", async () => {
  const source = await write(deletes("3, 10"));
  expect(await readDeletePositions(source, { recordCount: 11n })).toEqual(Float64Array.of(3, 10));
  await expect(readDeletePositions(source, { recordCount: 10n })).rejects.toMatchObject({ code: "constraint" });
});

test.each(["1, NULL", "-1, 2"])("positions %s are corruption", async (list) => {
  await expect(readDeletePositions(await write(deletes(list)), { recordCount: 10n })).rejects.toMatchObject({
    code: "corruption",
  });
});

test("another delete count than recorded is corruption", async () => {
  const source = await write(deletes("1, 2"));
  await expect(readDeletePositions({ ...source, recordCount: 3n }, { recordCount: 10n })).rejects.toMatchObject({
    code: "corruption",
  });
});

describe("rows that carry the snapshot of their deletion", () => {
  const query = "SELECT 'f' AS file_path, i AS pos, 10 + i AS _ducklake_internal_snapshot_id FROM range(5) t(i)";

  test("count up to a snapshot when one is given", async () => {
    const source = await write(query, "");
    expect(await readDeletePositions(source, { recordCount: 5n, atSnapshot: 12n })).toEqual(Float64Array.of(0, 1, 2));
    expect(await readDeletePositions(source, { recordCount: 5n })).toEqual(Float64Array.of(0, 1, 2, 3, 4));
  });

  test("a snapshot means nothing to a file without them", async () => {
    expect(await readDeletePositions(await write(deletes("1, 2")), { recordCount: 5n, atSnapshot: 0n })).toEqual(
      Float64Array.of(1, 2),
    );
  });
});

test("a file without the column is refused", async () => {
  await expect(readDeletePositions(await write("SELECT 1 AS other", ""), { recordCount: 10n })).rejects.toMatchObject({
    code: "data_file",
  });
});

test("a Puffin file is unsupported", async () => {
  const bytes = new TextEncoder().encode("PFA1 deletion vectors                     PFA1");
  const source = await lake.writeBytes("deletes.puffin", bytes, 1n);
  await expect(readDeletePositions(source, { recordCount: 10n })).rejects.toMatchObject({ code: "unsupported" });
});

test("an encrypted file is unsupported", async () => {
  const source = { ...(await write(deletes("1"))), encrypted: true };
  await expect(readDeletePositions(source, { recordCount: 10n })).rejects.toMatchObject({ code: "unsupported" });
});
