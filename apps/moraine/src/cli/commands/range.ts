import type { Command } from "commander";
import type { RangeBound } from "../../interface.js";
import { type Context, indexHelp, type JsonOption, storeHelp, withCommonOptions } from "../context.js";
import type { FoundIndex } from "../find.js";
import { limitOption } from "../count-option.js";
import { printRowIds } from "../row-ids.js";
import { refuseNull, valuesOfWords } from "../values.js";

interface RangeOptions extends JsonOption {
  readonly lower?: string[];
  readonly upper?: string[];
  readonly lowerExclusive?: true;
  readonly upperExclusive?: true;
  readonly reverse?: true;
  readonly limit?: number;
}

export function addRange(program: Command, context: Context): void {
  const command = program
    .command("range")
    .summary("row ids of the rows between two bounds, in the index's order")
    .description(
      "Prints the row ids of the live rows between two bounds, in the index's order. A bound gives values of leading columns; a side that is left out is open. The lower bound is the smaller value also under a DESC column. In a composite index give both bounds the same leading values; one that stops after them is open within them. Rows with NULL in a bounded column are not in the range.",
    )
    .argument("<store>", storeHelp)
    .argument("<index>", indexHelp)
    .option(
      "--lower <value...>",
      "where the range begins: values of the first columns, at most all (default: at the first row)",
    )
    .option("--upper <value...>", "where the range ends, likewise (default: at the last row)")
    .option("--lower-exclusive", "leave out rows that equal the lower bound (default: they are in the range)")
    .option("--upper-exclusive", "leave out rows that equal the upper bound (default: they are in the range)")
    .option("--reverse", "in the opposite order (default: the order of the index)")
    .addOption(limitOption("rows"))
    .action(async (store: string, indexName: string, options: RangeOptions) => {
      await printRowIds(context, store, indexName, options, async (catalog, found) => {
        const lower = bound(found, options.lower, options.lowerExclusive, "--lower");
        const upper = bound(found, options.upper, options.upperExclusive, "--upper");
        return await catalog.indexRange({
          index: found.index.id,
          ...(lower === undefined ? {} : { lower }),
          ...(upper === undefined ? {} : { upper }),
          ...(options.reverse === undefined ? {} : { reverse: options.reverse }),
          ...(options.limit === undefined ? {} : { limit: options.limit }),
        });
      });
    });
  withCommonOptions(command, "moraine range .moraine/demo/store flights_delay --lower ORD 180 --upper ORD --limit 10");
}

function bound(
  found: FoundIndex,
  words: readonly string[] | undefined,
  exclusive: true | undefined,
  argument: string,
): RangeBound | undefined {
  if (words === undefined) return undefined;
  const values = valuesOfWords(found, words, argument);
  refuseNull(values, argument);
  return { values, inclusive: exclusive !== true };
}
