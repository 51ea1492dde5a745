import type { FileSource } from "./interface.js";
import { inFile } from "./malformed.js";
import { readFooter } from "./read-footer.js";
import { embeddedRowIds } from "./resolve-columns.js";

/**
 * Whether a file carries its rows' ids in a column of its own. Only the file itself tells: a recorded first row id does not
 * mean that the ids follow without gaps (specification, "Rewrite files: row-id resolution"). Reads the footer.
 */
export async function embedsRowIds(source: FileSource): Promise<boolean> {
  const footer = await readFooter(source);
  try {
    return embeddedRowIds(source, footer.schema) !== undefined;
  } catch (error) {
    throw inFile(source.path, error);
  }
}
