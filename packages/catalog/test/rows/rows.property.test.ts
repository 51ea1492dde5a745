import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SqlLake } from "../support/sql-lake.js";
import { type Move, play } from "./random-transactions.js";

const move: fc.Arbitrary<Move> = fc.record({ kind: fc.nat(1000), a: fc.nat(1000), b: fc.nat(1000) });

describe("random transactions of DuckLake", () => {
  it("leave the records and the entries that their rows stand for, for a fresh reader too", async () => {
    let played = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(move, { minLength: 5, maxLength: 30 }), async (moves) => {
        const sql = await SqlLake.open();
        for (const one of [{ kind: 0, a: 2, b: 0 }, ...moves]) {
          if (!(await play(sql, one))) continue;
          played += 1;
          await sql.verify();
        }
        await sql.verifyState();
      }),
      { numRuns: 15 },
    );
    expect(played).toBeGreaterThan(100);
  });
});
