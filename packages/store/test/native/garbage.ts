import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { nextTurn } from "../../src/within.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Collects garbage now, twice: what a finalizer lets go of is gone too. */
export function collectGarbage(): void {
  collect();
  collect();
}

/** Collects garbage, and lets finalizers run, until a condition holds. */
export async function collectUntil(condition: () => boolean): Promise<void> {
  while (!condition()) {
    collectGarbage();
    await nextTurn();
  }
}
