import { InvalidArgumentError } from "@moraine/codec";
import { identifier, literal } from "./sql-text.js";

/** Where a lake is, and how DuckDB shall attach it. */
export interface AttachOptions {
  /** Location of the store: a path, `file:///path` or `s3://bucket/prefix`. */
  readonly store: string;
  /** Where the data files are. Needed to create a lake; an existing one knows it. */
  readonly dataPath?: string | undefined;
  /** The lake's name in DuckDB. Default `lake`. */
  readonly name?: string | undefined;
  readonly readOnly?: boolean | undefined;
}

/** The statement that attaches a lake; without a data path it makes none. Errors: `invalid_argument` for an empty store or name. */
export function attachStatement({ store, dataPath, name = "lake", readOnly }: AttachOptions): string {
  if (store === "")
    throw new InvalidArgumentError("the location of the store is empty", { remedy: "Give a path or a url." });
  if (name === "")
    throw new InvalidArgumentError("the name of the lake is empty", { remedy: "Leave it out, or name it." });
  // DuckLake would make one beside a store that was mistyped.
  const isMade = dataPath !== undefined && readOnly !== true;
  const options = [
    ...(isMade ? [] : ["CREATE_IF_NOT_EXISTS false"]),
    ...(dataPath === undefined ? [] : [`DATA_PATH ${literal(dataPath)}`]),
    ...(readOnly === true ? ["READ_ONLY"] : []),
  ];
  return `ATTACH ${literal(`ducklake:moraine:${store}`)} AS ${identifier(name)} (${options.join(", ")})`;
}

/** Statements for any DuckDB that loads unsigned extensions: load what is needed, attach the lake, make it current. */
export function initStatements(options: AttachOptions, files: readonly string[]): string[] {
  return [
    ...files.map((file) => `LOAD ${literal(file)}`),
    attachStatement(options),
    `USE ${identifier(options.name ?? "lake")}`,
  ];
}
