import { limits } from "./limits.js";
import { nextTurn } from "./within.js";

/**
 * Lets timers and I/O run between many short calls. A call of the binding whose answer lies in memory settles in microtasks
 * alone, so that a loop of such calls, or many loops side by side, would keep everything else from running for as long as
 * they go on. After so many calls of this thread all further ones wait for the same turn of the event loop.
 */
export class Turns {
  readonly #callsPerTurn: number;
  #calls = 0;
  #turn: Promise<void> | null = null;

  constructor(callsPerTurn: number) {
    this.#callsPerTurn = callsPerTurn;
  }

  /** What to wait for before the next call, or `null` when it may go on at once. */
  next(): Promise<void> | null {
    if (this.#turn !== null) return this.#turn;
    this.#calls += 1;
    if (this.#calls < this.#callsPerTurn) return null;
    this.#calls = 0;
    this.#turn = nextTurn().then(() => {
      this.#turn = null;
    });
    return this.#turn;
  }
}

/** One for all stores of this thread. */
export const turns = new Turns(limits.callsPerTurn);
