import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { closeWith } from "./tally.mjs";
import { temporaryWorkspace } from "./temporary-workspace.js";

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

test("the closing lines name skipped tests and failures only when there are some", () => {
  vi.stubEnv("MORAINE_TALLY_FILE", "");
  const printed = vi.spyOn(console, "log").mockImplementation(() => undefined);
  closeWith({ passed: 3, failed: 0, skipped: 0 });
  closeWith({ passed: 3, failed: 1, skipped: 2, failures: ["a test\n  why"] });
  expect(printed.mock.calls).toEqual([
    ["3 passed, 0 failed"],
    ["! a test"],
    ["!   why"],
    ["3 passed, 1 failed, 2 skipped"],
  ]);
});

test("with a tally file counts and failures are added to it and nothing is printed", () => {
  const file = join(temporaryWorkspace({}), "tally");
  vi.stubEnv("MORAINE_TALLY_FILE", file);
  const printed = vi.spyOn(console, "log").mockImplementation(() => undefined);
  closeWith({ passed: 3, failed: 1, skipped: 2, failures: ["a test\n  why"] });
  closeWith({ passed: 7, failed: 0, skipped: 0 });
  expect(readFileSync(file, "utf8")).toBe("3 1 2\n! a test\n!   why\n7 0 0\n");
  expect(printed).not.toHaveBeenCalled();
});
