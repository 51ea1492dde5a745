import type { Command } from "commander";
import { demoLimits } from "../../demo/limits.js";
import { type Context, type JsonOption, printJson, withCommonOptions } from "../context.js";
import { countOption } from "../count-option.js";
import { countText } from "../output.js";
import { FailedCheck } from "../failed-check.js";

interface DemoCommandOptions extends JsonOption {
  readonly folder: string;
  readonly rows?: number;
}

export function addDemo(program: Command, context: Context): void {
  const command = program
    .command("demo")
    .summary("build a lake of real flights, ask its indexes and check every answer by a full scan")
    .description(
      "Builds a lake on the local disk out of real data, asks its indexes, answers the same questions by full scans with DuckDB, and fails when an answer differs. Then it does the like in SQL, where moraine's DuckDB extension is built and DuckLake can be had. Needs the packages @duckdb/node-api and vega-datasets.",
    )
    .option(
      "--folder <path>",
      "where to build the lake: a folder that is empty, is not there yet or has the lake of an earlier demonstration, which is made anew",
      ".moraine/demo",
    )
    .addOption(
      countOption(
        "--rows <n>",
        "flights to load",
        { least: demoLimits.leastFlightRows, most: demoLimits.mostFlightRows },
        countText(demoLimits.flightRows),
      ),
    )
    .action(async (options: DemoCommandOptions) => {
      // Loaded here only: no other command needs DuckDB.
      const [{ runDemo }, { Report }] = await Promise.all([
        import("../../demo/demo.js"),
        import("../../demo/report.js"),
      ]);
      using report = new Report(context.output, options.json === true);
      await runDemo({ folder: options.folder, flightRows: options.rows ?? demoLimits.flightRows }, report);
      const { isCorrect, comparisons, facts } = report;
      if (options.json === true) {
        printJson(context, {
          isCorrect,
          comparisons: comparisons.map((each) => ({ ...each })),
          facts: facts.map((each) => ({ ...each })),
        });
      }
      if (!isCorrect)
        throw new FailedCheck("answers of the indexes differ from those of the scans, or an expectation does not hold");
    });
  withCommonOptions(command, "moraine demo");
}
