import {
  encodeIndexEntry,
  type IndexKeys,
  IndexKeyBuilder,
  type IndexLayout,
  type IndexValue,
  parseColumnType,
} from "@moraine/codec";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { hex } from "../test/support/values.js";
import { appendFileEntries, type ColumnRequest, type FileSource } from "./index.js";

let lake: TestLake;
let source: FileSource;
const count = 5000;
const a = request("a", "BIGINT", 1n);
const b = request("b", "VARCHAR", 2n);

beforeAll(async () => {
  lake = await TestLake.create();
  const query = `SELECT i * 7 AS a, CASE WHEN i % 4 = 0 THEN NULL ELSE 'v' || (i % 10) END AS b FROM range(${count}) t(i)`;
  source = {
    ...(await lake.write("a.parquet", query, "FIELD_IDS {a: 1, b: 2}, ROW_GROUP_SIZE 2048")),
    rowIdStart: 1000n,
  };
});
afterAll(async () => {
  await lake.close();
});

function layout(indexId: bigint, unique: boolean, columns: readonly ColumnRequest[]): IndexLayout {
  return {
    indexId,
    unique,
    columns: columns.map(({ columnType }) => ({
      valueType: parseColumnType(columnType).valueType,
      descending: false,
      nullsFirst: false,
    })),
  };
}

const keysOf = ({ data, ends, count: entries }: IndexKeys): string[] =>
  Array.from({ length: entries }, (_, i) => hex(data.subarray(ends[i - 1] ?? 0, ends[i])));

const values = (position: number): { a: IndexValue; b: IndexValue } => ({
  a: BigInt(position * 7),
  b: position % 4 === 0 ? null : `v${position % 10}`,
});

test("one read feeds several indexes, dead rows left out", async () => {
  const [first, second] = [layout(1n, true, [a]), layout(2n, false, [b, a])];
  const [one, two] = [new IndexKeyBuilder(first), new IndexKeyBuilder(second)];
  const dead = [4999, 0, 17, 2048, 17];
  lake.store.reset();
  const progress: number[] = [];
  const appended = await appendFileEntries(source, {
    targets: [
      { sink: one, columns: [a] },
      { sink: two, columns: [b, a] },
    ],
    rowIds: "lineage",
    dead,
    onProgress: (rows) => void progress.push(rows),
  });
  expect(appended).toBe(count - 4);
  expect(progress).toEqual([2046, 4093, 4996]);
  const live = Array.from({ length: count }, (_, i) => i).filter((position) => !dead.includes(position));
  expect(keysOf(one.finish())).toEqual(
    live.map((position) => hex(encodeIndexEntry(first, [values(position).a], BigInt(1000 + position)).key)),
  );
  expect(keysOf(two.finish())).toEqual(
    live.map((position) =>
      hex(encodeIndexEntry(second, [values(position).b, values(position).a], BigInt(1000 + position)).key),
    ),
  );
  // Footer and one window of data: the column that both indexes share is read once.
  expect(lake.store.calls).toBe(2);
});

test("positions and dead rows together; ordinals as row ids", async () => {
  const builder = new IndexKeyBuilder(layout(1n, true, [a]));
  const options = {
    targets: [{ sink: builder, columns: [a] }],
    rowIds: "ordinal",
    positions: [5, 3, 4000],
    dead: [3],
  } as const;
  expect(await appendFileEntries(source, options)).toBe(2);
  expect([...builder.finish().rowIds]).toEqual([5n, 4000n]);
});

test("no index needs no read, and a file of dead rows gives no entries", async () => {
  lake.store.reset();
  expect(await appendFileEntries(source, { targets: [], rowIds: "lineage" })).toBe(0);
  expect(lake.store.calls).toBe(0);
  const builder = new IndexKeyBuilder(layout(1n, true, [a]));
  const dead = Array.from({ length: count }, (_, i) => i);
  expect(await appendFileEntries(source, { targets: [{ sink: builder, columns: [a] }], rowIds: "lineage", dead })).toBe(
    0,
  );
  expect(builder.count).toBe(0);
});

test("a dead row beyond the file is a constraint, one column of two types an argument error", async () => {
  const sink = new IndexKeyBuilder(layout(1n, true, [a]));
  await expect(
    appendFileEntries(source, { targets: [{ sink, columns: [a] }], rowIds: "lineage", dead: [count] }),
  ).rejects.toMatchObject({ code: "constraint" });
  const targets = [
    { sink, columns: [a] },
    { sink, columns: [{ ...a, columnType: "DOUBLE" }] },
  ];
  await expect(appendFileEntries(source, { targets, rowIds: "lineage" })).rejects.toMatchObject({
    code: "invalid_argument",
  });
});

test("an error of a sink or of the progress function ends the read", async () => {
  const sink = {
    appendColumns: () => {
      throw new RangeError("full");
    },
  };
  await expect(appendFileEntries(source, { targets: [{ sink, columns: [a] }], rowIds: "lineage" })).rejects.toThrow(
    "full",
  );
  const builder = new IndexKeyBuilder(layout(1n, true, [a]));
  const onProgress = (): Promise<void> => Promise.reject(new RangeError("stop"));
  await expect(
    appendFileEntries(source, { targets: [{ sink: builder, columns: [a] }], rowIds: "lineage", onProgress }),
  ).rejects.toThrow("stop");
});
