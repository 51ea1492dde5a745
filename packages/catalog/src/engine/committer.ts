import {
  ClosedError,
  encodeValue,
  HeadValue,
  InterruptedError,
  InvalidArgumentError,
  MoraineError,
  RetryBudgetExhaustedError,
  StoreError,
  sysHeadKey,
} from "@moraine/codec";
import { CommitPlanner, type IndexChange, measureChanges, type PlannedEntries } from "@moraine/index-core";
import { BatchBuilder, type WritableStore } from "@moraine/store";
import type { InlineFacts } from "../inline/registry.js";
import type { ChangeSet } from "../model/changes.js";
import { commitAttempts, exclusiveAttemptMs, exclusiveFromAttempt, forgetEveryCommits, groupIndexBytes, groupMembers } from "./limits.js";
import { type PendingWrites, WriteSet } from "./pending-writes.js";
import type { Tip } from "./tip.js";

/** One logical commit, staged on a tip: everything that landing it needs, and nothing that can still fail except its index entries. */
export interface StagedCommit {
  /** State left behind; its head record carries the commit's own snapshot id. The base's own state if nothing is written. */
  readonly after: Tip;
  readonly changes: ChangeSet;
  readonly indexChanges: readonly IndexChange[];
  /** Records of the commit, without index entries and without `sys/head`. Empty if the commit staged nothing. */
  readonly writes: WriteSet;
  /** What may be taken for true about inline rows as soon as the commit is staged. */
  readonly facts: InlineFacts;
}

/** What an attempt of a member yields: its commits in order (several for an explicit group) and the caller's result. */
export interface StagedAttempt<T> {
  readonly commits: readonly StagedCommit[];
  readonly result: T;
}

/** Runs a member's closures against a tip. Its reads of the store must see what is staged and not durable (`PendingWrites.over`). */
export type AttemptRunner<T> = (base: Tip) => StagedAttempt<T> | Promise<StagedAttempt<T>>;

export interface CommitterEvents {
  /** Called before a batch is written: the last moment at which the head can be pinned without what is in flight. */
  readonly beforeWrite: () => Promise<void>;
  /** Called when a batch is durable, before its callers are told. */
  readonly landed: (tip: Tip) => void;
  /** Called when a commit takes its place in the chain of tips. */
  readonly staged: (commit: StagedCommit) => void;
  /** Called for a staged commit that does not land after all. */
  readonly discarded: (commit: StagedCommit) => void;
}

interface Member {
  readonly run: AttemptRunner<unknown>;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
  readonly signal: AbortSignal | undefined;
  attempts: number;
  base: Tip | undefined;
  staged: StagedAttempt<unknown> | undefined;
  settled: boolean;
}

/**
 * The store's only committer. Commits are staged one after the other, each on the state that the one before it leaves, and
 * land in groups: one batch, one durable write, one head record.
 *
 * A closure that finishes without waiting for anything outside is staged in its turn, and repeated only if a commit below it
 * turns out not to land. One that waits
 * gives its turn away after one pass of the event loop; when it is done, the conflict matrix decides between "conflict" and
 * "run it again on the newer state". From the third attempt on it keeps its turn.
 */
export class Committer {
  readonly #store: WritableStore;
  readonly #pending: PendingWrites;
  readonly #events: CommitterEvents;
  readonly #waiting: Member[] = [];
  #staged: Member[] = [];
  #head: Tip;
  #tip: Tip;
  #landedSinceForget = 0;
  #turnTaken = false;
  #closureRuns = false;
  #landing: Promise<void> | undefined;
  #landingScheduled = false;
  #failure: MoraineError | undefined;

  constructor(store: WritableStore, head: Tip, pending: PendingWrites, events: CommitterEvents) {
    this.#store = store;
    this.#head = head;
    this.#tip = head;
    this.#pending = pending;
    this.#events = events;
  }

  /** The durable head. */
  get head(): Tip {
    return this.#head;
  }

  /** Stages and lands one member. Resolves when it is durable. */
  commit<T>(run: AttemptRunner<T>, signal?: AbortSignal): Promise<T> {
    // Seen only before the closure's first await; later on such a call just has to wait until the turn is given away.
    if (this.#closureRuns) {
      return Promise.reject(
        new InvalidArgumentError("commit was called inside of a commit's closure", {
          remedy: "Use the transaction that the closure was given, or start the second commit after the first.",
        }),
      );
    }
    return new Promise<T>((resolve, reject) => {
      const member: Member = {
        run,
        resolve: resolve as (result: unknown) => void,
        reject,
        signal,
        attempts: 0,
        base: undefined,
        staged: undefined,
        settled: false,
      };
      if (signal !== undefined) this.#watch(member, signal);
      this.#waiting.push(member);
      this.#takeTurns();
    });
  }

  /** Waits until everything that was committed so far has landed or failed, then refuses further commits. */
  async close(): Promise<void> {
    while (this.#turnTaken || this.#waiting.length > 0 || this.#staged.length > 0 || this.#landing !== undefined) {
      if (this.#failure !== undefined) break;
      await (this.#landing ?? new Promise((resolve) => setImmediate(resolve)));
    }
    this.#fail(new ClosedError("the catalog was closed"));
  }

  #watch(member: Member, signal: AbortSignal): void {
    const abort = (): void => {
      this.#settle(member, () =>
        member.reject(
          new InterruptedError("the commit was cancelled", {
            remedy: "Read the head again to see whether it landed.",
            cause: signal.reason,
          }),
        ),
      );
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  }

  #settle(member: Member, how: () => void): void {
    if (member.settled) return;
    member.settled = true;
    how();
  }

  #rejectMember(member: Member, error: unknown): void {
    this.#settle(member, () => member.reject(error));
  }

  /** Gives turns in order of arrival until one has to wait. */
  #takeTurns(): void {
    while (!this.#turnTaken) {
      const member = this.#waiting.shift();
      if (member === undefined) return;
      if (member.settled) continue;
      if (this.#failure !== undefined) {
        this.#rejectMember(member, this.#failure);
        continue;
      }
      this.#turn(member);
    }
  }

  /** One member's turn: take what its earlier attempt staged if the tip is still the same, else run it again. */
  #turn(member: Member): void {
    const { base, staged } = member;
    if (base !== undefined && staged !== undefined) {
      if (base === this.#tip) {
        this.#stage(member, staged);
        return;
      }
      try {
        for (const commit of staged.commits) this.#tip.checkPremise(base, commit.changes);
      } catch (error) {
        this.#rejectMember(member, error);
        return;
      }
    }
    if (member.attempts >= commitAttempts) {
      this.#rejectMember(member, new RetryBudgetExhaustedError(`the commit lost its race ${member.attempts} times`));
      return;
    }
    const attempt = this.#attempt(member);
    if (attempt === undefined) return;
    this.#turnTaken = true;
    void this.#holdTurn(member, attempt).finally(() => {
      this.#turnTaken = false;
      this.#takeTurns();
    });
  }

  /** Runs the closure. Returns a promise only if it did not finish at once. */
  #attempt(member: Member): Promise<void> | undefined {
    const base = this.#tip;
    member.attempts += 1;
    member.base = base;
    member.staged = undefined;
    let outcome: StagedAttempt<unknown> | Promise<StagedAttempt<unknown>>;
    try {
      this.#closureRuns = true;
      outcome = member.run(base);
    } catch (error) {
      this.#rejectMember(member, error);
      return undefined;
    } finally {
      this.#closureRuns = false;
    }
    if (!(outcome instanceof Promise)) {
      this.#stage(member, outcome);
      return undefined;
    }
    return outcome.then(
      (staged) => {
        member.staged = staged;
      },
      (error: unknown) => this.#rejectMember(member, error),
    );
  }

  async #holdTurn(member: Member, attempt: Promise<void>): Promise<void> {
    const exclusive = member.attempts >= exclusiveFromAttempt;
    const inTurn = await settledWithin(attempt, exclusive ? exclusiveAttemptMs : undefined);
    if (!inTurn) {
      // Later turns go on meanwhile; the member asks for another one when its closure is done.
      void attempt.then(() => {
        this.#waiting.push(member);
        this.#takeTurns();
      });
      return;
    }
    if (member.staged === undefined || member.settled) return;
    // A commit below may have failed to land meanwhile and taken this attempt's base with it.
    if (member.base === this.#tip) this.#stage(member, member.staged);
    else this.#waiting.unshift(member);
  }

  #stage(member: Member, staged: StagedAttempt<unknown>): void {
    member.staged = staged;
    const last = staged.commits.at(-1);
    if (last !== undefined) this.#tip = last.after;
    for (const commit of staged.commits) {
      this.#pending.add(commit.writes);
      this.#events.staged(commit);
    }
    this.#staged.push(member);
    this.#scheduleLanding();
  }

  /** Landing starts in a microtask, so that commits made in the same breath share a batch. */
  #scheduleLanding(): void {
    if (this.#landing !== undefined || this.#landingScheduled) return;
    this.#landingScheduled = true;
    queueMicrotask(() => {
      this.#landingScheduled = false;
      this.#landing = this.#land().finally(() => {
        this.#landing = undefined;
        if (this.#staged.length > 0) this.#scheduleLanding();
      });
    });
  }

  async #land(): Promise<void> {
    while (this.#staged.length > 0 && this.#failure === undefined) {
      try {
        await this.#landGroup();
      } catch (error) {
        this.#fail(asMoraineError(error));
      }
    }
  }

  async #landGroup(): Promise<void> {
    const batch = new BatchBuilder();
    const accepted: Member[] = [];
    let group = this.#takeGroup(0);
    try {
      const planner = new CommitPlanner(this.#store);
      while (group.length > 0) {
        await planner.probe(group.flatMap(indexChangesOf));
        const failedAt = this.#planMembers(planner, group, batch, accepted);
        if (failedAt === undefined) break;
        const later = [...group.slice(failedAt + 1), ...this.#staged.splice(0)];
        await this.#restage(accepted, group.slice(failedAt, failedAt + 1), later);
        group = this.#takeGroup(accepted.length);
      }
    } catch (error) {
      // Nothing was written: the batch's members are told, and the commits staged on top of them start over.
      const failed = [...new Set([...accepted, ...group])];
      for (const member of failed) this.#rejectMember(member, asMoraineError(error));
      await this.#restage([], failed, this.#staged.splice(0));
      return;
    }
    try {
      await this.#write(accepted, batch);
    } catch (error) {
      const failure = asMoraineError(error);
      for (const member of accepted) this.#rejectMember(member, failure);
      throw failure;
    }
  }

  /** The next members for a batch that has some already: so many, and of so many index bytes, that the batch stays writable. */
  #takeGroup(accepted: number): Member[] {
    let count = 0;
    let bytes = 0;
    for (const member of this.#staged) {
      bytes += measureChanges(indexChangesOf(member)).bytes;
      if (accepted + count >= groupMembers || (count > 0 && bytes > groupIndexBytes)) break;
      count += 1;
    }
    return this.#staged.splice(0, count);
  }

  /** Plans members in order onto the batch. Returns the position of the first one that cannot land. */
  #planMembers(
    planner: CommitPlanner,
    group: readonly Member[],
    batch: BatchBuilder,
    accepted: Member[],
  ): number | undefined {
    for (const [position, member] of group.entries()) {
      const commits = member.staged?.commits ?? [];
      if (member.settled) return position;
      const planned: PlannedEntries[] = [];
      try {
        for (const commit of commits) planned.push(planner.plan(commit.indexChanges));
      } catch (error) {
        for (const entries of planned.reverse()) planner.withdraw(entries);
        this.#rejectMember(member, error);
        return position;
      }
      for (const entries of planned) planner.stage(entries, batch);
      accepted.push(member);
    }
    return undefined;
  }

  /** Takes failed members out of the chain: everybody staged after them runs again on the state without them. */
  async #restage(accepted: readonly Member[], failed: readonly Member[], later: readonly Member[]): Promise<void> {
    for (const member of [...failed, ...later]) {
      for (const commit of member.staged?.commits ?? []) {
        if (commit.after !== member.base) commit.after.discard();
        this.#pending.remove(commit.writes);
        this.#events.discarded(commit);
      }
    }
    this.#tip = accepted.at(-1)?.staged?.commits.at(-1)?.after ?? this.#head;
    const alive = later.filter((member) => !member.settled);
    for (const member of alive) {
      member.base = undefined;
      member.staged = undefined;
      member.attempts = 0;
    }
    this.#waiting.unshift(...alive);
    this.#takeTurns();
    while (this.#turnTaken) await new Promise((resolve) => setImmediate(resolve));
  }

  async #write(accepted: readonly Member[], batch: BatchBuilder): Promise<void> {
    const commits = accepted.flatMap((member) => member.staged?.commits ?? []);
    const writing = commits.filter((commit) => commit.writes.size > 0);
    const last = writing.at(-1)?.after;
    if (last !== undefined) {
      const records = new WriteSet();
      for (const commit of writing) records.addAll(commit.writes);
      records.appendTo(batch);
      batch.put(
        sysHeadKey,
        encodeValue(HeadValue, { snapshotId: last.state.head.snapshotId, batchSeq: last.state.batchSeq }),
      );
      await this.#events.beforeWrite();
      await this.#store.write(batch.finish());
      this.#head = last;
      this.#landedSinceForget += commits.length;
      if (this.#landedSinceForget >= forgetEveryCommits) {
        this.#landedSinceForget = 0;
        last.forgetOld();
      }
      this.#events.landed(last);
      for (const commit of writing) this.#pending.remove(commit.writes);
    }
    for (const member of accepted) this.#settle(member, () => member.resolve(member.staged?.result));
  }

  /** After a failed write nobody can know what the store holds: the handle is finished and every caller is told. */
  #fail(error: MoraineError): void {
    this.#failure ??= error;
    const members = [...this.#staged.splice(0), ...this.#waiting.splice(0)];
    for (const member of members) this.#rejectMember(member, this.#failure);
  }
}

function indexChangesOf(member: Member): readonly IndexChange[] {
  return member.settled ? [] : (member.staged?.commits ?? []).flatMap((commit) => commit.indexChanges);
}

/** Whether an attempt is done after one pass of the event loop, or within a limit where one is given. */
function settledWithin(attempt: Promise<void>, limitMs: number | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const giveUp = (): void => resolve(false);
    const timer = limitMs === undefined ? undefined : setTimeout(giveUp, limitMs);
    const immediate = limitMs === undefined ? setImmediate(giveUp) : undefined;
    void attempt.then(() => {
      clearTimeout(timer);
      clearImmediate(immediate);
      resolve(true);
    });
  });
}

function asMoraineError(error: unknown): MoraineError {
  if (error instanceof MoraineError) return error;
  return new StoreError("the commit could not be written", {
    remedy: "Open the store again and read its head.",
    cause: error,
  });
}
