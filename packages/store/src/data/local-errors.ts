import {
  describePath,
  InvalidArgumentError,
  MoraineError,
  NotFoundError,
  StoreError,
  StoreUnavailableError,
} from "@moraine/codec";

const missingRemedy =
  "Check that the file still exists: a record may name a file that was removed, or the data path may be another one.";

/** What an operation was doing, for its error text. */
export interface FileAction {
  readonly verb: "read" | "write" | "delete" | "list";
  readonly path: string;
  readonly location: string;
}

export function describeAction({ verb, path, location }: FileAction): string {
  return `${verb} ${describePath(path)} in ${describePath(location)}`;
}

export function missingObject({ path, location }: FileAction, cause?: unknown): NotFoundError {
  const detail = { remedy: missingRemedy, ...(cause === undefined ? {} : { cause }) };
  return new NotFoundError(`${describePath(path)} in ${describePath(location)}`, detail);
}

/** An object that holds fewer bytes than a range asks for. */
export function endsEarly({ path, location }: FileAction, neededBytes: number, sizeBytes: number): StoreError {
  const name = `${describePath(path)} in ${describePath(location)}`;
  return new StoreError(`${name} ends after ${sizeBytes} bytes, but bytes up to ${neededBytes} were asked for`, {
    remedy: "Check that the file was copied completely and has the size that its record gives.",
  });
}

/** The typed error for what the file system reported. Typed errors pass through. */
export function localFailure(error: unknown, action: FileAction): MoraineError {
  if (error instanceof MoraineError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "unknown";
  const message = `cannot ${describeAction(action)} (${code})`;
  switch (code) {
    case "ENOENT":
      return missingObject(action, error);
    case "EACCES":
    case "EPERM":
      return new StoreUnavailableError(message, {
        remedy: "Give this process access to the file and its folder.",
        cause: error,
      });
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new StoreError(`${message}: no space is left, or a quota is used up`, {
        remedy: "Free space on the disk of the data path and try again.",
        cause: error,
      });
    case "EMFILE":
    case "ENFILE":
      return new StoreError(`${message}: too many open files`, {
        remedy: "Raise the limit of open files (ulimit -n), or lower the option openFiles.",
        cause: error,
      });
    case "EROFS":
      return new StoreError(`${message}: the file system is read-only`, {
        remedy: "Mount it for writing, or choose another data path.",
        cause: error,
      });
    case "ENAMETOOLONG":
      return new InvalidArgumentError(`path ${describePath(action.path)} is too long for the file system`, {
        remedy: "Use shorter names.",
        cause: error,
      });
    case "ENOTDIR":
    case "EEXIST":
    case "EISDIR":
    case "ENOTEMPTY":
      return new StoreError(`${message}: a file stands where a folder is needed, or a folder where the file goes`, {
        remedy: "Choose another path; on a local disk no name can be a file and a folder.",
        cause: error,
      });
    default:
      return new StoreError(message, { remedy: "Check the disk and the file system of the data path.", cause: error });
  }
}

/** Whether the file system said that nothing has this path. A path through a file names nothing either. */
export function isAbsent(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}
