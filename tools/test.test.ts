import { expect, test } from "vitest";
import { countTests } from "./lib/test-run.mjs";
import { faultTests } from "./test.mjs";
import { temporaryWorkspace } from "./lib/temporary-workspace.js";

type TestReport = NonNullable<Parameters<typeof countTests>[0]>;

const report = (passed: number, failed: number, testResults: TestReport["testResults"] = []): TestReport => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: 2,
  numTodoTests: 1,
  testResults,
});

test("tests are counted as vitest reports them", () => {
  expect(countTests(report(5, 0), 0)).toEqual({ passed: 5, failed: 0, skipped: 3 });
  expect(countTests(report(5, 2), 1)).toEqual({ passed: 5, failed: 2, skipped: 3 });
});

test("a file that failed outside its tests counts as one failed test", () => {
  const files = [
    { status: "failed", assertionResults: [] },
    { status: "failed", assertionResults: [{ status: "failed" }, { status: "passed" }] },
    { status: "passed", assertionResults: [{ status: "passed" }] },
  ];
  expect(countTests(report(2, 1, files), 1)).toMatchObject({ passed: 2, failed: 2 });
});

test("no report, no tests, and an error without a failed test are failures", () => {
  expect(countTests(undefined, 1)).toEqual({ passed: 0, failed: 1, skipped: 0 });
  expect(countTests(report(0, 0), 0)).toMatchObject({ passed: 0, failed: 1 });
  expect(countTests(report(5, 0), 1)).toMatchObject({ passed: 5, failed: 1 });
});

test("fault tests are found by their name and by the variable they read", () => {
  const root = temporaryWorkspace({
    "packages/store/src/open.test.ts": "",
    "packages/store/src/crash.test.ts": 'const rounds = process.env["MORAINE_FAULTS"] === "long" ? 200 : 20;',
    "packages/store/src/default.ts": "MORAINE_FAULTS",
    "packages/store/src/default-value.test.ts": "",
    "apps/moraine/test/writer-kill.test.ts": "",
    "apps/moraine/test/faults/cut.test.ts": "MORAINE_FAULTS",
  });
  expect(faultTests(root)).toEqual([
    "packages/store/src/crash.test.ts",
    "apps/moraine/test/faults/cut.test.ts",
    "apps/moraine/test/writer-kill.test.ts",
  ]);
});
