import fc from "fast-check";
import { expect, it } from "vitest";
import {
  decodeValue,
  encodeValue,
  type FieldColumn,
  FileColumnStatsValue,
  MoraineError,
  OptionScopeValue,
  ValueColumns,
} from "./index.js";

const u64 = fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, 2n ** 64n - 1n));
const optional = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const text = fc.string({ unit: "grapheme", maxLength: 30 });

const stats: fc.Arbitrary<FileColumnStatsValue> = fc.record({
  dataFileId: u64,
  tableId: u64,
  columnId: u64,
  columnSizeBytes: u64,
  valueCount: u64,
  nullCount: u64,
  minValue: optional(text),
  maxValue: optional(text),
  containsNan: optional(fc.boolean()),
  extraStats: optional(text),
  variantStats: fc.constantFrom(
    [],
    [
      {
        variantPath: "p",
        shreddedType: "int32",
        columnSizeBytes: 1n,
        valueCount: 2n,
        nullCount: 0n,
        minValue: undefined,
        maxValue: undefined,
        containsNan: undefined,
        extraStats: undefined,
        countsUnknown: false,
      },
    ],
  ),
  countsUnknown: fc.boolean(),
});

function cell(column: FieldColumn, field: keyof FileColumnStatsValue, row: number): unknown {
  const { presence, values, offsets } = column;
  if (presence !== undefined && ((presence[row >> 3]! >> (row & 7)) & 1) === 0) return undefined;
  if (offsets !== undefined) return Buffer.from(values.subarray(offsets[row], offsets[row + 1])).toString();
  if (field === "containsNan" || field === "countsUnknown") return ((values[row >> 3]! >> (row & 7)) & 1) === 1;
  return new DataView(values.buffer, values.byteOffset).getBigUint64(8 * row, true);
}

const fields = FileColumnStatsValue.fields
  .filter(({ message }) => message === undefined)
  .map(({ name }) => name as keyof FileColumnStatsValue);

it("columns hold what values hold", () => {
  fc.assert(
    fc.property(fc.array(fc.array(stats, { maxLength: 20 }), { maxLength: 3 }), fc.nat(5), (batches, before) => {
      const columns = new ValueColumns(FileColumnStatsValue, 20);
      for (const batch of batches) {
        const lists = batch.map((value) => {
          const encoded = encodeValue(FileColumnStatsValue, value);
          const inside = new Uint8Array(before + encoded.length + 3);
          inside.set(encoded, before);
          return columns.append(inside, before, before + encoded.length);
        });
        expect(lists).toEqual(batch.map(({ variantStats }) => variantStats.length > 0));
        expect(columns.rows).toBe(batch.length);
        expect(columns.isFull).toBe(batch.length === 20);
        const taken = columns.take();
        const read = batch.map((_, row) => fields.map((field, at) => cell(taken[at]!, field, row)));
        expect(read).toEqual(batch.map((value) => fields.map((field) => value[field])));
        for (const { values, offsets } of taken.slice(0, 8))
          expect(values.length).toBe(offsets === undefined ? 8 * batch.length : offsets[batch.length]);
      }
    }),
  );
});

it("damaged values are refused where decodeValue refuses them, and read alike where it does not", () => {
  let refused = 0;
  let read = 0;
  fc.assert(
    fc.property(stats, fc.nat(), fc.nat(255), fc.nat(3), (value, place, byte, cut) => {
      const encoded = encodeValue(FileColumnStatsValue, value);
      const damaged = encoded.slice(0, encoded.length - (cut === 0 ? place % encoded.length : 0));
      if (damaged.length > 0) damaged[place % damaged.length] = byte;
      const columns = new ValueColumns(FileColumnStatsValue, 1);
      const whole = attempt(() => decodeValue(FileColumnStatsValue, damaged));
      const flat = attempt(() => {
        columns.append(damaged, 0, damaged.length);
        const taken = columns.take();
        return fields.map((field, at) => cell(taken[at]!, field, 0));
      });
      if (whole.value !== undefined) {
        read += 1;
        expect(flat.value).toEqual(fields.map((field) => whole.value![field]));
      } else if (flat.value === undefined) {
        refused += 1;
        expect(flat.code).toBe("corruption");
      }
    }),
    { numRuns: 2000 },
  );
  expect(Math.min(refused, read)).toBeGreaterThan(100);
});

function attempt<T>(run: () => T): { value?: T; code?: string } {
  try {
    return { value: run() };
  } catch (error) {
    if (!(error instanceof MoraineError)) throw error;
    return { code: error.code };
  }
}

it("messages with maps have no columns", () => {
  expect(() => new ValueColumns(OptionScopeValue, 1)).toThrow("OptionScopeValue.options is of kind string map");
});
