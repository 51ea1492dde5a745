import { type CommitPlanner, countProbed, type UniquenessFilters } from "@moraine/index-core";
import type { WriteBatch } from "@moraine/store";
import { commitsReadAhead, largeCommitEntries } from "./limits.js";
import { holdsTurn, indexChangesOf, type Member } from "./member.js";

/**
 * Reads the unique keys of large commits before their turn, while other commits land. Each has a planner of its own, which
 * plans the batch that begins with the commit; it hears of every batch that is written until then (see `CommitPlanner`).
 */
export class ReadAhead {
  readonly #filters: UniquenessFilters;
  readonly #planners = new Map<Member, CommitPlanner>();
  /** Members that wait for one of the places, and what lets each go on. */
  readonly #queue: (() => void)[] = [];
  /** The batch that was handed to the store and is not durable yet. */
  #inFlight: WriteBatch | undefined;

  constructor(filters: UniquenessFilters) {
    this.#filters = filters;
  }

  /** Whether a member's latest attempt has many keys that have not been read. One that holds its turn reads them in it. */
  wants(member: Member): boolean {
    if (member.settled || holdsTurn(member)) return false;
    const changes = indexChangesOf(member);
    if (countProbed(changes) < largeCommitEntries) return false;
    return this.#planners.get(member)?.hasReadAhead(changes) !== true;
  }

  /** Reads the keys of a member's latest attempt, when there is a place. */
  async read(member: Member): Promise<void> {
    while (!this.#planners.has(member) && this.#planners.size >= commitsReadAhead && !member.settled)
      await new Promise<void>((resolve) => this.#queue.push(resolve));
    if (member.settled) {
      this.#letNext();
      return;
    }
    const planner = this.#planners.get(member) ?? this.#filters.planner();
    this.#planners.set(member, planner);
    try {
      await planner.probeAhead(indexChangesOf(member), () => this.#inFlight);
    } catch {
      // What was not read is read in the turn, and a store that cannot be read is told of there.
    }
  }

  /** The planner that has read ahead for a member, for the batch that begins with it. It hears of no further batch. */
  take(member: Member | undefined): CommitPlanner | undefined {
    const planner = member === undefined ? undefined : this.#planners.get(member);
    if (member !== undefined) this.release(member);
    return planner;
  }

  /** The member needs its place no more. */
  release(member: Member): void {
    if (this.#planners.delete(member)) this.#letNext();
  }

  /** Call it, and wait for it, right before a batch is handed to the store. Planners that begin meanwhile ask for the batch. */
  async writing(batch: WriteBatch): Promise<void> {
    this.#inFlight = batch;
    for (const planner of this.#planners.values()) await planner.writtenInTurns(batch);
  }

  /** Call it when that batch is durable. */
  written(): void {
    this.#inFlight = undefined;
  }

  #letNext(): void {
    this.#queue.shift()?.();
  }
}
