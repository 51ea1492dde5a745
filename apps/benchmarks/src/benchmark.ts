import type { Figure } from "./figure.js";
import type { Sizes } from "./sizes.js";

/** What every benchmark gets. */
export interface BenchmarkContext {
  readonly sizes: Sizes;
  /** A folder of this run; removed at its end. Whoever makes something in it picks the name. */
  readonly folder: string;
  /** Whether the sizes are tiny ones. */
  readonly quick: boolean;
  /** Options of Node for processes that a benchmark starts. */
  readonly nodeArguments: readonly string[];
}

/** Something that can be asked for by name, and the figures that it yields. */
export interface Benchmark {
  readonly name: string;
  readonly run: () => Promise<readonly Figure[]>;
}

/** Benchmarks of one subject, which may share stores and files. Those are made when first used. */
export interface Area {
  readonly name: string;
  readonly benchmarks: readonly Benchmark[];
  readonly close?: () => Promise<void>;
}

/** Something made when first asked for. */
export interface Lazy<T> {
  get(): Promise<T>;
  /** Runs `action` on it if it was made. Where making it failed, whoever asked for it knows. */
  ifMade(action: (value: T) => void | Promise<void>): Promise<void>;
}

export function lazy<T>(make: () => Promise<T>): Lazy<T> {
  let made: Promise<T> | undefined;
  return {
    get: () => (made ??= make()),
    async ifMade(action) {
      await made?.then(action, () => undefined);
    },
  };
}

/** Fails a benchmark whose work gave something else than it should: a wrong answer has no speed. */
export function expectEqual(what: string, actual: unknown, expected: unknown): void {
  if (actual !== expected) throw new Error(`${what} is ${String(actual)}, not ${String(expected)}`);
}
