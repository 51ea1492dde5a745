import { expect, test } from "vitest";
import { integerColumn, nullColumn, wordColumn } from "./scalar-columns.js";

test("columns of many integers are those of a list of them", () => {
  const ids = [0n, 7n, 2n ** 62n];
  expect(wordColumn("BIGINT", BigUint64Array.from(ids))).toEqual(integerColumn("BIGINT", ids));
  // Part of a larger buffer, as a list of row ids may be.
  expect(wordColumn("BIGINT", BigUint64Array.from([9n, ...ids, 9n]).subarray(1, 4))).toEqual(
    integerColumn("BIGINT", ids),
  );
  for (const rows of [1, 8, 17])
    expect(nullColumn("UBIGINT", rows)).toEqual(integerColumn("UBIGINT", new Array<undefined>(rows).fill(undefined)));
});
