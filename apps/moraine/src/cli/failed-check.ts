/** A command found what must never be: its results are printed, and its exit status tells. */
export class FailedCheck extends Error {}
