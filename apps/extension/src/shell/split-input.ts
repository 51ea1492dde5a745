/**
 * Whether a text of SQL ends between statements: with a semicolon that is in no string, quoted name or comment. A shell asks
 * for another line until it does.
 */
export function endsStatement(text: string): boolean {
  let ended = true;
  for (const token of tokens(text)) ended = token.startsWith(";");
  return ended;
}

/** Whether a text of SQL has no statement: nothing but space, comments and semicolons. */
export function isBlank(text: string): boolean {
  return tokens(text).every((token) => token.startsWith(";"));
}

const skipped = /\s+|--[^\n]*(?:\n|$)|\/\*[^]*?\*\//uy;
const quoted = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\$(\w*)\$[^]*?\$\1\$/uy;
const plain = /[^\s'"$/;-]+|[^]/uy;

/** Texts of SQL without space and comments: quoted ones whole. What is quoted and does not end is one to the end. */
function tokens(text: string): string[] {
  const found: string[] = [];
  let at = 0;
  while (at < text.length) {
    const space = match(skipped, text, at);
    if (space === undefined) {
      const token = unfinished(text, at) ?? match(quoted, text, at) ?? match(plain, text, at) ?? "";
      found.push(token);
      at += token.length;
    } else {
      at += space.length;
    }
  }
  return found;
}

function match(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

/** What begins here and has no end. Where there is an end, it is matched as a whole elsewhere. */
function unfinished(text: string, at: number): string | undefined {
  if (text.startsWith("/*", at)) return text.slice(at);
  const begins = /^(?:['"]|\$\w*\$)/u.test(text.slice(at, at + 64));
  return begins && match(quoted, text, at) === undefined ? text.slice(at) : undefined;
}
