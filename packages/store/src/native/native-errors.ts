import {
  CloseReason,
  ErrorClosed,
  ErrorData,
  ErrorInternal,
  ErrorInvalid,
  ErrorTransaction,
  ErrorUnavailable,
} from "@slatedb/uniffi";
import { StoreError } from "@moraine/codec";
import { tooManyValueBytes } from "../packed.js";
import type { NativeFailure } from "./addon.js";

/** The error that the binding would have thrown for what the addon failed with; any other error as it is. */
export function bindingErrorFrom(error: unknown): Error {
  if (!(error instanceof Error)) return new Error(String(error));
  if (!isNativeFailure(error)) return error;
  switch (error.tag) {
    case "Closed":
      return new ErrorClosed(closeReasonFrom(error.reason), error.message);
    case "Transaction":
      return new ErrorTransaction(error.message);
    case "Unavailable":
      return new ErrorUnavailable(error.message);
    case "Invalid":
      return new ErrorInvalid(error.message);
    case "Data":
      return new ErrorData(error.message);
    case "Internal":
      return new ErrorInternal(error.message);
    case "Limit":
      return error.message === "values"
        ? tooManyValueBytes()
        : new StoreError("there is not enough memory for the call", { remedy: "Ask for less at once." });
    default:
      // A panic or a cancellation of the engine.
      return error;
  }
}

function isNativeFailure(error: Error): error is NativeFailure {
  return "tag" in error && typeof error.tag === "string" && "reason" in error;
}

function closeReasonFrom(reason: string): CloseReason {
  switch (reason) {
    case "Clean":
      return CloseReason.Clean;
    case "Fenced":
      return CloseReason.Fenced;
    case "Panic":
      return CloseReason.Panic;
    default:
      return CloseReason.Unknown;
  }
}
