import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { serviceLimits } from "./limits.js";
import { LogFile } from "./log-file.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moraine-log-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function lines(name: string): Record<string, unknown>[] {
  return readFileSync(join(folder, name), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

describe("the log of a service", () => {
  it("is private, and holds one object a line from the level on that was asked for", () => {
    const log = new LogFile(join(folder, "log"), "info");
    log.write("debug", "unseen");
    log.write("info", "opened", { revision: 2n ** 63n, location: "/lake\n" });
    log.write("error", "failed", { error: new RangeError("too far", { cause: new Error("deeper") }) });
    log.close();
    expect(statSync(join(folder, "log")).mode & 0o777).toBe(0o600);
    expect(lines("log")).toMatchObject([
      { level: "info", event: "opened", pid: process.pid, revision: "9223372036854775808", location: "/lake\n" },
      {
        level: "error",
        event: "failed",
        error: {
          name: "RangeError",
          message: "too far",
          stack: expect.any(String) as unknown,
          cause: { message: "deeper" },
        },
      },
    ]);
  });

  it("goes on behind what a process before wrote", () => {
    for (const event of ["first", "second"]) {
      const log = new LogFile(join(folder, "log"), "debug");
      log.write("debug", event);
      log.close();
    }
    expect(lines("log").map(({ event }) => event)).toEqual(["first", "second"]);
  });

  it("is begun anew when it is full, keeps the one before, and is bounded", () => {
    const log = new LogFile(join(folder, "log"), "info", 1000);
    for (let at = 0; at < 50; at++) log.write("info", `event ${at}`);
    log.close();
    expect(readdirSync(folder).toSorted()).toEqual(["log", "log.1"]);
    for (const name of ["log", "log.1"]) expect(statSync(join(folder, name)).size).toBeLessThanOrEqual(1000);
    const kept = [...lines("log.1"), ...lines("log")].map(({ event }) => event);
    expect(kept.at(-1)).toBe("event 49");
    expect(kept).toEqual(kept.map((_, at) => `event ${50 - kept.length + at}`));
  });

  it("goes on in a new file where its own was removed or put aside, and only there", () => {
    const log = new LogFile(join(folder, "log"), "info");
    log.write("info", "first");
    log.restore();
    log.write("info", "second");
    renameSync(join(folder, "log"), join(folder, "aside"));
    log.restore();
    log.write("info", "third");
    expect([lines("aside"), lines("log")].map((all) => all.map(({ event }) => event))).toEqual([
      ["first", "second"],
      ["third"],
    ]);
    rmSync(folder, { recursive: true });
    // There is no folder for it yet, which is nobody's error.
    log.restore();
    log.write("info", "lost");
    mkdirSync(folder);
    log.restore();
    log.write("info", "fourth");
    log.close();
    log.restore();
    expect(lines("log").map(({ event }) => event)).toEqual(["fourth"]);
    expect(readdirSync(folder)).toEqual(["log"]);
  });

  it("cuts long texts off", () => {
    const log = new LogFile(join(folder, "log"), "info");
    log.write("info", "long", { text: "x".repeat(1_000_000) });
    log.close();
    expect(String(lines("log")[0]?.["text"])).toHaveLength(serviceLimits.logTextLength + "...".length);
  });
});
