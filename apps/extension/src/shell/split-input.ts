/**
 * Whether a text of SQL ends between statements: with a semicolon that is in no string, quoted name or comment. A shell asks
 * for another line until it does.
 */
export function endsStatement(text: string): boolean {
  let at = 0;
  let ended = true;
  while (at < text.length) {
    const rest = text.slice(at);
    const skipped = /^\s+/u.exec(rest) ?? /^--[^\n]*(\n|$)/u.exec(rest) ?? /^\/\*[\s\S]*?\*\//u.exec(rest);
    if (skipped !== null) {
      at += skipped[0].length;
      continue;
    }
    if (rest.startsWith("/*")) return false;
    const quoted = /^(?:'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[\s\S]*?\$\1\$)/u.exec(rest);
    if (quoted === null && /^(?:['"]|\$\w*\$)/u.test(rest)) return false;
    ended = rest.startsWith(";");
    at += quoted?.[0].length ?? 1;
  }
  return ended;
}
