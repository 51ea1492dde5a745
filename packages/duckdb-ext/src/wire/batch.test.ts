import type { ColumnData } from "@moraine/catalog";
import { expect, test } from "vitest";
import { batchOf, column } from "../../test/support/columns.js";
import { decodeFrame, encodeFrame, FrameSplitter, ProtocolError } from "../index.js";
import { maxColumnRows, maxFrameBytes } from "../limits.js";

const bigints = column("BIGINT", [1n, null]);

const frame = (...columns: readonly ColumnData[]) =>
  encodeFrame({ type: "rows", schema: "s", table: "t", batch: batchOf(...columns) });

test.each<[string, ColumnData, RegExp]>([
  ["fewer values than rows", { ...bigints, values: new Uint8Array(8) }, /has 8 bytes, not 16/],
  ["no values", { ...bigints, values: undefined }, /has 0 bytes, not 16/],
  ["validity of another length", { ...bigints, validity: new Uint8Array(2) }, /has 2 bytes, not 1/],
  ["a type that does not travel", { ...bigints, type: "ENUM('a')" }, /does not travel/],
  ["a type that is none", { ...bigints, type: "NUMBER" }, /not a built-in one/],
  ["a child too many", { ...bigints, children: [bigints] }, /has 1 children/],
  ["a list without its child", { ...column("INTEGER[]", [[1]]), children: [] }, /has 0 children/],
  ["a child of other rows", { ...column("INTEGER[]", [[1]]), children: [column("INTEGER", [])] }, /has 0 rows, not 1/],
  ["offsets that go back", { ...column("VARCHAR", ["a", "b"]), offsets: Uint32Array.of(0, 2, 1) }, /go back/],
  ["offsets that begin late", { ...column("VARCHAR", ["a"]), offsets: Uint32Array.of(1, 1) }, /begin at 0/],
  ["offsets too few", { ...column("VARCHAR", ["a"]), offsets: Uint32Array.of(0) }, /no 2 offsets/],
])("a batch with %s is not written", (_, broken, reason) => {
  expect(() => frame(broken)).toThrow(ProtocolError);
  expect(() => frame(broken)).toThrow(reason);
});

test("columns of one batch have as many rows as the batch", () => {
  expect(() => frame(bigints, column("BIGINT", [1n]))).toThrow(/has 1 rows, not 2/);
});

test("types without bytes cannot stand for any number of rows", () => {
  const bytes = frame(column('"NULL"', [null]));
  const rows = bytes.indexOf(1, 4 + 1 + 5 + 5);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(rows, maxColumnRows + 1, true);
  expect(() => decodeFrame(bytes.subarray(4))).toThrow(`more than ${maxColumnRows}`);
});

test("a length that no frame has is refused before anything is held for it", () => {
  for (const length of [0, maxFrameBytes + 1, 0xffff_ffff]) {
    const splitter = new FrameSplitter();
    splitter.push(Uint8Array.from(Buffer.from(Uint32Array.of(length).buffer)));
    expect(() => splitter.next()).toThrow(ProtocolError);
  }
  const splitter = new FrameSplitter();
  splitter.push(Uint8Array.from(Buffer.from(Uint32Array.of(maxFrameBytes).buffer)));
  expect(splitter.next()).toBeUndefined();
  expect(splitter.isInside).toBe(true);
});
