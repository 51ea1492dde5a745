import type { FollowStep } from "@moraine/catalog";
import { DuckDBInstance } from "@duckdb/node-api";
import { describe, expect, test } from "vitest";
import { statementListValues } from "./limits.js";
import { statementsOf } from "./sql-of-steps.js";

type Statement = Exclude<FollowStep, { readonly kind: "rows" }>;
const sql = (...steps: readonly Statement[]): string[] => [...statementsOf("main", steps)];
const remove = (table: string, ...where: Extract<Statement, { kind: "delete" }>["where"]): Statement => ({
  kind: "delete",
  table,
  where,
});

describe("statements of steps", () => {
  test("names and values are quoted", () => {
    expect(
      sql(
        { kind: "drop", table: 'a"b' },
        { kind: "create", table: "t", columns: [{ name: "k", type: "VARCHAR", constraint: "NOT NULL" }] },
        remove("t", ["k", "it's"], ["n", null], ["f", true]),
        remove("t", ["k", "a\0b"]),
        remove("u"),
      ),
    ).toEqual([
      'DROP TABLE "main"."a""b"',
      'CREATE TABLE "main"."t" ("k" VARCHAR NOT NULL)',
      `DELETE FROM "main"."t" WHERE "k" = 'it''s' AND "n" IS NULL AND "f" = TRUE`,
      `DELETE FROM "main"."t" WHERE "k" = ('a' || chr(0) || 'b')`,
      'DELETE FROM "main"."u"',
    ]);
  });

  test("a table of inlined rows outlasts its drop, and gives way to a new one", () => {
    const table = "ducklake_inlined_data_1_2";
    expect(
      sql({ kind: "drop", table }, { kind: "create", table, columns: [{ name: "row_id", type: "BIGINT" }] }),
    ).toEqual([`DELETE FROM "main"."${table}"`, `CREATE OR REPLACE TABLE "main"."${table}" ("row_id" BIGINT)`]);
  });

  test("deletions of one table by the same columns are one statement, within the limit", () => {
    const ids = Array.from({ length: statementListValues + 1 }, (_, at) => remove("t", ["id", BigInt(at)]));
    const statements = sql(...ids);
    expect(statements).toHaveLength(2);
    expect(statements[1]).toBe(`DELETE FROM "main"."t" WHERE "id" = ${statementListValues}`);
    expect(
      sql(remove("t", ["a", 1n], ["b", 2n]), remove("t", ["a", 3n], ["b", 4n]), remove("t", ["a", 5n], ["b", null])),
    ).toEqual([
      'DELETE FROM "main"."t" WHERE ("a", "b") IN ((1, 2), (3, 4))',
      'DELETE FROM "main"."t" WHERE "a" = 5 AND "b" IS NULL',
    ]);
  });

  test("DuckDB does what they say", async () => {
    const connection = await (await DuckDBInstance.create()).connect();
    const run = async (...steps: readonly Statement[]): Promise<void> => {
      for (const statement of sql(...steps)) await connection.run(statement);
    };
    const columns = ["row_id", "begin_snapshot", "end_snapshot"].map((name) => ({ name, type: "BIGINT" }));
    await run({ kind: "create", table: 'it\'s "x"', columns: [...columns, { name: "text", type: "VARCHAR" }] });
    await connection.run(
      `INSERT INTO "it's ""x""" VALUES (1, 1, NULL, 'a'), (2, 1, NULL, 'b' || chr(0)), (2, 5, NULL, 'c'), (3, 1, 2, 'd'), (4, 1, NULL, 'e''')`,
    );
    await run(
      { kind: "end", table: 'it\'s "x"', rowId: 1n, endSnapshot: 5n },
      { kind: "end", table: 'it\'s "x"', rowId: 2n, endSnapshot: 5n },
      { kind: "end", table: 'it\'s "x"', rowId: 3n, endSnapshot: 5n },
      remove('it\'s "x"', ["text", "e'"]),
      remove('it\'s "x"', ["text", "b\0"]),
    );
    const found = await connection.runAndReadAll(`SELECT * FROM "it's ""x""" ORDER BY ALL`);
    expect(found.getRowsJson()).toEqual([
      ["1", "1", "5", "a"],
      ["2", "5", null, "c"],
      ["3", "1", "2", "d"],
    ]);
  });
});
