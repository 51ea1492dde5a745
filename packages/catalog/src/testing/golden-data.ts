import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export type GoldenValue =
  | { readonly i64: number }
  | { readonly i32: number }
  | { readonly f64: number | string }
  | { readonly str: string }
  | { readonly bool: boolean }
  | null;

/** One operation of a step. Which of the other properties it has follows from `op`; golden/README.md lists them. */
export interface GoldenOperation {
  readonly op: string;
  readonly [argument: string]: unknown;
}

export interface GoldenStep {
  readonly verb?: string;
  readonly continues?: string;
  readonly ops?: readonly GoldenOperation[];
  readonly members?: readonly (readonly GoldenOperation[])[];
  readonly times?: number;
}

export interface GoldenPut {
  readonly key: string;
  readonly value: string;
  readonly key_reading: string;
  readonly over?: "same" | "other";
}

/** One batch of a script, or a call that wrote none. */
export interface GoldenItem {
  readonly step: GoldenStep;
  readonly result?: unknown;
  readonly puts?: readonly GoldenPut[];
  readonly deletes?: readonly string[];
  readonly deletes_of_absent?: readonly string[];
  /** The batches of a `repeat` are not listed. */
  readonly elided?: boolean;
}

/** Whole-store vectors by script name: every batch that the reference writes, from an empty store on. */
export function readGoldenStore(): ReadonlyMap<string, readonly GoldenItem[]> {
  const path = fileURLToPath(new URL("../../../../golden/store.json", import.meta.url));
  const { about: _about, ...scripts } = JSON.parse(readFileSync(path, "utf8")) as Record<string, readonly GoldenItem[]>;
  return new Map(Object.entries(scripts));
}
