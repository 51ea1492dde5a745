import { type ErrorCode, MoraineError, withoutRetryWords } from "@moraine/codec";
import type { ExceptionClass, MessageOf } from "./wire/messages.js";
import { ProtocolError } from "./wire/protocol-error.js";

/** The class of DuckDB's exceptions for each code (format.md 7.11; codes that are not there by the same sense). */
const exceptionOf: Readonly<Record<ErrorCode, ExceptionClass>> = {
  already_exists: "Catalog",
  closed: "IO",
  commit_conflict: "Transaction",
  configuration: "InvalidConfiguration",
  constraint: "Catalog",
  corruption: "IO",
  data_file: "IO",
  fenced: "IO",
  index_building: "Catalog",
  interrupted: "Interrupt",
  invalid_argument: "InvalidInput",
  migration_required: "IO",
  not_found: "Catalog",
  open_raced: "IO",
  retry_budget_exhausted: "Transaction",
  snapshot_expired: "Catalog",
  store: "IO",
  store_gone: "IO",
  store_locked: "IO",
  store_unavailable: "IO",
  unsupported: "NotImplemented",
};

/**
 * The answer to a request that failed. The only place where DuckLake's retry words are seen to: only a lost race may hold one. In
 * all other texts each of them gets a dot inside (`u·nique_ids`), so that a table whose name holds one makes nothing repeat.
 */
export function failedOf(error: unknown): MessageOf<"failed"> {
  if (error instanceof MoraineError) {
    const text = `${error.message}. ${error.remedy}`;
    const isRace = error.code === "commit_conflict";
    return {
      type: "failed",
      code: error.code,
      exception: exceptionOf[error.code],
      retryable: error.retryable,
      message: isRace ? text : withoutRetryWords(text),
    };
  }
  const isProtocol = error instanceof ProtocolError;
  const text = error instanceof Error ? error.message : String(error);
  return {
    type: "failed",
    code: isProtocol ? error.code : "internal",
    exception: "IO",
    retryable: false,
    message: withoutRetryWords(isProtocol ? text : `internal error of the moraine service: ${text}`),
  };
}
