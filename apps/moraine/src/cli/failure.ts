import { exitCodes } from "./exit-codes.js";
import { jsonText } from "./output.js";

/** What a command tells when it has failed. */
export interface Failure {
  /** Code of a moraine error, or of what only a command can fail with. */
  readonly code: string;
  readonly message: string;
  readonly remedy: string;
  readonly exitStatus: number;
}

export const interrupted: Failure = {
  code: "interrupted",
  message: "interrupted",
  remedy: "Run the command again; what was committed stays.",
  exitStatus: exitCodes.interrupted,
};

/** One line on what happened and one on what to do, or a JSON document with both. */
export function failureText(failure: Failure, asJson: boolean): string {
  if (asJson) return `${jsonText({ error: { ...failure } })}\n`;
  // The lines of DuckDB's texts show where a statement is wrong.
  const message = ["unexpected", "sql"].includes(failure.code) ? failure.message : oneLine(failure.message);
  return `moraine: ${message}\n  remedy: ${oneLine(failure.remedy)}\n`;
}

/** Whether a command line asks for JSON. What follows `--` are values. */
export function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return args.slice(0, end < 0 ? undefined : end).includes("--json");
}

function oneLine(text: string): string {
  return text.replace(/\s*\n\s*/gu, " ");
}
