import { ClosedError } from "@moraine/codec";
import { WriteSet } from "../engine/pending-writes.js";
import type { PinnedHead } from "../engine/scope.js";
import type { InlineRegistry } from "../inline/registry.js";
import type { CatalogState } from "../model/state.js";
import { revisionSteps } from "./follow-revision.js";
import type { RevisionSteps } from "./follow-step.js";

/** Who wants to know what commits change in DuckLake's tables. */
export interface RevisionListener {
  /** `from` is the `to` of the call before, or, of the first call, at most the revision at which listening began. */
  revision(steps: RevisionSteps): void;
  /** What commits changed could not be worked out: the next call leaves a gap, and the rows have to be loaded again. */
  lost(error: unknown): void;
}

/** Commits whose steps are still to be worked out, with the head below them pinned. */
interface Pending {
  readonly below: PinnedHead;
  readonly writes: WriteSet;
  after: CatalogState;
  /** Somebody stands at the revision that this ends with: later commits must not be added. */
  sealed: boolean;
}

/**
 * Works out what each landed commit changes in DuckLake's tables, one after the other. Commits that land meanwhile are put
 * together, so that there is never more than one pin and one set of writes waiting for each revision at which somebody stands.
 */
export class RevisionFollower {
  readonly #registry: InlineRegistry;
  readonly #listeners = new Set<RevisionListener>();
  #waiting: Pending[] = [];
  #running = false;

  constructor(registry: InlineRegistry) {
    this.#registry = registry;
  }

  listen(listener: RevisionListener): () => void {
    this.seal();
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#drop();
    };
  }

  /** Commits from here on are told apart from those before: somebody loads the rows at the head, or begins to listen. */
  seal(): void {
    const last = this.#waiting.at(-1);
    if (last !== undefined) last.sealed = true;
  }

  /** A batch is durable. `below` is the head that it was written over. */
  landed(below: PinnedHead | undefined, after: CatalogState, writes: WriteSet): void {
    if (this.#listeners.size === 0) return;
    const last = this.#waiting.at(-1);
    if (last !== undefined && !last.sealed) {
      last.writes.addAll(writes);
      last.after = after;
      return;
    }
    if (below === undefined) {
      this.#lose(new ClosedError("the head below a commit is not pinned any more"));
      return;
    }
    const own = new WriteSet();
    own.addAll(writes);
    this.#waiting.push({ below: below.retain(), writes: own, after, sealed: false });
    if (!this.#running) void this.#run();
  }

  close(): void {
    this.#listeners.clear();
    this.#drop();
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      // Commits of the same breath share the steps.
      await Promise.resolve();
      for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) await this.#tell(next);
    } finally {
      this.#running = false;
    }
  }

  async #tell({ below, writes, after }: Pending): Promise<void> {
    try {
      const { state: before, view: beforeView } = below;
      const steps = await revisionSteps({ before, beforeView, after, writes }, this.#registry);
      const revision = { from: before.batchSeq, to: after.batchSeq, steps };
      for (const listener of this.#listeners) listener.revision(revision);
    } catch (error) {
      this.#lose(error);
    } finally {
      below.release();
    }
  }

  /** What waits goes as well: it would only be told with a gap before it. */
  #lose(error: unknown): void {
    this.#drop();
    for (const listener of this.#listeners) listener.lost(error);
  }

  #drop(): void {
    for (const { below } of this.#waiting) below.release();
    this.#waiting = [];
  }
}
