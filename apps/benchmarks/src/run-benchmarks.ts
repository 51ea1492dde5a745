import { rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { areasOf } from "./areas/all.js";
import type { Area } from "./benchmark.js";
import type { Figure } from "./figure.js";
import { describeMachine, machineLine } from "./machine.js";
import { type BenchOptions, parseOptions, usage } from "./options.js";
import { peerName } from "./peer/sqlite.js";
import { figureLine, headerLine, summaryLines } from "./report.js";
import { defaultResultsPath, writeResults } from "./results.js";
import { fullSizes, quickSizes } from "./sizes.js";

/** Runs what the arguments ask for and gives the exit status: 1 when a benchmark failed, 2 for wrong arguments. */
export async function runBenchmarks(args: readonly string[]): Promise<number> {
  let options: BenchOptions;
  try {
    options = parseOptions(args);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    console.error(`bench: ${error.message}\n\n${usage}`);
    return 2;
  }
  if (options.help) {
    console.log(usage);
    return 0;
  }
  const folder = await mkdtemp(join(tmpdir(), "moraine-bench-"));
  removeWhenInterrupted(folder);
  try {
    const sizes = options.quick ? quickSizes : fullSizes;
    const areas = chosen(areasOf({ sizes, folder, quick: options.quick, nodeArguments: nodeArguments() }), options);
    if (areas.length === 0) {
      console.error(`bench: no benchmark has a name with "${options.only ?? ""}"; --list shows all`);
      return 2;
    }
    if (options.list) {
      for (const { name, benchmarks } of areas)
        for (const benchmark of benchmarks) console.log(fullName(name, benchmark.name));
      return 0;
    }
    return await measureAll(areas, options);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Options of Node with which this process runs, for those that it starts. */
function nodeArguments(): string[] {
  const { execArgv } = process;
  return execArgv.includes("--expose-gc") ? execArgv : ["--expose-gc", ...execArgv];
}

/** Large stores lie there: an impatient user is not to be left with them. */
function removeWhenInterrupted(folder: string): void {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      rmSync(folder, { recursive: true, force: true });
      process.exit(1);
    });
  }
}

function chosen(areas: readonly Area[], { only, withoutPeers }: BenchOptions): Area[] {
  return areas.flatMap((area) => {
    const benchmarks = area.benchmarks.filter(({ name }) => {
      return fullName(area.name, name).includes(only ?? "") && !(withoutPeers && name === peerName);
    });
    return benchmarks.length === 0 ? [] : [{ ...area, benchmarks }];
  });
}

function fullName(area: string, benchmark: string): string {
  return `${area}/${benchmark}`;
}

async function measureAll(areas: readonly Area[], options: BenchOptions): Promise<number> {
  const startedAt = new Date();
  const startedMs = performance.now();
  const machine = describeMachine();
  console.log(machineLine(machine));
  if (options.quick) console.log("quick run: the figures below mean nothing");
  if (globalThis.gc === undefined) console.log("without --expose-gc, garbage of one run is collected in another");
  console.log(headerLine());
  const figures: (Figure & { readonly area: string })[] = [];
  let failures = 0;
  for (const area of areas) {
    console.log(area.name);
    try {
      for (const benchmark of area.benchmarks) {
        try {
          for (const figure of await benchmark.run()) {
            figures.push({ ...figure, area: area.name });
            console.log(figureLine(figure, !options.quick));
          }
        } catch (error) {
          failures += 1;
          console.log(`  ${benchmark.name} FAILED`);
          console.error(error);
        }
      }
    } finally {
      await area.close?.();
    }
  }
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  const path = options.json ?? defaultResultsPath(startedAt);
  writeResults(path, { startedAt: startedAt.toISOString(), seconds, quick: options.quick, machine, figures });
  const summary = options.quick ? [] : summaryLines(figures);
  console.log(["", ...summary, `${seconds} s; written to ${path}`].join("\n"));
  return failures === 0 ? 0 : 1;
}
