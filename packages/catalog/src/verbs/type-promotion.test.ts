import { DuckDBInstance } from "@duckdb/node-api";
import { expect, it } from "vitest";
import { isPromotion } from "./type-promotion.js";

const types = [
  "BOOLEAN TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT UHUGEINT FLOAT DOUBLE",
  "VARCHAR BLOB UUID INTERVAL DATE TIME TIME_NS TIMETZ TIMESTAMP TIMESTAMP_S TIMESTAMP_MS TIMESTAMP_NS TIMESTAMPTZ",
  "DECIMAL(3,0) DECIMAL(4,1) DECIMAL(9,2) DECIMAL(9,9) DECIMAL(10,0) DECIMAL(18,6) DECIMAL(20,0) DECIMAL(37,5)",
  "DECIMAL(38,0) DECIMAL(38,10) DECIMAL(38,30) DECIMAL(38,38)",
].flatMap((names) => names.split(" "));

it("allows the changes of type that DuckDB combines to the new type", async () => {
  const connection = await (await DuckDBInstance.create()).connect();
  const combines = async (before: string, after: string): Promise<boolean> => {
    const both = `CASE WHEN random() < 2 THEN NULL::${before} ELSE NULL::${after} END`;
    const rows = await connection
      .runAndReadAll(`SELECT typeof(${both}) = typeof(NULL::${after})`)
      .catch(() => undefined);
    return rows?.getRows()[0]?.[0] === true;
  };
  const wrong: string[] = [];
  for (const before of types) {
    for (const after of types) {
      if (isPromotion(before, after) !== (await combines(before, after))) wrong.push(`${before} to ${after}`);
    }
  }
  expect(wrong).toEqual([]);
});

it.each([
  ["int", "INTEGER", true],
  ["int8", "TINYINT", true],
  ["varchar", "TEXT", true],
  ["datetime", "TIMESTAMP_US", true],
  ["decimal", "DECIMAL(18,3)", true],
  ["hugeint", "INT128", true],
  ["interval", "INTERVAL", true],
  ["VARCHAR", "JSON", true],
  ["JSON", "VARCHAR", false],
  ["INTEGER", "JSON", false],
  ["VARCHAR", "VARCHAR COLLATE NOCASE", true],
  ["VARCHAR COLLATE NOCASE", "VARCHAR", false],
  ["what another made", "INTEGER", false],
])("%s to %s: %s", (before, after, allowed) => {
  expect(isPromotion(before, after)).toBe(allowed);
});
