import { measureChanges } from "@moraine/index-core";
import { storeLimits } from "@moraine/store";
import { groupIndexBytes, largeCommitEntries } from "./limits.js";
import { indexChangesOf, type Member } from "./member.js";

/** Room for the batch of a group, in bytes: for its index entries at once, as large buffers are slow to grow. */
export function batchBytes(group: readonly Member[]): number {
  return storeLimits.batchInitialBytes + measureChanges(group.flatMap(indexChangesOf)).bytes;
}

/**
 * Takes the next members for a batch that has some already: so many, and of so many index bytes, that the batch stays
 * writable. A large one begins a batch of its own: those before it need not wait for its write.
 */
export function takeGroup(staged: Member[], accepted: number, limit: number): Member[] {
  let count = 0;
  let bytes = 0;
  for (const member of staged) {
    const size = measureChanges(indexChangesOf(member));
    bytes += size.bytes;
    if (accepted + count >= limit || (count > 0 && bytes > groupIndexBytes)) break;
    if (accepted + count > 0 && size.entries >= largeCommitEntries) break;
    count += 1;
  }
  return staged.splice(0, count);
}
