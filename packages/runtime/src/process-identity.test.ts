import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { isRunning, startOf } from "./process-identity.js";

it("a process that has ended is not running, even if nobody has asked for its status", async () => {
  // The shell becomes a program that never waits for its child.
  const parent = spawn("sh", ["-c", "sleep 0.2 & echo $!; exec sleep 60"], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void parent.kill("SIGKILL"));
  const [line] = (await once(parent.stdout, "data")) as [Buffer];
  const pid = Number(line.toString());
  const started = startOf(pid);
  if (started === undefined) throw new Error("the child ended before it was looked at");
  const child = { host: hostname(), pid, started, command: "sleep" };
  expect(isRunning(child)).toBe(true);
  while (isRunning(child)) await wait(5);
  // It is still there, as one that has ended.
  expect(process.kill(pid, 0)).toBe(true);
  if (process.platform === "linux") expect(readFileSync(`/proc/${pid}/stat`, "utf8")).toContain(" Z ");
});
