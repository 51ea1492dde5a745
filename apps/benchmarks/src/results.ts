import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Figure } from "./figure.js";
import type { Machine } from "./machine.js";
import { reaches } from "./targets.js";

/** A run as it is written to disk, for comparison with others. */
export interface Results {
  readonly startedAt: string;
  readonly seconds: number;
  readonly quick: boolean;
  readonly machine: Machine;
  readonly figures: readonly (Figure & { readonly area: string })[];
}

/** The file of a run that names none: below `.moraine` in the working directory, by the moment it began. */
export function defaultResultsPath(startedAt: Date): string {
  return join(".moraine", "bench", `${startedAt.toISOString().slice(0, 19).replaceAll(":", "-")}.json`);
}

export function writeResults(path: string, results: Results): void {
  const figures = results.figures.map((figure) => {
    const { value, target } = figure;
    const judged = !results.quick && value !== null && target !== undefined;
    return judged ? { ...figure, reached: reaches(value, target) } : figure;
  });
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${JSON.stringify({ ...results, figures }, null, 2)}\n`);
}
