import { quotedNameMaxCharacters } from "./limits.js";

/** An index name fit for an error text: quoted, control characters escaped, cut at a fixed length. */
export function quotedName(name: string): string {
  const cut = name.length > quotedNameMaxCharacters ? `${name.slice(0, quotedNameMaxCharacters)}…` : name;
  return JSON.stringify(cut);
}
