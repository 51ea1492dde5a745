import {
  ClosedError,
  encodeValue,
  HeadValue,
  type MoraineError,
  RetryBudgetExhaustedError,
  sysHeadKey,
} from "@moraine/codec";
import type { UniquenessFilters } from "@moraine/index-core";
import type { WriteBatch } from "@moraine/store";
import { commitCancelled, commitInClosure } from "../commit-options.js";
import { commitChannel } from "../diagnostics.js";
import {
  type Attempt,
  type AttemptRunner,
  failedAttempt,
  type StagedAttempt,
  type StagedCommit,
  stagedAttempt,
} from "./attempt.js";
import { GroupPlan } from "./group-plan.js";
import { commitAttempts, exclusiveAttemptMs, forgetEveryCommits, groupMembers } from "./limits.js";
import {
  asMoraineError,
  commitsOf,
  holdsTurn,
  isLarge,
  type Member,
  newMember,
  settledWithin,
  watchSignal,
  writesSomething,
} from "./member.js";
import { type PendingWrites, WriteSet } from "./pending-writes.js";
import { advancePremises, checkPremise } from "./premise.js";
import { publishCommit } from "./publish-commit.js";
import { ReadAhead } from "./read-ahead.js";
import { takeGroup } from "./take-group.js";
import type { Tip } from "./tip.js";

export interface CommitterEvents {
  /** Called before a batch is written: the last moment at which the head can be pinned without what is in flight. */
  readonly beforeWrite: () => Promise<void>;
  /** Called when a batch is durable, before its callers are told, with the records that it wrote beside the head. */
  readonly landed: (tip: Tip, records: WriteSet) => void;
  /** Called when the write of a batch failed. */
  readonly lost: () => void;
  /** Called when a commit takes its place in the chain of tips. */
  readonly staged: (commit: StagedCommit) => void;
  /** Says more about a refusal, once that is durable with which it collided. `undefined` where there is no more to say. */
  readonly explained: (error: unknown) => Promise<unknown> | undefined;
  /** Called for a staged commit that does not land after all. */
  readonly discarded: (commit: StagedCommit) => void;
}

/**
 * The store's only committer. Commits are staged one after the other, each on the state that the one before it leaves, and
 * land in groups: one batch, one durable write, one head record.
 *
 * A closure that finishes without waiting for anything outside is staged in its turn, and repeated only if a commit below it
 * turns out not to land. One that waits gives its turn away after one pass of the event loop; when it is done, the conflict
 * matrix decides between "conflict" and "run it again on the newer state". From the third attempt on it keeps its turn.
 *
 * A large commit gives its turn away, too, while its entries are made and its unique keys are read. It is then staged as it is
 * or run again, which costs little, and begins a batch of its own (rfcs/0011-large-commits.md).
 *
 * A refusal counts only on the newest state, and is told only when that state is durable: a caller never hears of a commit
 * that is then taken back, and finds what it was refused for when it looks.
 */
export class Committer {
  /** The store, as far as a commit needs it. */
  readonly #filters: UniquenessFilters;
  readonly #pending: PendingWrites;
  readonly #events: CommitterEvents;
  readonly #ahead: ReadAhead;
  /** Members that go on without a turn: a closure that waits, rows that are prepared, keys that are read ahead. */
  readonly #away = new Set<Member>();
  readonly #waiting: Member[] = [];
  /** Large members that wait until the one that is staged or landing is durable, so that smaller ones can land before them. */
  readonly #held: Member[] = [];
  readonly #staged: Member[] = [];
  #head: Tip;
  #tip: Tip;
  #landedSinceForget = 0;
  /** Rises whenever staged commits are taken back: whoever read what they would have written has to read again. */
  #takenBack = 0;
  /** Most members staged ahead and in one batch. Falls while commits are refused: each refusal repeats those staged behind it. */
  #groupLimit = groupMembers;
  #turnTaken = false;
  #closureRuns = false;
  /** Whether the group that is being landed holds a large member. */
  #largeLanding = false;
  #landing: Promise<void> | undefined;
  #landingScheduled = false;
  #failure: MoraineError | undefined;

  constructor(filters: UniquenessFilters, head: Tip, pending: PendingWrites, events: CommitterEvents) {
    this.#filters = filters;
    this.#head = head;
    this.#tip = head;
    this.#pending = pending;
    this.#events = events;
    this.#ahead = new ReadAhead(filters);
  }

  /** The durable head. */
  get head(): Tip {
    return this.#head;
  }

  /**
   * Stages and lands one member. Resolves when it is durable. `alone`: it holds its turn from its first attempt on, so that
   * nothing else is staged while its closure runs.
   */
  commit<T>(run: AttemptRunner<T>, signal?: AbortSignal, alone = false): Promise<T> {
    // Seen only before the closure's first await; later on such a call just has to wait until the turn is given away.
    if (this.#closureRuns) {
      return Promise.reject(commitInClosure());
    }
    return new Promise<T>((resolve, reject) => {
      const member = newMember(run, { resolve: resolve as (result: unknown) => void, reject, alone });
      if (signal !== undefined) this.#watch(member, signal);
      this.#waiting.push(member);
      this.#takeTurns();
    });
  }

  /** Waits until everything that was committed so far has landed or failed, then refuses further commits. */
  async close(): Promise<void> {
    while (this.#turnTaken || this.#hasMembers || this.#landing !== undefined) {
      if (this.#failure !== undefined) break;
      await (this.#landing ?? new Promise((resolve) => setImmediate(resolve)));
    }
    this.#fail(new ClosedError("the catalog was closed"));
  }

  /** Whether any member can go on by itself. A closure that waits is not waited for. */
  get #hasMembers(): boolean {
    if (this.#waiting.length + this.#held.length + this.#staged.length > 0) return true;
    for (const { latest, memory, settled } of this.#away)
      if (!settled && (latest !== undefined || memory.isSlicing)) return true;
    return false;
  }

  #watch(member: Member, signal: AbortSignal): void {
    watchSignal(member, signal, () => this.#rejectMember(member, commitCancelled(signal)));
  }

  #settle(member: Member, how: () => void): void {
    if (member.settled) return;
    member.settled = true;
    member.unwatch();
    this.#ahead.release(member);
    how();
  }

  #rejectMember(member: Member, error: unknown): void {
    this.#settle(member, () => member.reject(error));
  }

  /** Gives turns in order of arrival until one has to wait. */
  #takeTurns(): void {
    while (!this.#turnTaken && this.#staged.length < this.#groupLimit) {
      const member = this.#waiting.shift();
      if (member === undefined) return;
      if (member.settled) continue;
      if (this.#failure !== undefined) {
        this.#rejectMember(member, this.#failure);
        continue;
      }
      if (this.#comesTooSoon(member)) this.#held.push(member);
      else this.#turn(member);
    }
  }

  /** Whether a member is large while another large one is staged or landing. */
  #comesTooSoon(member: Member): boolean {
    return isLarge(member) && (this.#largeLanding || this.#staged.some(isLarge));
  }

  /** One member's turn: take what its earlier attempt came to if the tip is still the same, else run it again. */
  #turn(member: Member): void {
    const { latest } = member;
    if (latest !== undefined) {
      if (this.#standsOn(member)) {
        this.#stage(member, latest);
        return;
      }
      try {
        checkPremise(member, this.#tip);
      } catch (error) {
        this.#stage(member, failedAttempt(error));
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
    member.checked = undefined;
    member.ground = this.#takenBack;
    member.latest = undefined;
    member.memory.begin();
    let outcome: StagedAttempt<unknown> | Promise<StagedAttempt<unknown>>;
    try {
      this.#closureRuns = true;
      outcome = member.run(base, member.memory);
    } catch (error) {
      this.#stage(member, failedAttempt(error));
      return undefined;
    } finally {
      this.#closureRuns = false;
    }
    if (!(outcome instanceof Promise)) {
      this.#arrive(member, stagedAttempt(outcome));
      return undefined;
    }
    return outcome.then(
      (staged) => {
        member.latest = stagedAttempt(staged);
      },
      (error: unknown) => {
        member.latest = failedAttempt(error);
      },
    );
  }

  async #holdTurn(member: Member, attempt: Promise<void>): Promise<void> {
    const inTurn = await settledWithin(attempt, holdsTurn(member) ? exclusiveAttemptMs : undefined);
    if (!inTurn) {
      member.memory.leaveTurn();
      this.#leave(member, attempt);
      return;
    }
    if (member.latest === undefined || member.settled) return;
    // A commit below may have failed to land meanwhile and taken this attempt's base with it.
    if (this.#standsOn(member)) this.#arrive(member, member.latest);
    else this.#waiting.unshift(member);
  }

  /**
   * Stages an attempt in its turn, unless it has many keys to be read, for which it gives its turn away, or turns out to be
   * large beside another large one. One that holds its turn is staged in any case: what comes before it would have it run
   * once more.
   */
  #arrive(member: Member, attempt: Attempt): void {
    member.latest = attempt;
    if (this.#ahead.wants(member)) this.#leave(member, Promise.resolve());
    else if (this.#comesTooSoon(member) && !holdsTurn(member)) this.#held.push(member);
    else this.#stage(member, attempt);
  }

  /** Later turns go on meanwhile; the member asks for another one when its attempt is done and its keys are read. */
  #leave(member: Member, attempt: Promise<void>): void {
    this.#away.add(member);
    void attempt.then(async () => {
      if (this.#ahead.wants(member)) await this.#ahead.read(member);
      this.#away.delete(member);
      this.#waiting.push(member);
      this.#takeTurns();
    });
  }

  /** Whether a member's latest attempt saw exactly the state that the next commit builds on. */
  #standsOn(member: Member): boolean {
    return member.base === this.#tip && member.ground === this.#takenBack;
  }

  /**
   * Gives an attempt its place in the chain. One that failed has a place too, which changes nothing: what it ran into may be
   * a commit that is not durable yet, and if that does not land after all, the failed attempt has to be repeated.
   */
  #stage(member: Member, attempt: Attempt): void {
    if (this.#failure !== undefined) {
      this.#rejectMember(member, this.#failure);
      return;
    }
    member.latest = attempt;
    const last = attempt.commits.at(-1);
    if (last !== undefined) this.#tip = last.after;
    for (const commit of attempt.commits) {
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
      const group = takeGroup(this.#staged, 0, this.#groupLimit);
      this.#largeLanding = group.some(isLarge);
      try {
        await this.#landGroup(group);
      } catch (error) {
        this.#fail(asMoraineError(error));
      } finally {
        this.#largeLanding = false;
        this.#waiting.unshift(...this.#held.splice(0));
      }
      this.#takeTurns();
    }
  }

  async #landGroup(first: Member[]): Promise<void> {
    const plan = new GroupPlan(this.#filters, this.#ahead);
    const { accepted } = plan;
    let group = first;
    let refused = 0;
    const beganMs = performance.now();
    try {
      while (group.length > 0) {
        const refusal = await plan.add(group);
        if (refusal === undefined) break;
        refused += 1;
        const later = [...group.slice(group.indexOf(refusal.member) + 1), ...this.#staged.splice(0)];
        this.#discard([refusal.member, ...later]);
        if (refusal.attempt !== undefined) {
          // It is told when what it collided with is durable.
          refusal.member.latest = refusal.attempt;
          accepted.push(refusal.member);
        }
        await this.#restage(accepted, later);
        group = takeGroup(this.#staged, accepted.length, this.#groupLimit);
        this.#largeLanding ||= group.some(isLarge);
      }
      if (accepted.some((member) => commitsOf(member).some(writesSomething))) await this.#events.beforeWrite();
    } catch (error) {
      // Nothing was written: the batch's members are told, and the commits staged on top of them start over.
      const failed = [...new Set([...accepted, ...group])];
      for (const member of failed) this.#rejectMember(member, asMoraineError(error));
      const later = this.#staged.splice(0);
      this.#discard([...failed, ...later]);
      await this.#restage([], later);
      return;
    }
    this.#groupLimit = refused > 0 ? Math.max(1, this.#groupLimit >> 1) : Math.min(groupMembers, this.#groupLimit * 2);
    this.#takeTurns();
    const plannedMs = performance.now();
    try {
      await this.#write(plan, (last, commits) => {
        if (commitChannel.hasSubscribers) publishCommit({ plan, last, commits, refused, beganMs, plannedMs });
      });
    } catch (error) {
      const failure = asMoraineError(error);
      this.#events.lost();
      for (const member of accepted) this.#rejectMember(member, failure);
      throw failure;
    }
  }

  /** Takes back what members have staged. */
  #discard(members: readonly Member[]): void {
    this.#takenBack += 1;
    for (const member of members) {
      for (const commit of commitsOf(member)) {
        if (commit.after !== member.base) commit.after.discard();
        this.#pending.remove(commit.writes);
        this.#events.discarded(commit);
      }
    }
  }

  /** Lets discarded members run again, on the state without the ones that cannot land. */
  async #restage(accepted: readonly Member[], later: readonly Member[]): Promise<void> {
    this.#tip = accepted.flatMap(commitsOf).at(-1)?.after ?? this.#head;
    const alive = later.filter((member) => !member.settled);
    for (const member of alive) {
      member.base = undefined;
      member.checked = undefined;
      member.latest = undefined;
      member.attempts = 0;
    }
    this.#waiting.unshift(...alive);
    this.#takeTurns();
    while (this.#turnTaken) await new Promise((resolve) => setImmediate(resolve));
  }

  async #write({ accepted, batch }: GroupPlan, durable: (last: Tip, commits: number) => void): Promise<void> {
    const commits = accepted.flatMap(commitsOf);
    const writing = commits.filter(writesSomething);
    const last = writing.at(-1)?.after;
    if (last !== undefined) {
      const records = new WriteSet();
      for (const commit of writing) records.addAll(commit.writes);
      records.appendTo(batch);
      batch.put(
        sysHeadKey,
        encodeValue(HeadValue, { snapshotId: last.state.head.snapshotId, batchSeq: last.state.batchSeq }),
      );
      await this.#hand(batch.finish());
      this.#head = last;
      this.#landedSinceForget += commits.length;
      if (this.#landedSinceForget >= forgetEveryCommits) {
        this.#landedSinceForget = 0;
        advancePremises([...this.#away, ...this.#held, ...this.#waiting], last);
        last.forgetOld();
      }
      this.#events.landed(last, records);
      for (const commit of writing) this.#pending.remove(commit.writes);
      durable(last, writing.length);
    }
    for (const member of accepted) this.#finish(member);
  }

  /** Hands a batch to the store and waits until it is durable. */
  async #hand(batch: WriteBatch): Promise<void> {
    await this.#ahead.writing(batch);
    await this.#filters.write(batch);
    this.#ahead.written();
  }

  #finish(member: Member): void {
    const outcome = member.latest?.outcome;
    if (outcome === undefined || !("error" in outcome)) {
      this.#settle(member, () => member.resolve(outcome?.result));
      return;
    }
    const explained = this.#events.explained(outcome.error);
    if (explained === undefined) this.#rejectMember(member, outcome.error);
    else void explained.then((error) => this.#rejectMember(member, error));
  }

  /** After a failed write nobody can know what the store holds: the handle is finished and every caller is told. */
  #fail(error: MoraineError): void {
    this.#failure ??= error;
    const members = [...this.#staged.splice(0), ...this.#held.splice(0), ...this.#waiting.splice(0)];
    for (const member of members) this.#rejectMember(member, this.#failure);
  }
}
