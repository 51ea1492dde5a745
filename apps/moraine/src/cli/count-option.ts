import { InvalidArgumentError, Option } from "commander";
import { countText } from "./output.js";

/** Bounds of an option, both included. */
interface Bounds {
  readonly least: number;
  readonly most?: number;
}

/** An option with a whole number. Its help says what is taken, and what holds where it is left out. */
export function countOption(flags: string, what: string, { least, most }: Bounds, ifLeftOut: string): Option {
  const taken = most === undefined ? `from ${countText(least)}` : `from ${countText(least)} to ${countText(most)}`;
  return new Option(flags, `${what}: a whole number ${taken} (default: ${ifLeftOut})`).argParser((text) => {
    const count = Number(text);
    const isTaken = Number.isSafeInteger(count) && count >= least && (most === undefined || count <= most);
    if (!/^\d+$/u.test(text) || !isTaken) throw new InvalidArgumentError(`It has to be a whole number ${taken}.`);
    return count;
  });
}

/** `--limit n`: all, unless it is given. */
export function limitOption(what: string): Option {
  return countOption("--limit <n>", `most ${what} to print`, { least: 0 }, "all of them");
}
