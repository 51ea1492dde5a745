import * as codec from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { exitCodeOf } from "./exit-codes.js";
import { sqlFailureOf } from "./sql-failure.js";

type ErrorClass = new (message: string, detail: { readonly remedy: string }) => codec.MoraineError;

const classes = Object.entries(codec).filter(
  ([name, value]) => name.endsWith("Error") && name !== "MoraineError" && typeof value === "function",
) as [string, ErrorClass][];

describe("what moraine says through DuckDB", () => {
  it.each(classes)("has the code, the message and the remedy of %s", (_, Class) => {
    const { code, message, remedy } = new Class('index "u" of 3 rows', { remedy: "Do this. Then that." });
    for (const before of ["", "Catalog Error: ", 'TransactionContext Error: Failed to commit: path "moraine:x"']) {
      const failure = sqlFailureOf(new Error(`${before}${message}. ${remedy}`));
      const told = code === "store_locked" ? "End that process, or attach with --read-only." : remedy;
      expect(failure).toEqual({ code, message, remedy: told, exitStatus: exitCodeOf(code) });
    }
  });

  it("asks for a folder where there is no lake yet", () => {
    const failure = sqlFailureOf(
      new Error('Existing DuckLake at "x" does not exist - and creating a new DuckLake is explicitly disabled'),
    );
    expect([failure.code, failure.exitStatus]).toEqual(["not_found", 3]);
    expect(failure.remedy).toContain("--data-path");
  });
});

describe("what DuckDB says", () => {
  it.each([
    [2, 'Parser Error: syntax error at or near "SELEC"'],
    [2, 'Binder Error: Referenced column "closed: x" not found'],
    [2, "Conversion Error: Could not convert string"],
    [3, "Catalog Error: Table with name x does not exist!"],
    [4, "Constraint Error: NOT NULL constraint failed"],
    [5, "IO Error: Cannot open file"],
    [6, "TransactionContext Error: Failed to commit: Transaction conflict - attempting to insert"],
    [1, "INTERNAL Error: Attempted to access index 1"],
    [130, "INTERRUPT Error: Interrupted!"],
  ])("ends with status %i: %s", (exitStatus, message) => {
    expect(sqlFailureOf(new Error(message), "line 7: ")).toMatchObject({
      code: "sql",
      message: `line 7: ${message}`,
      exitStatus,
    });
  });
});
