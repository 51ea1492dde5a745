import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CommitConflictError, ConstraintError, NotFoundError } from "./errors.js";

const retryWords = /conflict|concurrent|unique|primary key/iu;

describe("the text of an error", () => {
  it("holds none of the words on which DuckLake repeats a commit, and is readable all the same", () => {
    const error = new ConstraintError('index "UNIQUE_ids"', {
      remedy: "Drop primary key, no conflicts, concurrently.",
    });
    expect(error.message).toBe('constraint violation: index "U\u00b7NIQUE_ids"');
    expect(error.remedy).toBe("Drop p\u00b7rimary key, no c\u00b7onflicts, c\u00b7oncurrently.");
    expect(error.readable).toEqual({
      message: 'constraint violation: index "UNIQUE_ids"',
      remedy: "Drop primary key, no conflicts, concurrently.",
    });
    expect(error.stack).not.toMatch(retryWords);
    // What is read does not come along where an error is written out.
    expect(Object.keys(error)).not.toContain("readable");
  });

  it("stays as it is where nothing is to be broken", () => {
    const { message, remedy, readable } = new NotFoundError("orders");
    expect(readable).toEqual({ message, remedy });
    expect(message).toBe("not found: orders");
  });

  it("of a lost race keeps its word: DuckLake is to repeat that one", () => {
    expect(new CommitConflictError("commit 7").message).toBe("commit conflict: commit 7");
  });

  it("is broken whatever it says", () => {
    const words = fc.constantFrom("conflict", "Concurrent", "uNIQUE", "primary key", "con", "flict", " ", "i", "que");
    fc.assert(
      fc.property(fc.array(fc.oneof(words, fc.string({ maxLength: 4 }))), (parts) => {
        const text = parts.join("");
        const error = new NotFoundError(text, { remedy: text });
        expect(error.message).not.toMatch(retryWords);
        expect(error.remedy).not.toMatch(retryWords);
        expect(error.readable).toEqual({ message: `not found: ${text}`, remedy: text });
      }),
    );
  });
});
