import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const historyLines = 1000;

/** The file in which the shell keeps what was typed, private to the user. */
export function historyFile(): string {
  const root = process.env["XDG_STATE_HOME"] ?? join(homedir(), ".local", "state");
  return join(root, "moraine", "sql_history");
}

/** What was typed before, newest first, as `readline` takes it. Empty where there is none. */
export function readHistory(file: string): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

/** Keeps the newest lines. */
export function writeHistory(file: string, lines: readonly string[]): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${lines.slice(0, historyLines).join("\n")}\n`, { mode: 0o600 });
}
