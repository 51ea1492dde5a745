import * as codec from "@moraine/codec";
import { type ErrorCode, type ErrorDetail, MoraineError, StoreError } from "@moraine/codec";
import type { MessageOf } from "../wire/messages.js";

type ErrorClass = new (message: string, detail: ErrorDetail) => MoraineError;

const classes: Readonly<Record<ErrorCode, ErrorClass>> = {
  already_exists: codec.AlreadyExistsError,
  closed: codec.ClosedError,
  commit_conflict: codec.CommitConflictError,
  configuration: codec.ConfigurationError,
  constraint: codec.ConstraintError,
  corruption: codec.CorruptionError,
  data_file: codec.DataFileError,
  fenced: codec.FencedError,
  index_building: codec.IndexBuildingError,
  interrupted: codec.InterruptedError,
  invalid_argument: codec.InvalidArgumentError,
  migration_required: codec.MigrationRequiredError,
  not_found: codec.NotFoundError,
  open_raced: codec.OpenRacedError,
  retry_budget_exhausted: codec.RetryBudgetExhaustedError,
  snapshot_expired: codec.SnapshotExpiredError,
  store: codec.StoreError,
  store_gone: codec.StoreGoneError,
  store_locked: codec.StoreLockedError,
  store_unavailable: codec.StoreUnavailableError,
  unsupported: codec.UnsupportedError,
};

/** An error as a connected application is told of it. What is no error of moraine's is the service's own fault, a `store`. */
export function refusalOf(error: unknown): MessageOf<"refused"> {
  const known = error instanceof MoraineError ? error : internal(error);
  return { type: "refused", code: known.code, ...known.readable };
}

/** The same error again, of the same class and with the same texts. */
export function errorOf({
  code,
  message,
  remedy,
}: Pick<MessageOf<"refused">, "code" | "message" | "remedy">): MoraineError {
  const Known = Object.hasOwn(classes, code) ? classes[code as ErrorCode] : undefined;
  if (Known === undefined) return internal(new Error(`a failure of an unknown kind: ${message}`));
  // Each class puts its own words in front.
  const prefix = new Known("", { remedy }).readable.message;
  return new Known(message.startsWith(prefix) ? message.slice(prefix.length) : message, { remedy });
}

function internal(error: unknown): StoreError {
  const text = error instanceof Error ? error.message : String(error);
  return new StoreError(`internal error of the service: ${text}`, { remedy: "See the service's log.", cause: error });
}
