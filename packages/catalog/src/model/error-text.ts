import { maxQuotedNameCharacters } from "./limits.js";

/** Words that make DuckLake repeat a commit. No error but a lost race may hold one, not even inside a name that it quotes. */
const retryWords = /conflict|concurrent|unique|primary key/gi;

/**
 * Text that a caller chose, fit for an error message: in quotes, cut to a bounded length, and with a dot set into each
 * of DuckLake's retry words, so that a refusal which mentions a table called `unique_ids` stays a refusal.
 */
export function quoted(text: string): string {
  const characters = Array.from(text);
  const cut = characters.length > maxQuotedNameCharacters;
  const shown = cut ? `${characters.slice(0, maxQuotedNameCharacters).join("")}...` : text;
  return `"${harmless(shown)}"`;
}

/** The same without quotes, for names of arguments. */
export function harmless(text: string): string {
  return text.replace(retryWords, (word) => `${word.slice(0, 1)}\u00b7${word.slice(1)}`);
}
