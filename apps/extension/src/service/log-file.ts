import { closeSync, fstatSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { serviceLimits } from "./limits.js";

export const logLevels = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof logLevels)[number];

/** What a line of the log tells beside its event; errors are written out. Names, counts and times, never values of rows. */
export type LogFields = Readonly<Record<string, unknown>>;

/**
 * The log of a service: one JSON object a line, with `time`, `level`, `event` and `pid`. At `mostBytes` the file is put aside as
 * `<path>.1`, over the one before, so that both together are bounded. Lines are written at once: what a process told before it
 * was killed is there.
 */
export class LogFile {
  readonly #path: string;
  readonly #least: number;
  readonly #mostBytes: number;
  #file: number;
  #bytes: number;
  #isClosed = false;

  constructor(path: string, level: LogLevel, mostBytes: number = serviceLimits.logBytes) {
    this.#path = path;
    this.#least = logLevels.indexOf(level);
    this.#mostBytes = mostBytes;
    this.#file = open(path);
    this.#bytes = fstatSync(this.#file).size;
  }

  /** Writes a line. A disk that takes none does not end the service: the line is lost, as it is after closing. */
  write(level: LogLevel, event: string, fields: LogFields = {}): void {
    if (this.#isClosed || logLevels.indexOf(level) < this.#least) return;
    const line = Buffer.from(`${lineOf(level, event, fields)}\n`);
    try {
      if (this.#bytes > 0 && this.#bytes + line.length > this.#mostBytes) this.#rotate();
      writeSync(this.#file, line);
      this.#bytes += line.length;
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
    }
  }

  /** Goes on in another file where this one was removed from its path. A folder that takes none does not end the service. */
  restore(): void {
    try {
      if (!this.#isClosed && !this.#isInPlace()) this.#reopen();
    } catch (error) {
      if (!(error instanceof Error && "code" in error)) throw error;
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    closeSync(this.#file);
  }

  #isInPlace(): boolean {
    const found = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    const own = fstatSync(this.#file, { bigint: true });
    return found?.ino === own.ino && found.dev === own.dev;
  }

  #rotate(): void {
    renameSync(this.#path, `${this.#path}.1`);
    this.#reopen();
  }

  #reopen(): void {
    const file = open(this.#path);
    closeSync(this.#file);
    this.#file = file;
    this.#bytes = fstatSync(file).size;
  }
}

function open(path: string): number {
  return openSync(path, "a", 0o600);
}

function lineOf(level: LogLevel, event: string, fields: LogFields): string {
  const head = { time: new Date().toISOString(), level, event, pid: process.pid };
  return JSON.stringify({ ...head, ...fields }, (_, value: unknown) => plain(value));
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Error) return errorFields(value);
  if (typeof value === "string" && value.length > serviceLimits.logTextLength) {
    return `${value.slice(0, serviceLimits.logTextLength)}...`;
  }
  return value;
}

function errorFields(error: Error): Record<string, unknown> {
  const code = "code" in error ? { code: error.code } : {};
  const cause = error.cause === undefined ? {} : { cause: error.cause };
  return { name: error.name, ...code, message: error.message, stack: error.stack, ...cause };
}
