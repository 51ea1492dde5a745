import type { EntityValue } from "@moraine/codec";
import fc from "fast-check";
import { expect, test } from "vitest";
import type { CatalogState } from "../model/state.js";
import { FilesByRowId } from "./files-by-row-id.js";

type DataFile = EntityValue["data_file"];

const tableId = 7n;
const stateOf = (files: readonly DataFile[]): CatalogState =>
  ({ list: (kind: string, id: bigint) => (kind === "data_file" && id === tableId ? files : []) }) as never;

const spans = fc.array(
  fc.record({ rowIdStart: fc.option(fc.bigInt(0n, 40n), { nil: undefined }), recordCount: fc.bigInt(0n, 12n) }),
  { maxLength: 12 },
);

test("a row id is held by every file whose span it lies in, overlapping ones included", () => {
  fc.assert(
    fc.property(spans, (given) => {
      const files = given.map((span, i) => ({ ...span, dataFileId: BigInt(i) }) as DataFile);
      const byRowId = FilesByRowId.of(stateOf(files), tableId);
      for (let rowId = 0n; rowId < 55n; rowId++) {
        const expected = files.filter(
          ({ rowIdStart, recordCount }) =>
            rowIdStart !== undefined && rowId >= rowIdStart && rowId < rowIdStart + recordCount,
        );
        const held = [...byRowId.holding(rowId)].map(({ dataFileId }) => dataFileId);
        expect(held).toHaveLength(expected.length);
        expect(new Set(held)).toEqual(new Set(expected.map(({ dataFileId }) => dataFileId)));
      }
    }),
  );
});

test("it is made once for a state", () => {
  const state = stateOf([]);
  expect(FilesByRowId.of(state, tableId)).toBe(FilesByRowId.of(state, tableId));
});
