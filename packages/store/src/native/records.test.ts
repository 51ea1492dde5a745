import { describe, expect, test } from "vitest";
import { limits } from "../limits.js";
import { rangeRecord, scanOptionsRecord } from "./records.js";

describe("records of the library", () => {
  test.each([
    ["open on both sides", {}, [0, 1, 0, 0]],
    ["open above", { start: Uint8Array.of(0x61, 0x62) }, [1, 0, 0, 0, 2, 0x61, 0x62, 1, 0, 0]],
    ["open below", { end: Uint8Array.of(0xff) }, [0, 1, 1, 0, 0, 0, 1, 0xff, 0]],
    ["bounded", { start: Uint8Array.of(1), end: Uint8Array.of(2, 3) }, [1, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 2, 2, 3, 0]],
  ])("a range, %s", (_, range, expected) => {
    expect([...rangeRecord(range)]).toEqual(expected);
  });

  test("a bound of more bytes than one digit of its length holds", () => {
    const start = new Uint8Array(0x01_02_03).fill(7);
    const record = rangeRecord({ start });
    expect([...record.subarray(0, 5)]).toEqual([1, 0, 1, 2, 3]);
    expect(record).toHaveLength(1 + 4 + start.length + 1 + 2);
    expect([...record.subarray(-3)]).toEqual([1, 0, 0]);
  });

  test("a bound that is a part of a larger buffer", () => {
    const whole = Uint8Array.of(9, 8, 7, 6);
    expect(rangeRecord({ start: whole.subarray(1, 3) })).toEqual(rangeRecord({ start: Uint8Array.of(8, 7) }));
  });

  test.each([
    [true, false, 1, 1, 1],
    [true, true, 1, 1, 2],
    [false, false, limits.scanReadAheadBytes, limits.scanFetchTasks, 1],
    [false, true, limits.scanReadAheadBytes, limits.scanFetchTasks, 2],
  ])("options of a scan: small %s, reverse %s", (small, reverse, readAheadBytes, fetchTasks, order) => {
    const record = scanOptionsRecord(small, reverse);
    const view = new DataView(record.buffer);
    expect(record).toHaveLength(27);
    // What is in memory counts, and what is not committed does not.
    expect([view.getInt32(0), record[4]]).toEqual([2, 0]);
    expect(view.getBigUint64(5)).toBe(BigInt(readAheadBytes));
    expect(record[13]).toBe(1);
    expect(view.getBigUint64(14)).toBe(BigInt(fetchTasks));
    expect([record[22], view.getInt32(23)]).toEqual([1, order]);
  });
});
