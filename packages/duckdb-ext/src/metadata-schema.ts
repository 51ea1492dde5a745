import type { RowChanges } from "@moraine/catalog";
import { InvalidArgumentError, UnsupportedError } from "@moraine/codec";
import { mostLakeFolderBytes } from "./limits.js";

/** The schema of the metadata catalog in which DuckLake has its tables, where METADATA_SCHEMA says no other. */
export const defaultMetadataSchema = "main";

/** DuckDB takes names for equal that differ in the case of Latin letters only. */
function folded(schema: string): string {
  return schema.replaceAll(/[A-Z]/gu, (letter) => letter.toLowerCase());
}

export function isSameSchema(a: string, b: string): boolean {
  return folded(a) === folded(b);
}

/**
 * The folder of a lake below `lakes/` in its store's place: the same for all spellings of its schema. What is no Latin letter in
 * lower case, digit, `-` or `_` becomes `=` and its bytes in hex.
 */
export function lakeFolder(schema: string): string {
  const folder = [...Buffer.from(folded(schema))]
    .map((byte) => {
      const letter = String.fromCodePoint(byte);
      return /[a-z0-9_-]/u.test(letter) ? letter : `=${byte.toString(16).padStart(2, "0")}`;
    })
    .join("");
  if (folder.length <= mostLakeFolderBytes) return folder;
  throw new InvalidArgumentError(
    `the name of the metadata schema takes ${folder.length} bytes as a folder, more than ${mostLakeFolderBytes}`,
    { remedy: "Give METADATA_SCHEMA a shorter name." },
  );
}

/** The one metadata schema that a transaction changes, `undefined` where it changes nothing. Errors: `unsupported` for several. */
export function schemaOf({ ddl, tables }: RowChanges): string | undefined {
  const schemas = new Map([...ddl, ...tables].map(({ schema }) => [folded(schema), schema]));
  if (schemas.size > 1) {
    const names = [...schemas.values()].map((schema) => JSON.stringify(schema)).join(", ");
    throw new UnsupportedError(
      `a transaction that changes the tables of ${schemas.size} lakes, in the schemas ${names}`,
      {
        remedy: "Change one lake in a transaction.",
      },
    );
  }
  return schemas.values().next().value;
}

/** Whether a transaction creates a lake. */
export function makesLake({ ddl }: RowChanges): boolean {
  return ddl.some(({ kind, name }) => kind === "create_table" && name === "ducklake_metadata");
}
