import { ConstraintError } from "@moraine/codec";
import type { IndexChange } from "./index-change.js";
import type { HolderState, PoisonedIndex } from "./planned-entries.js";
import { quotedName } from "./quoted-name.js";

/** A claim that was refused for a stored entry. */
export interface RefusedClaim {
  readonly indexId: bigint;
  readonly name: string;
  readonly claimingRowId: bigint;
  readonly holdingRowId: bigint;
  /** Where the entry was stored. It holds the value, so it belongs in no message. */
  readonly key: Uint8Array;
}

const refusedClaims = new WeakMap<object, RefusedClaim>();

/** What an error refused, where that is a claim to a value under which an entry was stored already. */
export function refusedClaim(error: unknown): RefusedClaim | undefined {
  return typeof error === "object" && error !== null ? refusedClaims.get(error) : undefined;
}

/**
 * What happens to the losing claims of one change: the first refuses the commit, or, in an index that is not enforced
 * yet, they are dropped and counted (specification, "Duplicates poison the build, not the writer").
 */
export class Collisions {
  readonly #change: IndexChange;
  #first: PoisonedIndex | null = null;
  #dropped = 0;

  constructor(change: IndexChange) {
    this.#change = change;
  }

  get found(): PoisonedIndex | null {
    return this.#first === null ? null : { ...this.#first, dropped: this.#dropped };
  }

  /**
   * The holder is an addition of the same commit, one of a commit of the same batch, or an entry of the store; `key` then
   * gives where that lies.
   */
  add(claimingRowId: bigint, holdingRowId: bigint, from: "own" | "staged" | "stored", key: () => Uint8Array): void {
    const own = from === "own";
    const holder: HolderState = own ? "an addition of this commit" : "a row already indexed";
    const { layout, name } = this.#change;
    if (!this.#change.poisonOnDuplicate) {
      const refusal = new ConstraintError(
        `index ${quotedName(name)} (id ${layout.indexId}): row ${claimingRowId} claims a value that row ${holdingRowId} holds, ${holder}`,
        {
          remedy: own
            ? "Leave one of the two rows out of the commit."
            : "Delete the holding row in this commit or an earlier one, or add another value. If that row is not live, the entry is stale: drop the index and create it again.",
        },
      );
      if (from === "stored")
        refusedClaims.set(refusal, { indexId: layout.indexId, name, claimingRowId, holdingRowId, key: key() });
      throw refusal;
    }
    this.#dropped++;
    this.#first ??= { indexId: layout.indexId, name, claimingRowId, holdingRowId, holder, dropped: 1 };
  }
}
