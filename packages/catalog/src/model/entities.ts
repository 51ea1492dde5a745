import type { EntityKind, EntityValue } from "@moraine/codec";

/** The kinds that are held in memory. Statistics of single files scale with the data and stay in the store. */
export type StateKind = Exclude<EntityKind, "file_column_stats">;

/** One entity's transition within a commit. `before` and `after` are never both absent, and never equal. */
export interface EntityChangeOf<K extends EntityKind> {
  readonly kind: K;
  /** Ids in key order, as in `EntityKey`. */
  readonly ids: readonly bigint[];
  readonly before: EntityValue[K] | undefined;
  readonly after: EntityValue[K] | undefined;
}

/** A transition of any kind that is held in memory. */
export type EntityChange = { readonly [K in StateKind]: EntityChangeOf<K> }[StateKind];

/** A live entity with its ids. */
export type EntityEntry = {
  readonly [K in StateKind]: { readonly kind: K; readonly ids: readonly bigint[]; readonly value: EntityValue[K] };
}[StateKind];

/** The order in which a commit's records are written, kind by kind (format.md 5.2). */
export const diffOrder: readonly StateKind[] = [
  "schema",
  "table",
  "view",
  "column",
  "data_file",
  "delete_file",
  "partition",
  "sort",
  "index",
  "macro",
  "mapping",
  "table_stats",
  "table_column_stats",
  "option",
  "tag",
];

const stateKinds: ReadonlySet<EntityKind> = new Set<EntityKind>(diffOrder);

export function isStateKind(kind: EntityKind): kind is StateKind {
  return stateKinds.has(kind);
}

/** Orders id lists of one kind as their keys are ordered. */
export function compareIds(a: readonly bigint[], b: readonly bigint[]): number {
  for (let at = 0; at < a.length; at++) {
    const left = a[at] as bigint;
    const right = b[at] as bigint;
    if (left !== right) return left < right ? -1 : 1;
  }
  return 0;
}
