import { withoutRetryWords } from "./retry-words.js";

/** Stable, machine-readable kinds of failure. Documented in the README of `moraine`; a code never changes its meaning. */
export type ErrorCode =
  | "already_exists"
  | "closed"
  | "commit_conflict"
  | "configuration"
  | "constraint"
  | "corruption"
  | "data_file"
  | "fenced"
  | "index_building"
  | "interrupted"
  | "invalid_argument"
  | "migration_required"
  | "not_found"
  | "open_raced"
  | "retry_budget_exhausted"
  | "snapshot_expired"
  | "store"
  | "store_gone"
  | "store_locked"
  | "store_unavailable"
  | "unsupported";

/** What a caller can do about an error, beside its text. */
export interface ErrorDetail {
  /** One imperative sentence: what to change or try next. */
  readonly remedy: string;
  readonly cause?: unknown;
}

/** What an error says, to people. */
export interface ReadableText {
  readonly message: string;
  readonly remedy: string;
}

/**
 * Root of every error that moraine raises. `code` is stable, `retryable` says whether the same call can succeed later
 * without any change by the caller, `remedy` says what to do. Messages carry names and counts, never indexed values.
 * `message` and `remedy` hold none of DuckLake's retry words but in a lost race; `readable` has them as they were written.
 */
export abstract class MoraineError extends Error {
  abstract readonly code: ErrorCode;
  readonly retryable: boolean = false;
  readonly remedy: string;
  readonly #readable: ReadableText;

  constructor(message: string, detail: ErrorDetail, reworded: (text: string) => string = withoutRetryWords) {
    super(reworded(message), detail.cause === undefined ? undefined : { cause: detail.cause });
    this.name = new.target.name;
    this.remedy = reworded(detail.remedy);
    this.#readable = { message, remedy: detail.remedy };
  }

  /** Message and remedy for people to read: names stand in them as they are. */
  get readable(): ReadableText {
    return this.#readable;
  }
}

/** A concurrent commit touched the same state. The only kind whose text may hold one of DuckLake's retry words. */
export class CommitConflictError extends MoraineError {
  override readonly code = "commit_conflict";
  override readonly retryable = true;
  constructor(message: string, detail: ErrorDetail = { remedy: "Read the state again and repeat the commit." }) {
    super(`commit conflict: ${message}`, detail, (text) => text);
  }
}

/** A commit or a flush was overtaken more often than the named limit allows. */
export class RetryBudgetExhaustedError extends MoraineError {
  override readonly code = "retry_budget_exhausted";
  constructor(message: string, detail: ErrorDetail = { remedy: "Repeat the commit when fewer writers are active." }) {
    super(`retry budget exhausted: ${message}`, detail);
  }
}

/** Bytes that no version of moraine writes, or a file whose rows are not those of its record. */
export class CorruptionError extends MoraineError {
  override readonly code = "corruption";
  constructor(
    message: string,
    detail: ErrorDetail = { remedy: "Stop writing to this store and restore it, or report the bytes that were found." },
  ) {
    super(`corruption: ${message}`, detail);
  }
}

/** A schema, table, file, index, snapshot or row that does not exist. */
export class NotFoundError extends MoraineError {
  override readonly code = "not_found";
  constructor(message: string, detail: ErrorDetail = { remedy: "Check the id or name against the current snapshot." }) {
    super(`not found: ${message}`, detail);
  }
}

/** A name that is already taken. */
export class AlreadyExistsError extends MoraineError {
  override readonly code = "already_exists";
  constructor(
    message: string,
    detail: ErrorDetail = { remedy: "Choose another name, or drop the existing object first." },
  ) {
    super(`already exists: ${message}`, detail);
  }
}

/** A rule of the catalog or of an index that the request would break. Terminal: repeating it gives the same answer. */
export class ConstraintError extends MoraineError {
  override readonly code = "constraint";
  constructor(message: string, detail: ErrorDetail) {
    super(`constraint violation: ${message}`, detail);
  }
}

/** Something that this version does not do, or a store of a newer format. */
export class UnsupportedError extends MoraineError {
  override readonly code = "unsupported";
  constructor(message: string, detail: ErrorDetail) {
    super(`unsupported: ${message}`, detail);
  }
}

/** A snapshot whose record has been expired. */
export class SnapshotExpiredError extends MoraineError {
  override readonly code = "snapshot_expired";
  constructor(message: string, detail: ErrorDetail = { remedy: "Read a snapshot that is still retained." }) {
    super(`snapshot expired: ${message}`, detail);
  }
}

/** The caller stopped the operation. A commit that was already being written may still land. */
export class InterruptedError extends MoraineError {
  override readonly code = "interrupted";
  constructor(
    message: string,
    detail: ErrorDetail = { remedy: "Read the head again to see whether the commit landed." },
  ) {
    super(`interrupted: ${message}`, detail);
  }
}

/** The store's format is older than this version reads, or a migration of it has begun and not ended. */
export class MigrationRequiredError extends MoraineError {
  override readonly code = "migration_required";
  constructor(message: string, detail: ErrorDetail) {
    super(`migration required: ${message}`, detail);
  }
}

/** The index exists and is not complete yet. */
export class IndexBuildingError extends MoraineError {
  override readonly code = "index_building";
  override readonly retryable = true;
  constructor(message: string, detail: ErrorDetail = { remedy: "Wait until the index is ready, or scan the table." }) {
    super(`index building: ${message}`, detail);
  }
}

/** An option, URL or environment that cannot work. */
export class ConfigurationError extends MoraineError {
  override readonly code = "configuration";
  constructor(message: string, detail: ErrorDetail) {
    super(`configuration: ${message}`, detail);
  }
}

/** An argument of the wrong type, shape or range. The message names the argument. */
export class InvalidArgumentError extends MoraineError {
  override readonly code = "invalid_argument";
  constructor(message: string, detail: ErrorDetail) {
    super(`invalid argument: ${message}`, detail);
  }
}

/** Another writer has taken the store over, or opened it at the same instant. This handle is finished. */
export class FencedError extends MoraineError {
  override readonly code = "fenced";
  constructor(
    message: string,
    detail: ErrorDetail = {
      remedy: "Open the store again if this process should be its writer; the other one is then displaced.",
    },
  ) {
    super(`writer fenced: ${message}`, detail);
  }
}

/** Another writer made the store at the same instant. */
export class OpenRacedError extends MoraineError {
  override readonly code = "open_raced";
  override readonly retryable = true;
  constructor(message: string, detail: ErrorDetail = { remedy: "Open the store again." }) {
    super(`open raced: ${message}`, detail);
  }
}

/** The folder of a store was moved, deleted or replaced while it was open. This handle is finished. */
export class StoreGoneError extends MoraineError {
  override readonly code = "store_gone";
  constructor(
    message: string,
    detail: ErrorDetail = {
      remedy:
        "Put the folder back, or give the path where it is now, and open the store again; a commit that was under way may have landed in it.",
    },
  ) {
    super(`store gone: ${message}`, detail);
  }
}

/** A live writer of this machine holds the store. */
export class StoreLockedError extends MoraineError {
  override readonly code = "store_locked";
  constructor(message: string, detail: ErrorDetail) {
    super(`store locked: ${message}`, detail);
  }
}

/** The store answered, but failed: disk full, damaged object, internal error of the engine. */
export class StoreError extends MoraineError {
  override readonly code = "store";
  constructor(message: string, detail: ErrorDetail) {
    super(`store error: ${message}`, detail);
  }
}

/** The store could not be reached or refused access: endpoint, bucket, credentials, timeout. */
export class StoreUnavailableError extends MoraineError {
  override readonly code = "store_unavailable";
  override readonly retryable = true;
  constructor(message: string, detail: ErrorDetail) {
    super(`store unavailable: ${message}`, detail);
  }
}

/** A data or delete file that cannot be read as its catalog record says. */
export class DataFileError extends MoraineError {
  override readonly code = "data_file";
  constructor(message: string, detail: ErrorDetail) {
    super(`data file: ${message}`, detail);
  }
}

/** The handle has been closed. */
export class ClosedError extends MoraineError {
  override readonly code = "closed";
  constructor(message: string, detail: ErrorDetail = { remedy: "Open a new handle." }) {
    super(`closed: ${message}`, detail);
  }
}
