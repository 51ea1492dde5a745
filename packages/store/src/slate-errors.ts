import { CloseReason, Error as SlateError, ErrorClosed, ErrorInvalid, ErrorUnavailable } from "@slatedb/uniffi";
import {
  ClosedError,
  FencedError,
  InvalidArgumentError,
  MoraineError,
  StoreError,
  StoreUnavailableError,
} from "@moraine/codec";

/**
 * Turns whatever the binding throws into one of our errors. The binding's own text goes into ours only where it holds none
 * of the words by which DuckLake recognises a lost race; the original is always the `cause`.
 */
export function storeErrorFrom(error: unknown, doing: string): MoraineError {
  if (error instanceof MoraineError) return error;
  if (error instanceof ErrorClosed) return closedErrorFrom(error, doing);
  if (error instanceof ErrorInvalid) {
    return new InvalidArgumentError(`${doing}${detail(error)}`, {
      remedy: "Correct the keys, values or range.",
      cause: error,
    });
  }
  if (error instanceof ErrorUnavailable) {
    return new StoreUnavailableError(`${doing}${detail(error)}`, {
      remedy: "Try again when the store answers.",
      cause: error,
    });
  }
  if (error instanceof SlateError) {
    return new StoreError(`${doing}${detail(error)}`, {
      remedy: "See the cause; check the store's objects.",
      cause: error,
    });
  }
  if (error instanceof Error && error.constructor.name === "UnexpectedNullPointer") {
    return new ClosedError(doing, { remedy: "Open a new handle.", cause: error });
  }
  return new StoreError(`${doing}${error instanceof Error ? detail(error) : ""}`, {
    remedy: "See the cause.",
    cause: error,
  });
}

/** Whether the engine ended by itself: neither closed by us nor displaced. */
export function isEngineStopped(error: unknown): boolean {
  return error instanceof ErrorClosed && error.reason !== CloseReason.Clean && error.reason !== CloseReason.Fenced;
}

function closedErrorFrom(error: ErrorClosed, doing: string): MoraineError {
  switch (error.reason) {
    case CloseReason.Fenced:
      return new FencedError("a newer writer has opened this store", {
        remedy: "Open the store again if this process should be its writer; the other one is then displaced.",
        cause: error,
      });
    case CloseReason.Clean:
      return new ClosedError(doing, { remedy: "Open a new handle.", cause: error });
    default:
      return new StoreError(`the engine stopped${detail(error)}`, { remedy: "Open the store again.", cause: error });
  }
}

function detail(error: Error): string {
  return error.message === "" ? "" : `: ${error.message}`;
}
