/** `name` in double quotes, inner quotes doubled. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteDotted(schemaName: string, name: string): string {
  return `${quoteIdentifier(schemaName)}.${quoteIdentifier(name)}`;
}

/** Splits at commas that stand outside quotes. `undefined` when a quote stays open. */
export function splitOutsideQuotes(text: string): string[] | undefined {
  const parts: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    // A doubled quote closes and opens again: no special case is needed to find the commas.
    if (character === '"') quoted = !quoted;
    else if (character === "," && !quoted) {
      parts.push(text.slice(start, at));
      start = at + 1;
    }
  }
  if (quoted) return undefined;
  parts.push(text.slice(start));
  return parts;
}

const quotedName = /^"[^"]*(?:""[^"]*)*"$/;
const dottedName = /^"[^"]*(?:""[^"]*)*"\."[^"]*(?:""[^"]*)*"$/;

export function isQuotedIdentifier(payload: string): boolean {
  return quotedName.test(payload);
}

export function isQuotedPair(payload: string): boolean {
  return dottedName.test(payload);
}
