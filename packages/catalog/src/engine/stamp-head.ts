import { noFacts } from "../inline/registry.js";
import { ChangeSet } from "../model/changes.js";
import type { StagedCommit } from "./attempt.js";
import type { WriteSet } from "./pending-writes.js";
import { Tip } from "./tip.js";

const noChanges = ChangeSet.of([]);

/** A commit that writes records beside the catalog: it makes no snapshot, and still moves the head's batch number, so that readers look again. */
export function stampHead(base: Tip, writes: WriteSet): StagedCommit {
  const { state } = base;
  const after = new Tip(state.apply([], [], state.head, state.batchSeq + 1n), base, noChanges);
  return { after, changes: noChanges, indexChanges: [], writes, facts: noFacts };
}
