import { randomUUID } from "node:crypto";
import { ClosedError, RetryBudgetExhaustedError, type SnapshotId } from "@moraine/codec";
import type { KeyRange, PackedKeys, PackedValues, ReadView, RowBlock, ScanOptions } from "@moraine/store";
import type { CommitClosure, CommitResult, ReclaimIndexEntriesArguments } from "../catalog.js";
import { CatalogReads } from "../catalog-reads.js";
import { CommitMemory } from "../commit-memory.js";
import {
  checkClosure,
  checkClosures,
  checkCommitOptions,
  commitCancelled,
  commitInClosure,
  type CommitOptions,
} from "../commit-options.js";
import type { CatalogCut } from "../cut.js";
import type { BackfillEntriesArguments, ScopedFileIndexEntriesArguments } from "../derive-entries.js";
import { commitAttempts, exclusiveAttemptMs, exclusiveFromAttempt } from "../engine/limits.js";
import { settledWithin } from "../engine/member.js";
import type { FlushInlinedArguments, FlushInlinedResult } from "../flush-inlined.js";
import type { MaintainOptions, MaintainReport } from "../maintenance.js";
import type { MaintenancePass } from "../maintenance-status.js";
import { Draft } from "../model/draft.js";
import { stageCatalogRecords } from "../model/snapshot-record.js";
import type { CatalogState } from "../model/state.js";
import type { CommitDraft, FileIndexVectors, IndexEntry } from "../operations.js";
import { ReadScope } from "../read-scope.js";
import { type ConnectedHead, ConnectedHeads } from "./connected-head.js";
import type { CatalogLink } from "./link.js";
import type { RecordedMember } from "./recorded-commit.js";
import { RecordedTransaction } from "./recorded-transaction.js";
import { Turns } from "./turns.js";

/**
 * A catalog whose store another process holds. Reads run here, over cuts of the store that are pinned there; a commit's closure runs
 * here, on the head, and what its verbs were given is made durable there if the head is still the same, else the closure runs again.
 *
 * Commits take turns: their closures run and land one after the other. A closure that waits gives its turn away for its first
 * attempts, and keeps it for a limited time from then on, as in `Committer`.
 */
export class ConnectedCatalog extends CatalogReads implements AsyncDisposable {
  readonly #link: CatalogLink;
  readonly #heads: ConnectedHeads;
  readonly #turns = new Turns();
  #closureRuns = false;
  #closing: Promise<void> | undefined;
  /** The whole store at its head: each call reads a cut of its own. */
  readonly view: ReadView = {
    getMany: (keys: PackedKeys): Promise<PackedValues> => this.read((_, { view }) => view.getMany(keys)),
    scan: (range: KeyRange, options?: ScanOptions): AsyncIterableIterator<RowBlock> => this.#scan(range, options),
  };

  /** Takes the link over: closing the catalog closes it. */
  constructor(link: CatalogLink) {
    super();
    this.#link = link;
    this.#heads = new ConnectedHeads(link);
  }

  async commit<T>(closure: CommitClosure<T>, options: CommitOptions = {}): Promise<CommitResult<T>> {
    checkClosure(closure, "closure");
    const [result] = await this.#commit([closure], options);
    return result as CommitResult<T>;
  }

  async commitGroup<T>(closures: readonly CommitClosure<T>[], options: CommitOptions = {}): Promise<CommitResult<T>[]> {
    checkClosures(closures);
    return await this.#commit(closures, options);
  }

  /** Pins the head for several reads that must agree. Release the scope when done. */
  async reads(): Promise<ReadScope> {
    this.#requireOpen();
    return this.#scopeOf(await this.#heads.refresh());
  }

  async flushInlined(args: FlushInlinedArguments): Promise<FlushInlinedResult> {
    return (await this.#call("flushInlined", args)) as FlushInlinedResult;
  }

  async maintain({ onProgress, ...options }: MaintainOptions = {}): Promise<MaintainReport> {
    const told = onProgress === undefined ? undefined : (value: unknown) => onProgress(value as MaintainReport);
    return (await this.#call("maintain", options, told)) as MaintainReport;
  }

  async recordMaintenancePass(pass: MaintenancePass): Promise<void> {
    await this.#call("recordMaintenancePass", pass);
  }

  async reclaimIndexEntries(args: ReclaimIndexEntriesArguments): Promise<number> {
    return (await this.#call("reclaimIndexEntries", args)) as number;
  }

  override async scopedFileIndexEntries(args: ScopedFileIndexEntriesArguments): Promise<FileIndexVectors[]> {
    return (await this.#call("scopedFileIndexEntries", args)) as FileIndexVectors[];
  }

  override async scopedBackfillEntries(args: BackfillEntriesArguments): Promise<IndexEntry[]> {
    return (await this.#call("scopedBackfillEntries", args)) as IndexEntry[];
  }

  /** Ends the connection. Commits that are under way may land still. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  protected async read<T>(run: (scope: ReadScope, cut: CatalogCut) => Promise<T>, isRepeat = false): Promise<T> {
    this.#requireOpen();
    const head = await this.#heads.refresh();
    const scope = this.#scopeOf(head);
    try {
      const { state, registry } = head.known;
      return await run(scope, { state, view: head.cut.view, registry, files: undefined });
    } catch (error) {
      // The process that held the cut has ended, or its store has reopened itself. The read can begin again.
      if (!(error instanceof ClosedError) || this.#closing !== undefined || isRepeat) throw error;
      this.#heads.forget(head);
    } finally {
      scope.release();
    }
    return await this.read(run, true);
  }

  async *#scan(range: KeyRange, options: ScanOptions | undefined): AsyncIterableIterator<RowBlock> {
    this.#requireOpen();
    const head = await this.#heads.refresh();
    try {
      yield* head.cut.view.scan(range, options);
    } finally {
      head.release();
    }
  }

  #scopeOf(head: ConnectedHead): ReadScope {
    const { state, registry, contexts } = head.known;
    return new ReadScope(state, head.cut.view, registry, contexts, undefined, () => head.release());
  }

  async #call(
    method: Parameters<CatalogLink["call"]>[0],
    args: unknown,
    onProgress?: (value: unknown) => void,
  ): Promise<unknown> {
    this.#requireOpen();
    return await this.#link.call(method, args, onProgress);
  }

  async #commit<T>(closures: readonly CommitClosure<T>[], options: CommitOptions): Promise<CommitResult<T>[]> {
    this.#requireOpen();
    checkCommitOptions(options);
    if (this.#closureRuns) throw commitInClosure();
    const { signal } = options;
    if (signal === undefined) return await this.#attempts(closures, options);
    checkNotCancelled(signal);
    return await new Promise((resolve, reject) => {
      const cancel = (): void => reject(commitCancelled(signal));
      signal.addEventListener("abort", cancel, { once: true });
      void this.#attempts(closures, options)
        .then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", cancel));
    });
  }

  async #attempts<T>(closures: readonly CommitClosure<T>[], options: CommitOptions): Promise<CommitResult<T>[]> {
    const memory = new CommitMemory();
    let hasFloor = false;
    try {
      for (let attempt = 1; attempt <= commitAttempts; attempt++) {
        const results = await this.#attempt(closures, { options, memory, attempt });
        if (results !== "stale" && results !== "outdated") return results;
        if (results === "outdated") continue;
        await this.#link.claim(true);
        hasFloor = true;
      }
    } catch (error) {
      // Others are let on by the service itself where it cannot be told.
      if (hasFloor) await this.#link.claim(false).catch(() => undefined);
      throw error;
    }
    throw new RetryBudgetExhaustedError(`the commit lost its race ${commitAttempts} times`);
  }

  /** Runs and lands closures once. `"stale"`: the service has a newer head; `"outdated"`: they saw an older one than there was. */
  async #attempt<T>(
    closures: readonly CommitClosure<T>[],
    context: AttemptContext,
  ): Promise<CommitResult<T>[] | "stale" | "outdated"> {
    const { options, attempt } = context;
    const { signal } = options;
    let endTurn = await this.#turns.take();
    try {
      checkNotCancelled(signal);
      // Most commits find here what they would be told: the service refuses those that do not.
      const state = (attempt === 1 ? this.#heads.known : undefined)?.state ?? (await this.#newestState());
      const running = this.#run(closures, state, context);
      const ended = running.then(
        () => undefined,
        () => undefined,
      );
      if (!(await settledWithin(ended, attempt >= exclusiveFromAttempt ? exclusiveAttemptMs : undefined))) {
        endTurn();
        await ended;
        endTurn = await this.#turns.take();
      }
      let members: RunMember<T>[];
      try {
        members = await running;
      } catch (error) {
        // It may have been refused for what is not so any more.
        if (attempt === 1 && (await this.#newestState()) !== state) return "outdated";
        throw error;
      }
      checkNotCancelled(signal);
      if (members.every(({ verbs }) => verbs.length === 0)) {
        if (attempt === 1 && (await this.#newestState()) !== state) return "outdated";
        return members.map(({ value }) => ({ snapshotId: state.head.snapshotId as SnapshotId, value }));
      }
      const { author, message, extraInfo } = options;
      const recorded = members.map(({ verbs, uuids }): RecordedMember => ({ verbs, uuids }));
      const { batchSeq: base, head } = state;
      const commit = { base, baseSnapshot: head.snapshotId, members: recorded, author, message, extraInfo };
      const landed = await this.#link.commit(commit, signal);
      if (landed === "stale") return "stale";
      await this.#heads.adopt(landed.cut);
      return members.map(({ value }, at) => ({ snapshotId: landed.snapshots[at] as SnapshotId, value }));
    } finally {
      endTurn();
    }
  }

  async #newestState(): Promise<CatalogState> {
    const head = await this.#heads.refresh();
    // A closure reads what is in memory: the cut need not be held while it runs.
    head.release();
    return head.known.state;
  }

  /** Runs closures on a state, each on what those before it leave. */
  async #run<T>(
    closures: readonly CommitClosure<T>[],
    base: CatalogState,
    { options, memory }: AttemptContext,
  ): Promise<RunMember<T>[]> {
    const members: RunMember<T>[] = [];
    let state = base;
    for (const closure of closures) {
      const uuids: string[] = [];
      const newUuid = (): string => {
        const uuid = randomUUID();
        uuids.push(uuid);
        return uuid;
      };
      const draft: CommitDraft = new Draft(state, { newUuid, memory });
      const transaction = new RecordedTransaction(draft, uuids);
      let value: T;
      try {
        value = await this.#synchronously(() => closure(transaction));
      } finally {
        transaction.end();
      }
      members.push({ verbs: transaction.verbs, uuids, value });
      if (members.length < closures.length) state = stateAfter(draft, options);
    }
    return members;
  }

  /** A commit that is begun in here would wait for the one that begins it. */
  #synchronously<T>(run: () => T): T {
    this.#closureRuns = true;
    try {
      return run();
    } finally {
      this.#closureRuns = false;
    }
  }

  async #close(): Promise<void> {
    this.#heads.close();
    await this.#link.close();
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new ClosedError("the catalog was closed");
  }
}

function checkNotCancelled(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw commitCancelled(signal);
}

interface AttemptContext {
  readonly options: CommitOptions;
  readonly memory: CommitMemory;
  readonly attempt: number;
}

interface RunMember<T> extends RecordedMember {
  readonly value: T;
}

const nowhere = { put: (): void => undefined, delete: (): void => undefined };

/** What the next closure of a group finds. */
function stateAfter(draft: CommitDraft, { author, message, extraInfo }: CommitOptions): CatalogState {
  if (draft.isEmpty) return draft.base;
  const timeMicros = BigInt(Date.now()) * 1000n;
  const info = { timeMicros, author, commitMessage: message, commitExtraInfo: extraInfo, tellsDuckLake: true };
  return stageCatalogRecords(draft, info, nowhere);
}
