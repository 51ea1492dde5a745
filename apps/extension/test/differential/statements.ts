import type { LakeModel } from "./lake-model.js";
import { objectKinds, objectQueries } from "./object-statements.js";
import type { Random } from "./random.js";
import { rowKinds } from "./row-statements.js";
import type { Kinds, Made } from "./statement.js";
import { createTable, indexKinds, tableKinds } from "./table-statements.js";
import { queryKinds, upkeepKinds } from "./upkeep-statements.js";

/**
 * What DuckLake 1.5.5 itself does wrong in a transaction: one that ends partition keys and adds a file fails with an internal error, and
 * one that renames a table which it has altered leaves the table there twice, which moraine refuses.
 */
const alone: readonly string[] = ["partition keys", "rename table"];
const inTransactions: Kinds = [
  ...rowKinds.map(([weight, ...kind]) => [weight * 3, ...kind] as const),
  ...tableKinds.filter(([, kind]) => !alone.includes(kind)),
  ...objectKinds,
];
const all: Kinds = [
  ...rowKinds,
  ...tableKinds,
  ...indexKinds,
  ...objectKinds,
  ...upkeepKinds,
  ...queryKinds,
  ...objectQueries,
];

/** Kinds that need others before them, and so come seldom. */
const seldom = [
  "create schema",
  "drop schema",
  "view",
  "macro",
  "table macro",
  "drop view or macro",
  "query of a view or macro",
  "create index",
  "drop of an indexed column",
  "retype of an indexed column",
];
const moreOfTheSeldom: Kinds = all.map(([weight, kind, maker]) => [
  seldom.includes(kind) ? weight * 6 : weight,
  kind,
  maker,
]);

/** Names of all kinds of statements. */
export const statementKinds: readonly string[] = all.map(([, kind]) => kind);

function make(random: Random, model: LakeModel, kinds: Kinds): Made {
  for (;;) {
    const [kind, maker] = random.weighted(kinds.map(([weight, ...named]) => [weight, named] as const));
    const made = maker(random, model);
    if (made !== undefined) return { ...made, kind };
  }
}

export function firstTable(random: Random, model: LakeModel): Made {
  return make(random, model, [[1, "create table", createTable]]);
}

/** A statement that may stand in a transaction: most often a change of rows. */
export function statementInTransaction(random: Random, model: LakeModel): Made {
  return make(random, model, inTransactions);
}

/** Anything; on demand more of what comes seldom. */
export function statement(random: Random, model: LakeModel, isForTheSeldom: boolean): Made {
  return make(random, model, isForTheSeldom ? moreOfTheSeldom : all);
}
