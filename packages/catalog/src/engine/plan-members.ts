import type { CommitPlanner, PlannedEntries } from "@moraine/index-core";
import type { BatchBuilder } from "@moraine/store";
import { failedAttempt } from "./attempt.js";
import { commitsOf, type Member, type Refusal } from "./member.js";

/** Plans members in order onto the batch. Returns the first one that cannot land. */
export function planMembers(
  planner: CommitPlanner,
  group: readonly Member[],
  batch: BatchBuilder,
  accepted: Member[],
): Refusal | undefined {
  for (const member of group) {
    if (member.settled) return { member, attempt: undefined };
    const planned: PlannedEntries[] = [];
    try {
      for (const commit of commitsOf(member)) planned.push(planner.plan(commit.indexChanges));
    } catch (error) {
      for (const entries of planned.reverse()) planner.withdraw(entries);
      return { member, attempt: failedAttempt(error) };
    }
    for (const entries of planned) planner.stage(entries, batch);
    accepted.push(member);
  }
  return undefined;
}
