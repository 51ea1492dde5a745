import { InvalidArgumentError, UnsupportedError } from "@moraine/codec";

/** Attach options of a lake, without their `META_` (format.md 9.1). */
export interface AttachOptions {
  /** As it was written; relative to the client's folder. */
  readonly dataPath?: string;
  readonly encrypted?: boolean;
  /** 0: every commit is flushed at once. */
  readonly flushIntervalMs?: number;
}

const knownNames = ["data_path", "encrypted", "flush_interval_ms"] as const;
/** Options that a lake could have, and that this service has nothing for: its cache is the store's own. */
const foreignPattern = /^(cache_(dir|size|memory|puts|preload)|checkpoint|maintenance_.*)$/;

/** Reads attach options. Errors: `unsupported` by name for those of the specification that it has not, `invalid_argument` for all others. */
export function attachOptions(options: ReadonlyMap<string, string>): AttachOptions {
  for (const name of options.keys()) {
    if ((knownNames as readonly string[]).includes(name)) continue;
    const remedy = `Leave it out. Known are ${knownNames.join(", ")}, each with META_ in front.`;
    if (foreignPattern.test(name)) throw new UnsupportedError(`the attach option ${name} in this version`, { remedy });
    throw new InvalidArgumentError(`a lake has no attach option ${JSON.stringify(name)}`, { remedy });
  }
  const dataPath = options.get("data_path");
  const encrypted = flag(options.get("encrypted"), "encrypted");
  const flushIntervalMs = count(options.get("flush_interval_ms"), "flush_interval_ms");
  return {
    ...(dataPath === undefined ? {} : { dataPath }),
    ...(encrypted === undefined ? {} : { encrypted }),
    ...(flushIntervalMs === undefined ? {} : { flushIntervalMs }),
  };
}

function flag(text: string | undefined, name: string): boolean | undefined {
  if (text === undefined) return undefined;
  const folded = text.toLowerCase();
  if (!["true", "false", "1", "0"].includes(folded)) throw wrong(name, "true or false");
  return folded === "true" || folded === "1";
}

function count(text: string | undefined, name: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw wrong(name, "a whole number of milliseconds");
  return Number(text);
}

function wrong(name: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`the attach option ${name} must be ${expected}`, { remedy: `Give ${expected}.` });
}
