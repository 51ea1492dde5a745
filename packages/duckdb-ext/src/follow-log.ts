import type { RevisionListener, RevisionSteps } from "@moraine/catalog";
import { framesOfSteps } from "./frames-of-steps.js";
import { followLogBytes, followLogRevisions } from "./limits.js";

/** Frames that take a copy from one revision to a later one. */
export interface LoggedRevision {
  readonly from: bigint;
  readonly to: bigint;
  readonly frames: readonly Uint8Array[];
  readonly byteLength: number;
}

export interface FollowLogLimits {
  readonly bytes: number;
  readonly revisions: number;
}

/**
 * What the newest commits of a lake changed, ready to be sent. Listens to the catalog; each commit is rendered once, however
 * many clients follow. Bounded: who stands at an older revision than it reaches back to, or within one, loads everything.
 */
export class FollowLog implements RevisionListener {
  readonly #schema: string;
  readonly #limits: FollowLogLimits;
  #entries: LoggedRevision[] = [];
  #bytes = 0;
  #newest: bigint;
  #losses = 0;
  readonly #waiting = new Set<() => void>();

  /** `schema` is where the copies have the tables, `revision` the head at which listening began. */
  constructor(
    schema: string,
    revision: bigint,
    limits: FollowLogLimits = { bytes: followLogBytes, revisions: followLogRevisions },
  ) {
    this.#schema = schema;
    this.#newest = revision;
    this.#limits = limits;
  }

  /** The newest revision that it leads to. */
  get newest(): bigint {
    return this.#newest;
  }

  revision(steps: RevisionSteps): void {
    const frames = framesOfSteps(this.#schema, steps.steps);
    const byteLength = frames.reduce((sum, frame) => sum + frame.length, 0);
    // After a loss nothing leads to what comes now.
    if (this.#entries.at(-1)?.to !== steps.from) this.#clear();
    this.#entries.push({ from: steps.from, to: steps.to, frames, byteLength });
    this.#bytes += byteLength;
    while (
      this.#entries.length > this.#limits.revisions ||
      (this.#bytes > this.#limits.bytes && this.#entries.length > 0)
    ) {
      this.#bytes -= this.#entries.shift()?.byteLength ?? 0;
    }
    this.#newest = steps.to;
    this.#wake();
  }

  lost(): void {
    this.#losses++;
    this.#clear();
    this.#wake();
  }

  /** Resolves when it leads to a revision, when steps were lost, or after so many milliseconds. */
  async reach(revision: bigint, withinMs: number): Promise<void> {
    if (this.#newest >= revision) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve();
      };
      const timer = setTimeout(done, withinMs);
      const losses = this.#losses;
      const check = (): void => {
        if (this.#newest >= revision || this.#losses > losses) done();
      };
      this.#waiting.add(check);
    });
  }

  /** The way from a revision to the newest one; empty at the newest itself, `undefined` where there is none. */
  since(revision: bigint): readonly LoggedRevision[] | undefined {
    if (revision === this.#newest) return [];
    const first = this.#entries.findIndex(({ from }) => from === revision);
    return first < 0 ? undefined : this.#entries.slice(first);
  }

  /** Bytes of the way from a revision to the newest one; `undefined` where there is none. */
  bytesSince(revision: bigint): number | undefined {
    return this.since(revision)?.reduce((sum, { byteLength }) => sum + byteLength, 0);
  }

  #clear(): void {
    this.#entries = [];
    this.#bytes = 0;
  }

  #wake(): void {
    for (const check of this.#waiting) check();
  }
}
