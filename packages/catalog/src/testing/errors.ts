import { type ErrorCode, MoraineError } from "@moraine/codec";

/** The code of the error that `work` throws; `undefined` when it throws none. Anything but our own errors passes through. */
export function codeOf(work: () => unknown): ErrorCode | undefined {
  return errorOf(work)?.code;
}

export function errorOf(work: () => unknown): MoraineError | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    if (error instanceof MoraineError) return error;
    throw error;
  }
}
