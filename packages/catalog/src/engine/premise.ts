import type { Member } from "./member.js";
import type { Tip } from "./tip.js";

/**
 * Throws `commit_conflict` where a commit that took its place since a member's latest attempt began touched what the attempt
 * touches. An attempt that waited for nothing of its own cannot lose: run again, it is as if it had come later.
 */
export function checkPremise(member: Member, tip: Tip): void {
  const { base, latest, checked } = member;
  if (base === undefined || latest === undefined || base === tip || !member.memory.hasWaited) return;
  for (const changes of latest.changes) tip.checkPremise(checked ?? base, changes);
}

/**
 * Compares attempts that wait for their turn with what has landed so far, so that what landed long ago can be forgotten. A
 * conflict is found again in the turn.
 */
export function advancePremises(members: Iterable<Member>, landed: Tip): void {
  for (const member of members) {
    const { base, latest } = member;
    // An attempt on a newer state than the landed one has nothing behind it yet.
    if (base === undefined || latest === undefined || !landed.isOnTopOf(base)) continue;
    try {
      checkPremise(member, landed);
      member.checked = landed;
    } catch {
      // The history that shows it stays as long as `premiseHistoryCommits` says, and then is a conflict as well.
    }
  }
}
