import { InvalidArgumentError, UnsupportedError } from "@moraine/codec";

/** How one column of an index is ordered. */
export interface ColumnOrder {
  readonly direction: "asc" | "desc";
  readonly nulls: "first" | "last";
}

/** What `WITH (...)` of a CREATE INDEX says, in the form in which the catalog takes it. */
export interface IndexOptions {
  readonly orders: readonly ColumnOrder[];
}

const knownNames = ["directions", "maintenance", "nulls", "staged", "step_bytes", "step_entries"] as const;

/**
 * Reads the options of a CREATE INDEX over so many columns. Names are compared without regard to case, words are all lower or
 * all upper case.
 *
 * Errors: `invalid_argument` for options that are not known or wrong, `unsupported` by name for staged builds and deferred
 * maintenance. Source: specification, "Extension path: SQL surface".
 */
export function indexOptions(options: ReadonlyMap<string, string>, columns: number, unique: boolean): IndexOptions {
  const byName = new Map([...options].map(([name, value]) => [name.toLowerCase(), value]));
  for (const name of byName.keys()) {
    if (!(knownNames as readonly string[]).includes(name)) {
      throw new InvalidArgumentError(`an index has no option ${JSON.stringify(name)}`, {
        remedy: `Use only ${knownNames.join(", ")}.`,
      });
    }
  }
  const isStaged = checkFlag(byName.get("staged"), "staged");
  for (const name of ["step_entries", "step_bytes"] as const) checkPositive(byName.get(name), name);
  const maintenance = oneWord(byName.get("maintenance"), "maintenance", ["synchronous", "deferred"]);
  if (maintenance === "deferred" && unique) {
    throw new InvalidArgumentError("maintenance: an index that refuses duplicates cannot be deferred", {
      remedy: "Leave the option out, or create an index that takes duplicates.",
    });
  }
  const directions = words(byName.get("directions"), "directions", ["asc", "desc"], columns);
  const nulls = words(byName.get("nulls"), "nulls", ["first", "last"], columns);
  if (isStaged) throw notOffered("staged");
  for (const name of ["step_entries", "step_bytes"] as const) if (byName.has(name)) throw notOffered(name);
  if (maintenance === "deferred") throw notOffered("maintenance = 'deferred'");
  const orders = Array.from({ length: columns }, (_, at) => ({
    direction: directions?.[at] ?? "asc",
    nulls: nulls?.[at] ?? "last",
  }));
  return { orders };
}

function notOffered(name: string): UnsupportedError {
  return new UnsupportedError(`the option ${name} of CREATE INDEX in this version`, {
    remedy: "Leave the option out: the index is built and kept by the commits themselves.",
  });
}

function wrong(name: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`the option ${name} of CREATE INDEX must be ${expected}`, {
    remedy: `Give ${expected}, or leave the option out.`,
  });
}

function checkFlag(text: string | undefined, name: string): boolean {
  if (text === undefined) return false;
  const folded = text.toLowerCase();
  if (!["true", "false", "1", "0"].includes(folded)) throw wrong(name, "true or false");
  return folded === "true" || folded === "1";
}

function checkPositive(text: string | undefined, name: string): void {
  if (text !== undefined && !/^0*[1-9]\d{0,17}$/.test(text)) throw wrong(name, "a positive whole number");
}

function oneWord<Word extends string>(
  text: string | undefined,
  name: string,
  known: readonly Word[],
): Word | undefined {
  if (text === undefined) return undefined;
  const found = known.find((word) => text === word || text === word.toUpperCase());
  if (found === undefined) throw wrong(name, known.join(" or "));
  return found;
}

/** A list such as `[desc, asc]`, or `['desc', 'asc']`, with a word for each column. */
function words<Word extends string>(
  text: string | undefined,
  name: string,
  known: readonly Word[],
  columns: number,
): readonly Word[] | undefined {
  if (text === undefined) return undefined;
  const expected = `a list of ${columns} of ${known.join(" and ")}, one for each column`;
  const inner = /^\s*\[(.*)\]\s*$/s.exec(text)?.[1];
  if (inner === undefined) throw wrong(name, expected);
  const found = inner.split(",").map((part) => oneWord(/^\s*(['"]?)(.*)\1\s*$/s.exec(part)?.[2]?.trim(), name, known));
  if (found.length !== columns) throw wrong(name, expected);
  return found.filter((word) => word !== undefined);
}
