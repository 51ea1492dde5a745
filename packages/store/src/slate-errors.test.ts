import {
  CloseReason,
  ErrorClosed,
  ErrorData,
  ErrorInternal,
  ErrorInvalid,
  ErrorTransaction,
  ErrorUnavailable,
} from "@slatedb/uniffi";
import { ClosedError } from "@moraine/codec";
import { expect, test } from "vitest";
import { storeErrorFrom } from "./slate-errors.js";

test.each([
  [new ErrorClosed(CloseReason.Fenced, "detected newer DB client"), "fenced"],
  [new ErrorClosed(CloseReason.Clean, "db is closed"), "closed"],
  [new ErrorClosed(CloseReason.Panic, "background task panicked"), "store"],
  [new ErrorClosed(CloseReason.Unknown, "?"), "store"],
  [new ErrorUnavailable("io"), "store_unavailable"],
  [new ErrorInvalid("key cannot be empty"), "invalid_argument"],
  [new ErrorData("checksum mismatch"), "store"],
  [new ErrorInternal("oops"), "store"],
  [new ErrorTransaction("transaction conflict"), "store"],
  [new RangeError("bad"), "store"],
  ["text", "store"],
])("%s becomes %s", (error, code) => {
  const typed = storeErrorFrom(error, "a write failed");
  expect(typed).toMatchObject({ code, cause: error });
  expect(typed.remedy).not.toBe("");
});

test("an error of ours passes through", () => {
  const error = new ClosedError("x");
  expect(storeErrorFrom(error, "a read failed")).toBe(error);
});

test("words by which DuckLake recognises a lost race are kept out of the text", () => {
  for (const word of ["conflict", "Concurrent", "UNIQUE", "primary key"]) {
    const typed = storeErrorFrom(new ErrorInternal(`a ${word} b`), "a write failed");
    expect(typed.message).toMatch(/^store error: a write failed: a .+ b$/u);
    expect(typed.message).not.toContain(word);
  }
  expect(storeErrorFrom(new ErrorInternal("disk on fire"), "a write failed").message).toContain("disk on fire");
});
