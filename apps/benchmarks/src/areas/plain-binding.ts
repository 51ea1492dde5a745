import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loopsInUse } from "@moraine/store";
import type { Area, Benchmark, BenchmarkContext } from "../benchmark.js";
import type { Figure } from "../figure.js";
import type { Results } from "../results.js";

const program = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url));

/** Areas whose figures the store's loops decide. */
const areaNames = ["store", "group commits", "unique-checked commit of one file", "lookups"];

/**
 * The same work on the plain JavaScript binding, in a process that is not allowed to use the native loops. Nothing to compare
 * where this process has none either.
 */
export function plainBindingArea(context: BenchmarkContext): Area {
  return { name: "plain binding", benchmarks: areaNames.map((name) => plainBenchmark(context, name)) };
}

function plainBenchmark({ folder, nodeArguments, quick }: BenchmarkContext, area: string): Benchmark {
  return {
    name: area,
    async run() {
      if (loopsInUse().name === "plain") {
        return [{ name: area, value: null, unit: "", note: "everything above is on the plain binding" }];
      }
      const path = join(folder, `plain-${area.replaceAll(" ", "-")}.json`);
      const args = [program, "--only", `${area}/`, "--without-peers", "--json", path, ...(quick ? ["--quick"] : [])];
      const child = spawn(process.execPath, [...nodeArguments, ...args], {
        stdio: ["ignore", "ignore", "inherit"],
        env: { ...process.env, MORAINE_NATIVE: "off" },
      });
      const [code] = (await once(child, "close")) as [number | null];
      if (code !== 0) throw new Error(`the process on the plain binding ended with ${code}`);
      const { figures } = JSON.parse(await readFile(path, "utf8")) as Results;
      return figures.map(withoutTarget);
    },
  };
}

/** Targets are those of the native loops. */
function withoutTarget({ name, value, unit, p99, note }: Figure): Figure {
  return { name, value, unit, ...(p99 === undefined ? {} : { p99 }), ...(note === undefined ? {} : { note }) };
}
