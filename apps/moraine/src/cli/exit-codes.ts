import type { ErrorCode } from "../interface.js";

/** What the command's exit status says, for scripts. `--help` prints the same list. */
export const exitCodes = {
  success: 0,
  /** Something that is moraine's own fault, or a demonstration whose answers differ. */
  failure: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  store: 5,
  otherWriter: 6,
  damaged: 7,
  interrupted: 130,
} as const;

const byErrorCode: Readonly<Record<ErrorCode, number>> = {
  invalid_argument: exitCodes.usage,
  configuration: exitCodes.usage,
  not_found: exitCodes.notFound,
  snapshot_expired: exitCodes.notFound,
  already_exists: exitCodes.refused,
  constraint: exitCodes.refused,
  index_building: exitCodes.refused,
  migration_required: exitCodes.refused,
  unsupported: exitCodes.refused,
  store: exitCodes.store,
  store_gone: exitCodes.store,
  store_unavailable: exitCodes.store,
  closed: exitCodes.store,
  commit_conflict: exitCodes.otherWriter,
  fenced: exitCodes.otherWriter,
  open_raced: exitCodes.otherWriter,
  retry_budget_exhausted: exitCodes.otherWriter,
  store_locked: exitCodes.otherWriter,
  corruption: exitCodes.damaged,
  data_file: exitCodes.damaged,
  interrupted: exitCodes.interrupted,
};

export function exitCodeOf(code: ErrorCode): number {
  return byErrorCode[code];
}

export const exitCodeHelp = `
Exit status:
    0  success, also when a lookup finds no row
    1  unexpected error, or a demonstration whose answers differ
    2  wrong command, option, value, location or setting
    3  no such store, table, index or snapshot
    4  refused: a constraint, an index that is not ready, another format
    5  the store cannot be reached, or failed
    6  another writer holds the store, took it over or was faster
    7  damaged data: corruption, or a data file that is not as recorded
  130  interrupted

Results are on stdout, with --json as one JSON document in which every 64-bit integer (ids, row ids, counts of the
catalog) is a string of digits. Errors are one line on stderr and one with the remedy, with --json one JSON document there:
{"error": {"code", "message", "remedy", "exitStatus"}}. Progress is shown on stderr when that is a terminal.`;
