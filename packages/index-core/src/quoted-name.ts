import { quotedNameMaxCharacters } from "./limits.js";

const retryWords = /conflict|concurrent|unique|primary key/gi;

/**
 * An index name fit for an error text: quoted, control characters escaped, cut at a fixed length, and with a dot set into
 * every word on which DuckLake's commit loop would retry. An index may well be called "unique_email"; a refusal
 * that quotes it must still fail once (specification, "Uniqueness enforcement", wording of the rejection).
 */
export function quotedName(name: string): string {
  const cut = name.length > quotedNameMaxCharacters ? `${name.slice(0, quotedNameMaxCharacters)}…` : name;
  return JSON.stringify(cut).replace(retryWords, (word) => `${word.slice(0, 1)}\u00b7${word.slice(1)}`);
}
