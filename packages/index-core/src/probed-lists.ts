import type { IndexKeys } from "@moraine/codec";
import type { IndexChange } from "./index-change.js";

/** Entries of a unique index whose stored state decides: those that are added, and those that are removed under guard. */
export interface ProbedList {
  readonly indexId: bigint;
  readonly keys: IndexKeys;
  readonly added: boolean;
}

export function probedLists(changes: readonly IndexChange[]): ProbedList[] {
  const lists: ProbedList[] = [];
  for (const { layout, additions, removals, guardRemovals } of changes) {
    if (!layout.unique) continue;
    const { indexId } = layout;
    if (guardRemovals && removals !== undefined) lists.push({ indexId, keys: removals, added: false });
    if (additions !== undefined) lists.push({ indexId, keys: additions, added: true });
  }
  return lists;
}

/** Entries whose stored state a commit's planning asks for. */
export function countProbed(changes: readonly IndexChange[]): number {
  return probedLists(changes).reduce((sum, { keys }) => sum + keys.count, 0);
}
