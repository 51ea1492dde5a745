import {
  CloseReason,
  ErrorClosed,
  ErrorData,
  ErrorInternal,
  ErrorInvalid,
  ErrorTransaction,
  ErrorUnavailable,
} from "@slatedb/uniffi";
import { InvalidArgumentError, StoreError } from "@moraine/codec";
import { describe, expect, test } from "vitest";
import { storeErrorFrom } from "../slate-errors.js";
import { bindingErrorFrom } from "./native-errors.js";

function failure(tag: string, reason = "", message = "what happened"): Error {
  return Object.assign(new Error(message), { tag, reason });
}

describe("errors of the addon", () => {
  test.each([
    ["Transaction", new ErrorTransaction("what happened")],
    ["Unavailable", new ErrorUnavailable("what happened")],
    ["Invalid", new ErrorInvalid("what happened")],
    ["Data", new ErrorData("what happened")],
    ["Internal", new ErrorInternal("what happened")],
  ])("%s is the binding's own class", (tag, expected) => {
    const error = bindingErrorFrom(failure(tag));
    expect(error).toBeInstanceOf(expected.constructor);
    expect(error.message).toBe(expected.message);
  });

  test.each([
    ["Clean", CloseReason.Clean, "closed"],
    ["Fenced", CloseReason.Fenced, "fenced"],
    ["Panic", CloseReason.Panic, "store"],
    ["Unknown", CloseReason.Unknown, "store"],
    ["a reason of later versions", CloseReason.Unknown, "store"],
  ])("closed, %s", (name, reason, code) => {
    const error = bindingErrorFrom(failure("Closed", name));
    expect(error).toBeInstanceOf(ErrorClosed);
    expect(error).toMatchObject({ reason, message: "what happened" });
    expect(storeErrorFrom(error, "it failed").code).toBe(code);
  });

  test("limits are our own errors", () => {
    const tooMany = bindingErrorFrom(failure("Limit", "", "values"));
    expect(tooMany).toBeInstanceOf(InvalidArgumentError);
    for (const message of ["memory", "rows", "std::bad_alloc"]) {
      expect(bindingErrorFrom(failure("Limit", "", message))).toBeInstanceOf(StoreError);
    }
  });

  test("panics, cancellations and all that is not of the addon stay as they are", () => {
    const others = [
      failure("Panic"),
      failure("Cancelled"),
      new TypeError("wrong"),
      Object.assign(new Error("half"), { tag: "Closed" }),
      Object.assign(new Error("other"), { tag: 1, reason: "" }),
    ];
    for (const error of others) expect(bindingErrorFrom(error)).toBe(error);
    expect(storeErrorFrom(failure("Panic"), "a read failed")).toMatchObject({
      code: "store",
      message: expect.stringContaining("a read failed: what happened") as unknown,
    });
    expect(bindingErrorFrom("text")).toEqual(new Error("text"));
  });
});
