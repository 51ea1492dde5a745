import { fromIndexValue, type IndexValue, InvalidArgumentError, parseIndexValue, toIndexValue } from "@moraine/codec";
import { quoted } from "../describe.js";
import { type FoundIndex, qualifiedIndexName } from "./find.js";

/** What stands for SQL NULL on the command line. Text that is `NULL` itself is written with a backslash before it. */
const nullText = "NULL";

/** Words of a command line as values of an index's leading columns. */
export function valuesOfWords(found: FoundIndex, words: readonly string[], argument: string): unknown[] {
  return words.map((word, at) => {
    if (word === nullText) return null;
    const text = /^\\+NULL$/u.test(word) ? word.slice(1) : word;
    return convert(found, at, words.length, argument, (columnType) => parseIndexValue(columnType, text));
  });
}

/** A key of JSON: an array with a value for each column, or the value alone. Text is read as on the command line. */
export function valuesOfJson(found: FoundIndex, key: unknown, argument: string): unknown[] {
  const values: readonly unknown[] = Array.isArray(key) ? key : [key];
  return values.map((value, at) => {
    if (value === null) return null;
    return convert(found, at, values.length, argument, (columnType) =>
      typeof value === "string" ? parseIndexValue(columnType, value) : toIndexValue(columnType, value),
    );
  });
}

/** Refuses a key that is not complete, and one with NULL: equality with NULL is never true. */
export function checkKey(found: FoundIndex, values: readonly unknown[], argument: string): void {
  const { columns } = found;
  if (values.length !== columns.length) {
    const names = columns.map(({ name }) => quoted(name)).join(", ");
    throw new InvalidArgumentError(
      `${argument} has ${countOf(values.length, "value")}, and index ${quoted(qualifiedIndexName(found))} ${countOf(columns.length, "column")} (${names})`,
      { remedy: "Give one value for each column; for leading columns alone use `moraine range`." },
    );
  }
  refuseNull(values, argument);
}

/** Refuses NULL in values that others are compared with. */
export function refuseNull(values: readonly unknown[], argument: string): void {
  if (!values.includes(null)) return;
  throw new InvalidArgumentError(`${argument} has NULL, and nothing equals NULL or comes before or after it`, {
    remedy: "Ask for rows with NULL by `moraine nulls`; write text that is NULL itself as \\NULL.",
  });
}

/** Refuses predicates none of which is IS NULL. */
export function requireNull(values: readonly unknown[], argument: string): void {
  if (values.includes(null)) return;
  throw new InvalidArgumentError(`${argument} has no NULL`, {
    remedy: "Write NULL for each column that is to be NULL, or use `moraine lookup` or `moraine range`.",
  });
}

function convert(
  found: FoundIndex,
  at: number,
  count: number,
  argument: string,
  read: (columnType: string) => IndexValue,
): unknown {
  const column = found.columns[at];
  if (column === undefined) {
    throw new InvalidArgumentError(
      `${argument} has ${countOf(count, "value")}, and index ${quoted(qualifiedIndexName(found))} ${countOf(found.columns.length, "column")}`,
      { remedy: "Give at most one value for each column of the index." },
    );
  }
  try {
    // The catalog takes plain values: of a decimal its text, not the integer that an index holds.
    return fromIndexValue(column.columnType, read(column.columnType));
  } catch (cause) {
    if (!(cause instanceof InvalidArgumentError)) throw cause;
    throw new InvalidArgumentError(
      `${argument}, value ${at + 1}: column ${quoted(column.name)} holds ${quoted(column.columnType)}, which this is not`,
      {
        remedy: `Write a value of type ${column.columnType} as SQL does, without quotes around it.`,
        cause,
      },
    );
  }
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
