import type { RowId } from "@moraine/codec";
import type { ReadOnlyCatalog } from "../interface.js";
import type { DuckDb } from "./duckdb.js";
import { demoLimits } from "./limits.js";

/** One question, put to an index and to a full scan. */
export interface Question {
  readonly text: string;
  readonly ask: (
    catalog: Pick<ReadOnlyCatalog, "indexLookup" | "indexLookupMany" | "indexRange" | "indexNulls">,
  ) => Promise<RowId[]>;
  /** Gives the row ids in the order in which the index has to give them. */
  readonly sql: string;
}

export interface Comparison {
  readonly question: string;
  readonly rows: number;
  readonly indexMs: number;
  readonly scanMs: number;
  readonly isEqual: boolean;
}

/** Answers a question both ways and takes the median time of each. */
export async function compare(catalog: ReadOnlyCatalog, duckDb: DuckDb, question: Question): Promise<Comparison> {
  return await compareAnswers(
    question.text,
    () => question.ask(catalog),
    () => duckDb.bigints(question.sql),
  );
}

/** Takes the answer of an index and that of a scan, with the median time of each. */
export async function compareAnswers(
  question: string,
  ask: () => Promise<readonly bigint[]>,
  scanAll: () => Promise<readonly bigint[]>,
): Promise<Comparison> {
  const index = await timed(ask);
  const scan = await timed(scanAll);
  const isEqual =
    index.value.length === scan.value.length && index.value.every((rowId, at) => rowId === scan.value[at]);
  return { question, rows: index.value.length, indexMs: index.medianMs, scanMs: scan.medianMs, isEqual };
}

/** The first run is not timed: it fills caches, as the runs before it would have. */
async function timed<T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly medianMs: number }> {
  let value = await work();
  const times: number[] = [];
  const endMs = performance.now() + demoLimits.runsBudgetMs;
  while (times.length < demoLimits.leastRuns || (times.length < demoLimits.mostRuns && performance.now() < endMs)) {
    const startedMs = performance.now();
    value = await work();
    times.push(performance.now() - startedMs);
  }
  times.sort((left, right) => left - right);
  return { value, medianMs: times[Math.floor(times.length / 2)] ?? 0 };
}
