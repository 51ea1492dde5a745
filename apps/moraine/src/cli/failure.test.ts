import { readdirSync } from "node:fs";
import { ConstraintError, StoreLockedError } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { FailedCheck } from "./failed-check.js";
import { asksForJson, failureText, interrupted } from "./failure.js";
import { failureOf } from "./failure-of.js";

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

/** What `using` throws where the block fails, and closing after it. */
function suppressed(first: unknown): unknown {
  return thrownBy(() => {
    using _ = {
      [Symbol.dispose]: (): void => {
        throw new Error("closing failed");
      },
    };
    throw first;
  });
}

describe("what a command tells when it fails", () => {
  it("is the error with its names as they are, and the remedy for the command line", () => {
    const error = new StoreLockedError('"unique_ids"', { remedy: "Open the store again, or with takeOver: true." });
    expect(failureOf(error)).toEqual({
      code: "store_locked",
      message: 'store locked: "unique_ids"',
      remedy: "Run the command again, or with --take-over.",
      exitStatus: 6,
    });
  });

  it("is what went wrong first, not what failed because of it", () => {
    const error = new ConstraintError("no", { remedy: "Do not." });
    expect(failureOf(suppressed(error))).toEqual(failureOf(error));
    expect(failureOf(suppressed(suppressed(error)))).toEqual(failureOf(error));
  });

  it("is one line where the operating system refused", () => {
    const failure = failureOf(thrownBy(() => readdirSync("/dev/null/folder")));
    expect(failure).toMatchObject({ code: "store", exitStatus: 5 });
    expect(failure?.message).toMatch(/^ENOTDIR: .+$/u);
  });

  it("has a trace only where the error is moraine's own fault", () => {
    const failure = failureOf(new TypeError("oops"));
    expect(failure).toMatchObject({ code: "unexpected", exitStatus: 1 });
    expect(failure?.message).toMatch(/^unexpected error: TypeError: oops\n {4}at /u);
    expect(failureOf("text")).toMatchObject({ code: "unexpected", message: "unexpected error: text" });
    expect(failureOf(new FailedCheck("differs"))).toMatchObject({ code: "failed_check", exitStatus: 1 });
  });

  it("is two lines, or one document of JSON", () => {
    const failure = { code: "store", message: "a\n  b", remedy: "c\nd", exitStatus: 5 };
    expect(failureText(failure, false)).toBe("moraine: a b\n  remedy: c d\n");
    expect(JSON.parse(failureText(failure, true))).toEqual({ error: failure });
    expect(interrupted.exitStatus).toBe(130);
  });
});

describe("a command line asks for JSON", () => {
  it.each([
    [["tables", "x", "--json"], true],
    [["tables", "x"], false],
    [["lookup", "x", "y", "--", "--json"], false],
  ])("%j: %s", (args, expected) => {
    expect(asksForJson(args)).toBe(expected);
  });
});
