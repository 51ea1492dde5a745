import type { ErrorCode } from "../interface.js";
import { exitCodeOf, exitCodes } from "./exit-codes.js";
import type { Failure } from "./failure.js";

/** Something that DuckDB said no to, as a failure of the command. */
export class FailedSql extends Error {
  readonly failure: Failure;

  constructor(failure: Failure, cause: unknown) {
    super(failure.message, { cause });
    this.failure = failure;
  }
}

/** What to tell of an error of DuckDB; `which` names the statement, where there are several. */
export function sqlFailureOf(error: unknown, which = ""): Failure {
  const failure = failureOfText(error instanceof Error ? error.message : String(error));
  return { ...failure, message: `${which}${failure.message}` };
}

/** How the messages of moraine's errors begin, which come through DuckDB without their codes. */
const moraineTexts: readonly (readonly [beginning: string, code: ErrorCode])[] = [
  ["already exists", "already_exists"],
  ["closed", "closed"],
  ["commit conflict", "commit_conflict"],
  ["configuration", "configuration"],
  ["constraint violation", "constraint"],
  ["corruption", "corruption"],
  ["data file", "data_file"],
  ["index building", "index_building"],
  ["interrupted", "interrupted"],
  ["invalid argument", "invalid_argument"],
  ["migration required", "migration_required"],
  ["not found", "not_found"],
  ["open raced", "open_raced"],
  ["retry budget exhausted", "retry_budget_exhausted"],
  ["snapshot expired", "snapshot_expired"],
  ["store error", "store"],
  ["store gone", "store_gone"],
  ["store locked", "store_locked"],
  ["store unavailable", "store_unavailable"],
  ["unsupported", "unsupported"],
  ["writer fenced", "fenced"],
];

/** Exit statuses of DuckDB's own errors. Any other kind is a statement that is wrong. */
const duckDbTexts: readonly (readonly [pattern: RegExp, exitStatus: number])[] = [
  [/^INTERRUPT Error/iu, exitCodes.interrupted],
  [/^(?:INTERNAL|FATAL|Out of Memory) Error/u, exitCodes.failure],
  [/^(?:IO|HTTP) Error/u, exitCodes.store],
  [/^Constraint Error|NOT NULL constraint/u, exitCodes.refused],
  [/transaction conflict/iu, exitCodes.otherWriter],
  [/^Catalog Error: .* does not exist/u, exitCodes.notFound],
];

/** DuckDB's text keeps its lines: one of them points at what is wrong. */
function failureOfText(text: string): Failure {
  if (text.includes("creating a new DuckLake is explicitly disabled")) {
    return {
      code: "not_found",
      message: "not found: there is no lake in the store",
      remedy: "Check its location; to make a lake, name a folder for its data with --data-path.",
      exitStatus: exitCodes.notFound,
    };
  }
  for (const [beginning, code] of moraineTexts) {
    // Behind the words of DuckDB and DuckLake, never within a name that they repeat.
    const said = new RegExp(`(?:^|Error: |commit: |moraine: |"moraine:[^"]*" ?)(${beginning}: [^]*)$`, "u").exec(
      text,
    )?.[1];
    if (said === undefined) continue;
    // The service sends both in one text; the remedy begins with a new sentence.
    const [, message, remedy] = /^([^]*?)\. ([A-Z][^]*)$/u.exec(said) ?? [];
    return {
      code,
      message: message ?? said,
      // A service displaces nobody.
      remedy:
        code === "store_locked"
          ? "End that process, or attach with --read-only."
          : (remedy ?? "Correct what it names."),
      exitStatus: exitCodeOf(code),
    };
  }
  const [, exitStatus] = duckDbTexts.find(([pattern]) => pattern.test(text)) ?? [undefined, exitCodes.usage];
  const isPath = text.startsWith("Invalid Configuration Error: DATA_PATH");
  const remedy = isPath
    ? "Leave --data-path out: the lake has recorded its own."
    : "Correct the statement; what was committed before it stays.";
  return { code: "sql", message: text.trimEnd(), remedy, exitStatus };
}
