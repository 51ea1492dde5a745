import type { PlannerReport } from "@moraine/index-core";
import type { BatchBuilder } from "@moraine/store";
import { commitChannel, type CommitEvent } from "../diagnostics.js";
import type { Tip } from "./tip.js";

/** What a group of commits came to, up to its durable write. Times are those of `performance.now`. */
export interface LandedGroup {
  readonly batch: BatchBuilder;
  readonly report: PlannerReport;
  readonly last: Tip;
  readonly commits: number;
  readonly refused: number;
  readonly beganMs: number;
  readonly plannedMs: number;
}

/** Tells subscribers of a batch that has just become durable. */
export function publishCommit({ batch, report, last, commits, refused, beganMs, plannedMs }: LandedGroup): void {
  const event: CommitEvent = {
    snapshot: last.state.head.snapshotId,
    commits,
    refused,
    records: batch.count,
    bytes: batch.bytes,
    entriesPut: report.puts,
    entriesDeleted: report.deletes,
    entriesUnchanged: report.noOps,
    probes: report.probes,
    probeHits: report.hits,
    probeMisses: report.misses,
    knownAbsent: report.knownAbsent,
    knownAbsentByFilter: report.knownAbsentByFilter,
    planMs: plannedMs - beganMs,
    writeMs: performance.now() - plannedMs,
  };
  commitChannel.publish(event);
}
