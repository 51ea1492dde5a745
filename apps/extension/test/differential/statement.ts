import type { LakeModel, ModelTable } from "./lake-model.js";
import type { Random } from "./random.js";

/**
 * One statement of a workload, with `{lake}` where the lake's name goes, `{files}` where the folder of both lakes goes, and `{version}`
 * or `{since}` where an earlier snapshot goes.
 */
export interface Statement {
  readonly sql: string;
  /** Runs before, for what the statement needs outside of the lake. */
  readonly before?: string;
  /** How it is run and what is compared; default `rows`. */
  readonly how?: How;
  /** For `refused`: what the refusal says. */
  readonly refusal?: string;
  /** Applied to the model when the statement has succeeded. */
  readonly applied?: () => void;
}

/**
 * - `rows`: it changes rows, and an index may refuse it
 * - `alike`: it changes no row, and comes to the same on both lakes
 * - `query`: likewise, and its rows are compared
 * - `index`: only the lake with indexes gets it
 * - `refused`: likewise, and an index always refuses it
 */
export type How = "rows" | "alike" | "query" | "index" | "refused";

/** Makes a statement up, or finds that there is nothing for it. */
export type Maker = (random: Random, model: LakeModel) => Statement | undefined;

/** A statement with the name of what it is one of. */
export type Made = Statement & { readonly kind: string };

/** Kinds of statements: how often, by which name, and how they are made. */
export type Kinds = readonly (readonly [weight: number, kind: string, make: Maker])[];

/** A maker of statements about some table. */
export function forTable(
  make: (random: Random, table: ModelTable, model: LakeModel) => Statement | undefined,
  isUsable: (table: ModelTable) => boolean = () => true,
): Maker {
  return (random, model) => {
    const usable = model.tables.filter(isUsable);
    return usable.length === 0 ? undefined : make(random, random.pick(usable), model);
  };
}
