import { expect } from "vitest";
import { MoraineError } from "../../src/index.js";

/** The error that a call raises, or `undefined`. Anything but a `MoraineError` is a failure of the test. */
function errorOf(call: () => unknown): MoraineError | undefined {
  try {
    call();
  } catch (error) {
    expect(error).toBeInstanceOf(MoraineError);
    return error as MoraineError;
  }
  return undefined;
}

/** Expects an error of a code whose text has no word that makes DuckLake repeat a commit. */
export function expectError(call: () => unknown, code: string, message?: RegExp | string): void {
  const error = errorOf(call);
  expect(error?.code).toBe(code);
  if (message !== undefined) expect(error?.message).toMatch(message);
  expect(error?.message).not.toMatch(/conflict|concurrent|unique|primary key/i);
  expect(error?.remedy).toMatch(/\.$/);
}
