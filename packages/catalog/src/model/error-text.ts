import { maxQuotedNameCharacters } from "./limits.js";

/** Text that a caller chose, fit for an error message: in quotes, and cut to a bounded length. */
export function quoted(text: string): string {
  const characters = Array.from(text);
  const cut = characters.length > maxQuotedNameCharacters;
  const shown = cut ? `${characters.slice(0, maxQuotedNameCharacters).join("")}...` : text;
  return `"${shown}"`;
}
