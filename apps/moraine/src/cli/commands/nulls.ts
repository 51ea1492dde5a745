import type { Command } from "commander";
import { type Context, type JsonOption, storeHelp, withCommonOptions } from "../context.js";
import { limitOption } from "../limit-option.js";
import { printRowIds } from "../row-ids.js";
import { valuesOfWords } from "../values.js";

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
    .argument("<index>", "name, schema.name or id of an index")
    .argument("[predicate...]", "values and NULLs for leading columns", ["NULL"])
    .option("--reverse", "in the opposite order")
    .addOption(limitOption("rows"))
    .action(async (store: string, indexName: string, words: string[], options: NullsOptions) => {
      await printRowIds(context, store, indexName, options, async (catalog, found) => {
        return await catalog.indexNulls({
          index: found.index.id,
          prefix: valuesOfWords(found, words, "the prefix"),
          ...(options.reverse === undefined ? {} : { reverse: options.reverse }),
          ...(options.limit === undefined ? {} : { limit: options.limit }),
        });
      });
    });
  withCommonOptions(command, "moraine nulls .moraine/demo/store flights_delay ORD NULL --limit 10");
}
