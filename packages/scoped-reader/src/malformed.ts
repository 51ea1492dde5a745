import { DataFileError, MoraineError, UnsupportedError } from "@moraine/codec";

/** Raised inside this package for bytes that break the Parquet format; `inFile` gives it the file's name. */
export class MalformedFile extends Error {}

/** Raised inside this package for a part of the Parquet format that is not read; `inFile` gives it the file's name. */
export class UnsupportedFile extends Error {}

/** Raised where a stored value has no exact counterpart in the column's type; `inFile` and `vectorFromArrow` say whose value. */
export class ConversionFailed extends Error {}

const fileRemedy = "Read the file with DuckDB to see whether it is damaged; write it again if it is.";

/** Turns what a decoder throws into the typed error of the file. Errors of moraine pass unchanged. */
export function inFile(path: string, error: unknown): MoraineError {
  if (error instanceof MoraineError) return error;
  if (error instanceof UnsupportedFile) {
    return new UnsupportedError(`file ${path}: ${error.message}`, {
      remedy: "Write the file with another writer or other options.",
      cause: error,
    });
  }
  if (error instanceof ConversionFailed) {
    return new DataFileError(`file ${path}: ${error.message}`, {
      remedy: "Rewrite the file with values of the column's current type, or change the column's type back.",
      cause: error,
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  return new DataFileError(`file ${path}: ${message}`, { remedy: fileRemedy, cause: error });
}
