import { expect, test } from "vitest";
import { listChecks, runChecks } from "./check.mjs";
import { temporaryWorkspace } from "./lib/temporary-workspace.js";
import { workspaceRoot } from "./lib/workspace.mjs";

test("every check runs although one fails, one line each, and only the failed one shows its output", async () => {
  const root = temporaryWorkspace({
    "package.json": {
      name: "w",
      scripts: {
        check: "false",
        "check:first": "echo quiet",
        "check:second": "echo loud && exit 2",
        "check:third": "true",
      },
    },
  });
  const lines: string[] = [];
  const tally = await runChecks(root, (line: string) => lines.push(line.replace(/\(.* s\)/, "(time)")));
  expect(lines).toEqual([
    "ok    first (time)",
    "FAIL  second (time): echo loud && exit 2",
    "      loud",
    "ok    third (time)",
  ]);
  expect(tally).toEqual({ passed: 2, failed: 1, skipped: 0, failures: ["check second"] });
});

test("this workspace's checks", () => {
  expect(listChecks(workspaceRoot).map(({ name }) => name)).toEqual([
    "types",
    "lint",
    "format",
    "layering",
    "exports",
    "unused",
    "hygiene",
  ]);
});
