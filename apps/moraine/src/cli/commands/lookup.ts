import { createInterface } from "node:readline";
import { InvalidArgumentError } from "@moraine/codec";
import type { Command } from "commander";
import { maxLookupKeys } from "../../limits.js";
import { type Context, indexHelp, type JsonOption, storeHelp, withCommonOptions } from "../context.js";
import type { FoundIndex } from "../find.js";
import { countText } from "../output.js";
import { Progress } from "../progress.js";
import { printRowIds } from "../row-ids.js";
import { checkKey, valuesOfJson, valuesOfWords } from "../values.js";

interface LookupOptions extends JsonOption {
  readonly many?: true;
}

export function addLookup(program: Command, context: Context): void {
  const command = program
    .command("lookup")
    .summary("row ids of the rows whose indexed columns equal a key")
    .description(
      "Prints the row ids of the live rows whose indexed columns equal the values, ascending. Values are converted to the types of the index's columns.",
    )
    .argument("<store>", storeHelp)
    .argument("<index>", indexHelp)
    .argument("[value...]", "one value for each column of the index; at least one, unless --many")
    .option(
      "--many",
      `read keys from stdin, one JSON array (or single value) a line, at most ${countText(maxLookupKeys)}, and find rows for any of them (default: one key, of the values)`,
    )
    .action(async (store: string, indexName: string, words: string[], options: LookupOptions) => {
      if (options.many === true && words.length > 0) {
        throw new InvalidArgumentError("values were given beside --many, which reads keys from stdin", {
          remedy: "Leave out the values, or --many.",
        });
      }
      const lines = options.many === true ? await readLines(context) : undefined;
      await printRowIds(context, store, indexName, options, async (catalog, found) => {
        const { id } = found.index;
        if (lines !== undefined) return await catalog.indexLookupMany({ index: id, keys: keysOfLines(found, lines) });
        const key = valuesOfWords(found, words, "the key");
        checkKey(found, key, "the key");
        return await catalog.indexLookup({ index: id, key });
      });
    });
  withCommonOptions(command, "moraine lookup .moraine/demo/store flights_id 4711");
}

async function readLines({ stdin, output }: Context): Promise<string[]> {
  using progress = new Progress(output);
  const lines: string[] = [];
  for await (const line of createInterface({ input: stdin, crlfDelay: Infinity })) {
    if (line.trim() === "") continue;
    if (lines.length >= maxLookupKeys) {
      throw new InvalidArgumentError(`stdin has more than ${countText(maxLookupKeys)} keys`, {
        remedy: "Look them up in several runs.",
      });
    }
    lines.push(line);
    progress.show(`read ${countText(lines.length)} keys`);
  }
  return lines;
}

function keysOfLines(found: FoundIndex, lines: readonly string[]): unknown[][] {
  return lines.map((line, at) => {
    const argument = `key ${at + 1} of stdin`;
    const values = valuesOfJson(found, parse(line, argument), argument);
    checkKey(found, values, argument);
    return values;
  });
}

function parse(line: string, argument: string): unknown {
  try {
    return JSON.parse(line);
  } catch (cause) {
    throw new InvalidArgumentError(`${argument} is no JSON`, {
      remedy: 'Write one array of values a line, for instance ["OSL", 12].',
      cause,
    });
  }
}
