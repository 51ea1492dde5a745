import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { request, TestLake } from "../test/support/lake.js";
import { sampleQuery, sampleTypes } from "../test/support/types.js";
import { fromDuckDB, fromVector, sameKind, scanRows } from "../test/support/values.js";
import { scanFile } from "./scan-file.js";

let lake: TestLake;
beforeAll(async () => {
  lake = await TestLake.create();
});
afterAll(async () => {
  await lake.close();
});

describe("values of every type equal what DuckDB reads", () => {
  test.each(sampleTypes)("$columnType", async (type) => {
    const name = `${type.columnType.replaceAll(/\W/g, "_")}.parquet`;
    const source = await lake.write(name, sampleQuery(type, 5000, true), "FIELD_IDS {c: 7}, ROW_GROUP_SIZE 2048");
    const expected = await lake.rows(`SELECT c::${type.columnType} FROM '${lake.path(name)}'`);
    const column = request("other name", type.columnType, 7n);
    let row = 0;
    for await (const batch of scanFile(source, { columns: [column], rowIds: "lineage" })) {
      const [vector] = batch.columns;
      if (vector === undefined) throw new Error("a column is missing");
      const { length } = batch;
      const wanted = expected.slice(row, row + length).map(([value]) => sameKind(vector, fromDuckDB(value)));
      expect(Array.from({ length }, (_, i) => fromVector(vector, i))).toEqual(wanted);
      row += length;
    }
    expect(row).toBe(5000);
    expect((await scanRows(source, { columns: [], rowIds: "lineage" })).at(-1)).toEqual({
      position: 4999,
      rowId: 4999n,
      values: [],
    });
  });
});
