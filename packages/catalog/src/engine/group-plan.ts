import type { CommitPlanner, PlannedEntries, PlannerReport, UniquenessFilters } from "@moraine/index-core";
import { BatchBuilder } from "@moraine/store";
import { failedAttempt } from "./attempt.js";
import { commitsOf, indexChangesOf, isLarge, type Member, type Refusal } from "./member.js";
import type { ReadAhead } from "./read-ahead.js";
import { batchBytes } from "./take-group.js";

/** Puts one batch together: members are planned onto it in order, with one planner. */
export class GroupPlan {
  /** Members that land with the batch, those included whose refusal is told when it is durable. */
  readonly accepted: Member[] = [];
  readonly #filters: UniquenessFilters;
  readonly #ahead: ReadAhead;
  readonly #planners: CommitPlanner[] = [];
  #batch = new BatchBuilder(0);

  constructor(filters: UniquenessFilters, ahead: ReadAhead) {
    this.#filters = filters;
    this.#ahead = ahead;
  }

  /** The entries of the members that were accepted. */
  get batch(): BatchBuilder {
    return this.#batch;
  }

  /** What each planner did that read for this batch. Only the last one has planned anything. */
  get reports(): PlannerReport[] {
    return this.#planners.map(({ report }) => report);
  }

  /** Reads what the next members need and plans them. Returns the first one that cannot land. */
  async add(group: readonly Member[]): Promise<Refusal | undefined> {
    const planner = this.#plannerFor(group);
    await planner.probe(group.flatMap(indexChangesOf));
    for (const member of group) {
      if (member.settled) return { member, attempt: undefined };
      // Asked before: a caller that gives its commit up meanwhile does not make it smaller.
      const large = isLarge(member);
      const planned: PlannedEntries[] = [];
      try {
        for (const { indexChanges } of commitsOf(member))
          planned.push(large ? await planner.planInTurns(indexChanges) : planner.plan(indexChanges));
      } catch (error) {
        for (const entries of planned.reverse()) planner.withdraw(entries);
        return { member, attempt: failedAttempt(error) };
      }
      for (const entries of planned) {
        if (large) await planner.stageInTurns(entries, this.#batch);
        else planner.stage(entries, this.#batch);
      }
      this.accepted.push(member);
    }
    return undefined;
  }

  /**
   * As long as nothing is accepted the batch may still begin with another member: where that one's keys were read ahead, its
   * planner takes the place of one that has only read.
   */
  #plannerFor(group: readonly Member[]): CommitPlanner {
    if (this.accepted.length === 0) {
      this.#batch = new BatchBuilder(batchBytes(group));
      const ahead = this.#ahead.take(group[0]);
      if (ahead !== undefined) this.#planners.push(ahead);
    }
    let planner = this.#planners.at(-1);
    if (planner === undefined) this.#planners.push((planner = this.#filters.planner()));
    return planner;
  }
}
