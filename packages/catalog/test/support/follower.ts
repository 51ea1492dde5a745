import { expect } from "vitest";
import type { RevisionSteps } from "../../src/rows/follow-step.js";
import type { Lake } from "./lake.js";
import { copyOf, type TableCopy } from "./table-copy.js";

/** A copy of the tables of a lake that follows its commits. */
export class Follower {
  readonly copy: TableCopy;
  revision: bigint;
  readonly #log: RevisionSteps[] = [];
  readonly stop: () => void;

  private constructor(copy: TableCopy, revision: bigint, log: RevisionSteps[], stop: () => void) {
    this.copy = copy;
    this.revision = revision;
    this.#log = log;
    this.stop = stop;
  }

  static async open(lake: Lake): Promise<Follower> {
    const log: RevisionSteps[] = [];
    const stop = lake.catalog.onRevision({
      revision: (steps) => log.push(steps),
      lost: (error) => {
        throw error;
      },
    });
    const { revision, steps, release } = await lake.catalog.loadRows();
    const copy = await copyOf(steps);
    release();
    return new Follower(copy, revision, log, stop);
  }

  /** Applies what has been told until the head is reached. */
  async catchUp(lake: Lake): Promise<void> {
    while (this.revision < lake.catalog.revision) {
      const next = this.#log.shift();
      if (next === undefined) {
        await new Promise((resolve) => setImmediate(resolve));
        continue;
      }
      if (next.to <= this.revision) continue;
      expect(next.from).toBe(this.revision);
      for (const step of next.steps) this.copy.apply(step);
      this.revision = next.to;
    }
  }
}

/** The tables of a lake as a load gives them. */
export async function freshCopy(lake: Lake): Promise<TableCopy> {
  const { steps, release } = await lake.catalog.loadRows();
  const copy = await copyOf(steps);
  release();
  return copy;
}
