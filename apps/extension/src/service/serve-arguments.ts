import { InvalidArgumentError } from "@moraine/codec";
import { serviceLimits } from "./limits.js";
import { type LogLevel, logLevels } from "./log-file.js";
import type { ServeOptions } from "./service.js";

/** What was typed, or stands in the environment, about serving a store. */
export interface ServeArguments {
  readonly auto: boolean;
  readonly idleTimeout?: string | undefined;
  readonly logLevel?: string | undefined;
}

/**
 * The options of `serve`. `MORAINE_IDLE_TIMEOUT` (seconds) counts for a service that a client has started, `MORAINE_LOG_LEVEL`
 * for every one. Errors: `invalid_argument`.
 */
export function serveOptions(store: string, typed: ServeArguments): ServeOptions {
  const { env } = process;
  if (store === "") throw wrong("the location of the store", "a path or a url");
  const seconds = typed.idleTimeout ?? (typed.auto ? filled(env["MORAINE_IDLE_TIMEOUT"]) : undefined);
  const level = typed.logLevel ?? filled(env["MORAINE_LOG_LEVEL"]) ?? "info";
  if (!isLogLevel(level)) throw wrong("the log level", `one of ${logLevels.join(", ")}`);
  return {
    store,
    auto: typed.auto,
    idleTimeoutMs:
      seconds === undefined ? (typed.auto ? serviceLimits.idleTimeoutMs : undefined) : milliseconds(seconds),
    logLevel: level,
  };
}

function filled(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

function isLogLevel(text: string): text is LogLevel {
  return (logLevels as readonly string[]).includes(text);
}

/** What a timer can wait for. */
const mostSeconds = 2_000_000;

function milliseconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+(?:\.\d+)?$/u.test(text) && seconds > 0 && seconds <= mostSeconds) return Math.max(1, seconds * 1000);
  throw wrong("the idle timeout", `a number of seconds above 0 and up to ${mostSeconds}`);
}

function wrong(what: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`${what} is not ${expected}`, { remedy: `Give ${expected}.` });
}
