import { InvalidArgumentError, Option } from "commander";

/** `--limit n`: a whole number from 0. */
export function limitOption(what: string): Option {
  return new Option("--limit <n>", `most ${what} to print`).argParser((text) => {
    const limit = Number(text);
    if (!/^\d+$/u.test(text) || !Number.isSafeInteger(limit)) throw new InvalidArgumentError("It is no whole number.");
    return limit;
  });
}
