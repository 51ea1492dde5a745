import { ConfigurationError, MoraineError, StoreError } from "@moraine/codec";

/** Failures of a disk, which other rights would not cure. */
const diskFailures = ["ENOSPC", "EDQUOT", "EIO"];

/** What the operating system refused, as an error that says what was to be done; anything else as it is. */
export function failedStep(cause: unknown, what: string, remedy: string): unknown {
  if (cause instanceof MoraineError || !(cause instanceof Error) || !("code" in cause)) return cause;
  if (diskFailures.includes(String(cause.code))) {
    return new StoreError(`${what}: ${cause.message}`, { remedy: "Free some space, or check the disk.", cause });
  }
  return new ConfigurationError(`${what}: ${cause.message}`, { remedy, cause });
}
