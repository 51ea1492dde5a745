import { type IndexValue, InvalidArgumentError, toIndexValue } from "@moraine/codec";

/** A list of values inside of a caller's arguments. Kept apart from its text, as most lists need none. */
export interface ValuesPath {
  /** The argument, for instance `key` or `entries`. */
  readonly argument: string;
  /** Position in the argument, where that is a list. */
  readonly at?: number;
  /** What follows the position. */
  readonly member?: string;
}

export function pathText({ argument, at, member = "" }: ValuesPath): string {
  return at === undefined ? argument + member : `${argument}[${at}]${member}`;
}

/** A plain value of one column as its index holds it. An error names the argument, and never the value. */
export function convertValue(columnType: string, value: unknown, path: ValuesPath, position: number): IndexValue {
  if (value === null) return null;
  if (value === undefined) {
    throw new InvalidArgumentError(`${pathText(path)}[${position}] is undefined`, { remedy: "Pass null for NULL." });
  }
  try {
    return toIndexValue(columnType, value);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new InvalidArgumentError(`${pathText(path)}[${position}] is no value of type ${columnType}`, {
      remedy: error.remedy,
      cause: error,
    });
  }
}
