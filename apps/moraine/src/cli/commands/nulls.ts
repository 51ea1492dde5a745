import type { Command } from "commander";
import { type Context, indexHelp, type JsonOption, storeHelp, withCommonOptions } from "../context.js";
import { limitOption } from "../count-option.js";
import { printRowIds } from "../row-ids.js";
import { requireNull, valuesOfWords } from "../values.js";

interface NullsOptions extends JsonOption {
  readonly reverse?: true;
  readonly limit?: number;
}

export function addNulls(program: Command, context: Context): void {
  const command = program
    .command("nulls")
    .summary("row ids of the rows with NULL in an indexed column")
    .description(
      "Prints the row ids of the live rows that match the predicates on the index's leading columns, in the index's order: the word NULL means IS NULL, another value equality. Text that is NULL itself is written \\NULL.",
    )
    .argument("<store>", storeHelp)
    .argument("<index>", indexHelp)
    .argument("[predicate...]", "values and NULLs for leading columns, at least one NULL", ["NULL"])
    .option("--reverse", "in the opposite order (default: the order of the index)")
    .addOption(limitOption("rows"))
    .action(async (store: string, indexName: string, words: string[], options: NullsOptions) => {
      await printRowIds(context, store, indexName, options, async (catalog, found) => {
        const prefix = valuesOfWords(found, words, "the list of predicates");
        requireNull(prefix, "the list of predicates");
        return await catalog.indexNulls({
          index: found.index.id,
          prefix,
          ...(options.reverse === undefined ? {} : { reverse: options.reverse }),
          ...(options.limit === undefined ? {} : { limit: options.limit }),
        });
      });
    });
  withCommonOptions(command, "moraine nulls .moraine/demo/store flights_delay ORD NULL --limit 10");
}
