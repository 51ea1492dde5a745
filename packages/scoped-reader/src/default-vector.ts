import {
  type ColumnVector,
  ConstraintError,
  InvalidArgumentError,
  parseColumnType,
  parseIndexValue,
} from "@moraine/codec";
import { constantVector } from "./values/vector.js";

/**
 * The initial default of a column in each of `length` rows, which is what rows older than the column hold. `initialDefault`
 * is the recorded text, `undefined` is NULL.
 *
 * Errors: `constraint` when the text is no value of the type, and when the type cannot be indexed.
 */
export function defaultVector(columnType: string, initialDefault: string | undefined, length: number): ColumnVector {
  const { valueType } = parseColumnType(columnType);
  if (initialDefault === undefined) return constantVector(valueType, null, length);
  try {
    return constantVector(valueType, parseIndexValue(columnType, initialDefault), length);
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new ConstraintError(`the initial default of a column is no value of type ${columnType}`, {
      remedy: "Leave the column out of the index.",
      cause: error,
    });
  }
}
