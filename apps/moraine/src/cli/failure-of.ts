import { MoraineError } from "@moraine/codec";
import { CommanderError } from "commander";
import { inCommandWords } from "./command-words.js";
import { exitCodeOf, exitCodes } from "./exit-codes.js";
import { FailedCheck } from "./failed-check.js";
import type { Failure } from "./failure.js";
import { FailedSql } from "./sql-failure.js";

/** What to tell about an error; undefined for help that was asked for, which is none. */
export function failureOf(thrown: unknown): Failure | undefined {
  const error = causeOf(thrown);
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return undefined;
    return {
      code: error.code === "commander.help" ? "no_command" : "usage",
      message: error.message.replace(/^error: /u, ""),
      remedy: "Run `moraine --help`, or `moraine <command> --help`.",
      exitStatus: exitCodes.usage,
    };
  }
  if (error instanceof FailedCheck) {
    const { message } = error;
    return {
      code: "failed_check",
      message,
      remedy: "Report this with what was printed.",
      exitStatus: exitCodes.failure,
    };
  }
  if (error instanceof FailedSql) return error.failure;
  if (error instanceof MoraineError) {
    const { message, remedy } = error.readable;
    return { code: error.code, message, remedy: inCommandWords(remedy), exitStatus: exitCodeOf(error.code) };
  }
  if (error instanceof Error && "syscall" in error) {
    const remedy = "Check the path, the rights on it and the space on its disk.";
    return { code: "store", message: error.message, remedy, exitStatus: exitCodes.store };
  }
  return {
    code: "unexpected",
    message: `unexpected error: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    remedy: "Report this with the command that you ran.",
    exitStatus: exitCodes.failure,
  };
}

/** Closing what was open may fail after, and because of, what went wrong first. That is what has to be known. */
function causeOf(error: unknown): unknown {
  let cause = error;
  while (cause instanceof Error && cause.name === "SuppressedError" && "suppressed" in cause) cause = cause.suppressed;
  return cause;
}
