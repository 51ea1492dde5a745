import { expect, test, vi } from "vitest";
import { runCommand } from "./run-command.mjs";
import { temporaryWorkspace } from "./temporary-workspace.js";

test("exit code and output of a command", async () => {
  const root = temporaryWorkspace({});
  const script = "console.log('out'); console.error(process.env.EXTRA); process.exitCode = 3";
  const result = await runCommand(process.execPath, ["-e", script], { root, capture: true, env: { EXTRA: "err" } });
  expect(result.code).toBe(3);
  expect(result.output).toContain("out\n");
  expect(result.output).toContain("err\n");
});

test("a command that a signal ended has failed", async () => {
  const root = temporaryWorkspace({});
  const result = await runCommand(process.execPath, ["-e", "process.kill(process.pid, 'SIGKILL')"], { root });
  expect(result.code).toBe(1);
});

test("a command that takes too long is ended and has failed", async () => {
  const said = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const root = temporaryWorkspace({});
  const result = await runCommand(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { root, limitMs: 100 });
  expect(result.code).toBe(1);
  expect(said.mock.calls).toEqual([[expect.stringContaining("ended after 0.1 s")]]);
  said.mockRestore();
});

test("a command that does not exist is an error", async () => {
  const root = temporaryWorkspace({});
  await expect(runCommand("no-such-command-here", [], { root })).rejects.toThrow(/ENOENT/);
});
