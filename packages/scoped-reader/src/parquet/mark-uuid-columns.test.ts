import { createRequire } from "node:module";
import {
  Field,
  FixedSizeBinary,
  List,
  Schema,
  Struct,
  Table,
  tableToIPC,
  vectorFromArray,
  makeData,
  RecordBatch,
  type Data,
  Utf8,
} from "apache-arrow";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request, TestLake } from "../../test/support/lake.js";
import { scanRows } from "../../test/support/values.js";
import { markUuidColumns } from "../index.js";

const wasm = createRequire(import.meta.url)("parquet-wasm/node") as typeof import("parquet-wasm/node");
const uuids = ["00112233-4455-6677-8899-aabbccddeeff", null, "ffffffff-ffff-4fff-bfff-ffffffffffff"];

let lake: TestLake;
beforeAll(async () => {
  lake = await TestLake.create();
});
afterAll(async () => {
  await lake.close();
});

const bytesOf = (uuid: string | null): Uint8Array | null =>
  uuid === null ? null : Uint8Array.from(Buffer.from(uuid.replaceAll("-", ""), "hex"));

/** A file with a UUID column (field id 1), its text (2), and lists of UUIDs (3, elements 4), as Arrow writes it. */
function written(): Uint8Array {
  const id = (fieldId: number): Map<string, string> => new Map([["PARQUET:field_id", String(fieldId)]]);
  const u = vectorFromArray(uuids.map(bytesOf), new FixedSizeBinary(16));
  const t = vectorFromArray(uuids, new Utf8());
  const element = new Field("element", new FixedSizeBinary(16), true, id(4));
  const l = vectorFromArray(
    uuids.map((uuid) => [bytesOf(uuid)]),
    new List(element),
  );
  const fields = [
    new Field("u", u.type, true, id(1)),
    new Field("t", t.type, true, id(2)),
    new Field("l", new List(element), true, id(3)),
  ];
  const children = [u, t, l].flatMap(({ data }) => data as readonly Data[]);
  const batch = new RecordBatch(
    new Schema(fields),
    makeData({ type: new Struct(fields), length: 3, nullCount: 0, children }),
  );
  return wasm.writeParquet(wasm.Table.fromIPCStream(tableToIPC(new Table([batch]), "stream")));
}

test("DuckDB reads marked columns as UUIDs, at any depth, and everything else as before", async () => {
  const plain = await lake.writeBytes("plain.parquet", written(), 3n);
  expect(await lake.rows(`SELECT typeof(u), typeof(l) FROM '${lake.path("plain.parquet")}' LIMIT 1`)).toEqual([
    ["BLOB", "BLOB[]"],
  ]);
  const marked = markUuidColumns(written(), new Set([1, 4]));
  const source = await lake.writeBytes("marked.parquet", marked, 3n);
  const rows = await lake.rows(
    `SELECT typeof(u), typeof(l), u::VARCHAR, l[1]::VARCHAR, t FROM '${lake.path("marked.parquet")}'`,
  );
  expect(rows).toEqual(uuids.map((uuid) => ["UUID", "UUID[]", uuid, uuid, uuid]));
  for (const file of [plain, source]) {
    const scanned = await scanRows(file, { columns: [request("u", "UUID", 1n)], rowIds: "none" });
    expect(scanned.map(({ values }) => values[0])).toEqual(uuids.map((uuid) => uuid?.replaceAll("-", "") ?? null));
  }
});

test("marking twice, or no column, changes nothing more", () => {
  const once = markUuidColumns(written(), new Set([1]));
  expect(markUuidColumns(once, new Set([1]))).toEqual(once);
  expect(markUuidColumns(once, new Set())).toEqual(once);
  expect(once.length).toBe(written().length + 4);
});

test("a column of other values, and bytes of another kind, are refused", () => {
  const refused = expect.objectContaining({ code: "data_file" }) as Error;
  expect(() => markUuidColumns(written(), new Set([2]))).toThrow(refused);
  expect(() => markUuidColumns(new TextEncoder().encode("no Parquet file"), new Set([1]))).toThrow(refused);
  expect(() => markUuidColumns(written().subarray(0, 40), new Set([1]))).toThrow(refused);
  expect(() => markUuidColumns(new Uint8Array(0), new Set([1]))).toThrow(refused);
});
