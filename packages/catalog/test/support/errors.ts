import { MoraineError } from "@moraine/codec";

/** The error of a call that must fail, and with one of our own. */
export async function failureOf(work: Promise<unknown> | (() => Promise<unknown>)): Promise<MoraineError> {
  try {
    await (typeof work === "function" ? work() : work);
  } catch (error) {
    if (error instanceof MoraineError) return error;
    throw error;
  }
  throw new Error("the call was expected to fail, and it did not");
}

/** What became of a call: `landed`, or the code of its error. */
export async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "landed";
  } catch (error) {
    if (error instanceof MoraineError) return error.code;
    throw error;
  }
}

/** Words on which DuckLake repeats a commit. */
export const retryWords = /conflict|concurrent|unique|primary key/i;
