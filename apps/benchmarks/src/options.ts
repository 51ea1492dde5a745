import { parseArgs } from "node:util";

export interface BenchOptions {
  /** Where the JSON goes; `undefined` leaves the choice to the run. */
  readonly json: string | undefined;
  readonly only: string | undefined;
  readonly withoutPeers: boolean;
  readonly quick: boolean;
  readonly list: boolean;
  readonly help: boolean;
}

export const usage = `npm run bench -- [options]

  --only <text>   only benchmarks whose name contains the text
  --json <file>   where the figures are written (default .moraine/bench/<date>.json)
  --without-peers only moraine
  --quick         tiny sizes: shows that everything runs; the figures mean nothing
  --list          names of the benchmarks
  --help          this text`;

/** Throws a `TypeError` that says what is wrong with the arguments. */
export function parseOptions(args: readonly string[]): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      json: { type: "string" },
      only: { type: "string" },
      "without-peers": { type: "boolean", default: false },
      quick: { type: "boolean", default: false },
      list: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const { json, only, "without-peers": withoutPeers, quick, list, help } = values;
  return { json, only, withoutPeers, quick, list, help };
}
