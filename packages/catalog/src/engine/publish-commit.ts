import type { PlannerReport } from "@moraine/index-core";
import { commitChannel, type CommitEvent } from "../diagnostics.js";
import type { GroupPlan } from "./group-plan.js";
import type { Tip } from "./tip.js";

/** What a group of commits came to, up to its durable write. Times are those of `performance.now`. */
export interface LandedGroup {
  readonly plan: GroupPlan;
  readonly last: Tip;
  readonly commits: number;
  readonly refused: number;
  readonly beganMs: number;
  readonly plannedMs: number;
}

/** Tells subscribers of a batch that has just become durable. */
export function publishCommit({ plan, last, commits, refused, beganMs, plannedMs }: LandedGroup): void {
  const { batch, reports } = plan;
  const sum = (name: keyof PlannerReport): number => reports.reduce((total, report) => total + report[name], 0);
  const event: CommitEvent = {
    snapshot: last.state.head.snapshotId,
    commits,
    refused,
    records: batch.count,
    bytes: batch.bytes,
    entriesPut: sum("puts"),
    entriesDeleted: sum("deletes"),
    entriesUnchanged: sum("noOps"),
    probes: sum("probes"),
    probeHits: sum("hits"),
    probeMisses: sum("misses"),
    knownAbsent: sum("knownAbsent"),
    knownAbsentByFilter: sum("knownAbsentByFilter"),
    planMs: plannedMs - beganMs,
    writeMs: performance.now() - plannedMs,
  };
  commitChannel.publish(event);
}
