import { expect, test } from "vitest";
import { countTests } from "./lib/test-run.mjs";
import { faultTests } from "./test.mjs";
import { temporaryWorkspace } from "./lib/temporary-workspace.js";

type TestReport = NonNullable<Parameters<typeof countTests>[0]>;

const checkout = "/checkout";
const file = (name: string, status: string, tests: TestReport["testResults"][number]["assertionResults"] = []) => ({
  name: `${checkout}/${name}`,
  status,
  assertionResults: tests,
});

const report = (passed: number, failed: number, testResults: TestReport["testResults"] = []): TestReport => ({
  numPassedTests: passed,
  numFailedTests: failed,
  numPendingTests: 2,
  numTodoTests: 1,
  testResults,
});

test("tests are counted as vitest reports them", () => {
  expect(countTests(report(5, 0), 0, checkout)).toEqual({ passed: 5, failed: 0, skipped: 3, failures: [] });
  expect(countTests(report(5, 2), 1, checkout)).toMatchObject({ passed: 5, failed: 2, skipped: 3 });
});

test("a file that failed outside its tests counts as one failed test", () => {
  const files = [
    file("a.test.ts", "failed"),
    file("b.test.ts", "failed", [
      { status: "failed", fullName: "one" },
      { status: "passed", fullName: "two" },
    ]),
    file("c.test.ts", "passed", [{ status: "passed", fullName: "three" }]),
  ];
  expect(countTests(report(2, 1, files), 1, checkout)).toMatchObject({ passed: 2, failed: 2 });
});

test("failures are told by file, test and the first lines of the message, without colours", () => {
  const message = [
    "\u001b[31mAssertionError: 1 is not 2\u001b[39m",
    ...Array.from({ length: 40 }, (_, i) => `at ${i}`),
  ];
  const files = [
    file("a.test.ts", "failed", [{ status: "failed", fullName: "sum of one", failureMessages: [message.join("\n")] }]),
    { ...file("b.test.ts", "failed"), message: "SyntaxError: odd" },
  ];
  const { failures = [] } = countTests(report(2, 1, files), 1, checkout);
  expect(failures.map((failure) => failure.split("\n").slice(0, 2))).toEqual([
    ["a.test.ts > sum of one", "  AssertionError: 1 is not 2"],
    ["b.test.ts", "  SyntaxError: odd"],
  ]);
  expect(failures[0]?.split("\n").length).toBeLessThan(20);
});

test("no report, no tests, and an error without a failed test are failures", () => {
  const told = { failures: [expect.stringMatching(/./)] };
  expect(countTests(undefined, 1, checkout)).toEqual({ passed: 0, failed: 1, skipped: 0, ...told });
  expect(countTests(report(0, 0), 0, checkout)).toMatchObject({ passed: 0, failed: 1, ...told });
  expect(countTests(report(5, 0), 1, checkout)).toMatchObject({ passed: 5, failed: 1, ...told });
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
