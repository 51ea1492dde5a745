import { randomUUID } from "node:crypto";
import { ClosedError, CommitConflictError, type SnapshotId } from "@moraine/codec";
import { refusedClaim, type UniquenessFilters } from "@moraine/index-core";
import type { DataStoreSet, ReadView, WritableStore } from "@moraine/store";
import { CatalogReads } from "./catalog-reads.js";
import type { CommitMemory } from "./commit-memory.js";
import {
  checkClosure,
  checkClosures,
  checkCommitOptions,
  type CommitOptions,
  type CommitRowsOptions,
  type CommitRowsResult,
} from "./commit-options.js";
import type { CatalogCut, HeadCut } from "./cut.js";
import { bootstrap, checkFormat, type GenesisOptions } from "./engine/bootstrap.js";
import { type AttemptRunner, FailedPreparation, type StagedCommit } from "./engine/attempt.js";
import { Committer } from "./engine/committer.js";
import { loadState } from "./engine/load-state.js";
import { openFilters } from "./engine/index-filters.js";
import { checkDataPath } from "./engine/openable.js";
import { PendingWrites } from "./engine/pending-writes.js";
import { prepareCommit, type PrepareContext } from "./engine/prepare.js";
import { HeadPins, type PinnedHead } from "./engine/scope.js";
import { Tip } from "./engine/tip.js";
import type { IndexContext } from "./index/layout.js";
import { staleHolder } from "./index/stale-holder.js";
import { TableFiles } from "./index/table-files.js";
import { InlineRegistry } from "./inline/registry.js";
import { type FlushHost, flushInlined, type FlushInlinedArguments, type FlushInlinedResult } from "./flush-inlined.js";
import { type MaintenancePass, recordMaintenancePass } from "./maintenance-status.js";
import { type MaintainOptions, type MaintainReport, Maintenance } from "./maintenance.js";
import { Draft } from "./model/draft.js";
import type { CommitInfo } from "./model/snapshot-record.js";
import type { CatalogState } from "./model/state.js";
import type { CommitDraft } from "./operations.js";
import { ReadScope } from "./read-scope.js";
import { RevisionFollower, type RevisionListener } from "./rows/follow-revisions.js";
import { genesisOf } from "./rows/genesis.js";
import type { RowChanges } from "./rows/row-changes.js";
import { loadSteps, type RowLoad } from "./rows/serve-load.js";
import { stageRows } from "./rows/stage-rows.js";
import { Transaction } from "./transaction.js";
import { checkId, checkKnown, type Names } from "./verbs/arguments.js";

export interface CatalogOptions {
  /** Owned by the catalog from here on: closing the catalog closes it. */
  readonly store: WritableStore;
  /** Gives access to the data files under the lake's data path. Without it nothing is read from or written to data files. */
  readonly openDataFiles?: ((dataPath: string) => DataStoreSet) | undefined;
  /** Recorded when the store is created. Default false. */
  readonly encrypted?: boolean;
  /** Where data files stand. Recorded when the store is created, or at the first open that names it; another one is refused later. */
  readonly dataPath?: string | undefined;
  /**
   * The transaction by which DuckLake creates this lake, for a store that is still empty: the lake gets the data path, the
   * encryption, the time and the uuid that DuckLake chose. Not together with `dataPath` or `encrypted`.
   */
  readonly genesis?: RowChanges | undefined;
  /** Microseconds since the epoch, for tests. */
  readonly nowMicros?: () => bigint;
  /** For tests. */
  readonly newUuid?: () => string;
  /** For tests against stores of the reference, which moves no number for DuckLake to see. Default false. */
  readonly numbersOfReference?: boolean;
}

/**
 * What a commit's closure does. It may run several times, so it must have no effects outside of its transaction, and what it
 * passes to a verb must not change until the commit has settled: many rows are read in the first run only.
 */
export type CommitClosure<T> = (transaction: Transaction) => T | Promise<T>;

export interface ReclaimIndexEntriesArguments {
  readonly index: bigint;
  readonly limit: number;
}

const reclaimIndexEntriesNames: Names<ReclaimIndexEntriesArguments> = { index: true, limit: true };

export interface CommitResult<T> {
  /** The snapshot that the commit made, or the unchanged head if it made none. */
  readonly snapshotId: SnapshotId;
  readonly value: T;
}

/** A catalog open for reading and writing: the store's only writer. */
export class Catalog extends CatalogReads implements AsyncDisposable {
  readonly #store: WritableStore;
  readonly #dataFiles: DataStoreSet | undefined;
  readonly #committer: Committer;
  readonly #filters: UniquenessFilters;
  readonly #pins: HeadPins;
  readonly #pending: PendingWrites;
  readonly #registry: InlineRegistry;
  readonly #follower: RevisionFollower;
  /** Revisions that commits of rows may land at. */
  readonly #rowRevisions = new Set<bigint>();
  readonly #context: PrepareContext;
  readonly #nowMicros: () => bigint;
  readonly #newUuid: () => string;
  readonly #tellsDuckLake: boolean;
  #indexContexts = new Map<bigint, IndexContext>();
  #closing: Promise<void> | undefined;

  private constructor(options: CatalogOptions, head: Tip) {
    super();
    this.#store = options.store;
    const dataPath = recordedDataPath(head) ?? options.dataPath;
    this.#dataFiles = dataPath === undefined ? undefined : options.openDataFiles?.(dataPath);
    this.#nowMicros = options.nowMicros ?? clockMicros;
    this.#newUuid = options.newUuid ?? randomUUID;
    this.#tellsDuckLake = options.numbersOfReference !== true;
    this.#pending = new PendingWrites();
    this.#registry = new InlineRegistry();
    this.#follower = new RevisionFollower(this.#registry);
    this.#pins = new HeadPins(options.store, head.state);
    this.#context = {
      store: options.store,
      pending: this.#pending,
      registry: this.#registry,
      files: this.#dataFiles === undefined ? undefined : new TableFiles(this.#dataFiles),
    };
    this.#filters = openFilters(options.store, () => this.#committer.head.state);
    this.#committer = new Committer(this.#filters, head, this.#pending, {
      beforeWrite: () => this.#pins.beforeWrite(),
      landed: (tip, records) => {
        this.#follower.landed(this.#pins.held, tip.state, records);
        if (this.#rowRevisions.delete(tip.state.batchSeq)) this.#follower.seal();
        this.#pins.landed(tip.state);
        // Scopes that are still open keep the old map: what they put into it must not be found at the new head.
        this.#indexContexts = new Map();
      },
      lost: () => this.#pins.lost(),
      explained: (error) => (refusedClaim(error) === undefined ? undefined : this.#explained(error)),
      staged: (commit) => this.#registry.note(commit.facts),
      discarded: (commit) => this.#forget(commit),
    });
  }

  /**
   * Opens the catalog of a store, and creates it in a store that is empty.
   *
   * Errors: `migration_required` for an older format, `unsupported` for a newer one, `configuration` for another data path
   * than the one recorded, `fenced` when another writer opens the store meanwhile.
   */
  static async open(options: CatalogOptions): Promise<Catalog> {
    try {
      return await Catalog.#open(options);
    } catch (error) {
      await options.store.close();
      throw error;
    }
  }

  static async #open(options: CatalogOptions): Promise<Catalog> {
    const isThere = await checkFormat(options.store);
    // Another client was quicker: the transaction of this one is to be repeated, and then finds the lake.
    if (isThere && options.genesis !== undefined)
      throw new CommitConflictError("the lake was created by another client meanwhile");
    if (!isThere) await bootstrap(options.store, genesisOptions(options));
    const head = new Tip(await loadState(options.store));
    const recorded = recordedDataPath(head);
    const { dataPath } = options;
    checkDataPath(recorded, dataPath);
    const catalog = new Catalog(options, head);
    if (dataPath !== undefined && recorded === undefined) {
      await catalog.commit((transaction) => transaction.recordDataPath(dataPath));
    }
    return catalog;
  }

  /**
   * Runs the closure's verbs as one atomic commit. Resolves when the commit is durable.
   *
   * Errors: whatever the closure throws; `constraint` for rows that an index refuses; `commit_conflict` when another commit
   * touched the same state while the closure waited for something.
   */
  async commit<T>(closure: CommitClosure<T>, options: CommitOptions = {}): Promise<CommitResult<T>> {
    this.#requireOpen();
    checkClosure(closure, "closure");
    checkCommitOptions(options);
    const run: AttemptRunner<CommitResult<T>> = (base, memory) => {
      const step = this.#step(this.#context, base, memory, closure, options);
      return step instanceof Promise ? step.then(single) : single(step);
    };
    return await this.#committer.commit(run, options.signal);
  }

  /**
   * Runs several closures as commits of their own, each on the state that the one before it leaves, that land together or not
   * at all, with one durable write.
   */
  async commitGroup<T>(closures: readonly CommitClosure<T>[], options: CommitOptions = {}): Promise<CommitResult<T>[]> {
    this.#requireOpen();
    checkClosures(closures);
    checkCommitOptions(options);
    return await this.#committer.commit(async (base, memory) => {
      // Later members of the group build on what earlier ones will have written, and nobody else may.
      const context = { ...this.#context, pending: this.#pending.fork(), registry: this.#registry.fork() };
      const commits: StagedCommit[] = [];
      const result: CommitResult<T>[] = [];
      for (const closure of closures) {
        const step = await this.#memberStep(context, { base, before: commits, memory }, closure, options);
        context.pending.add(step.commit.writes);
        context.registry.note(step.commit.facts);
        commits.push(step.commit);
        result.push(step.result);
      }
      return { commits, result };
    }, options.signal);
  }

  #step<T>(
    context: PrepareContext,
    base: Tip,
    memory: CommitMemory,
    closure: CommitClosure<T>,
    options: CommitOptions,
  ): Step<T> | Promise<Step<T>> {
    const draft: CommitDraft = new Draft(base.state, { newUuid: this.#newUuid, memory });
    const transaction = new Transaction(draft);
    const info: CommitInfo = {
      timeMicros: this.#nowMicros(),
      author: options.author,
      commitMessage: options.message,
      commitExtraInfo: options.extraInfo,
      tellsDuckLake: this.#tellsDuckLake,
    };
    const fail = (cause: unknown): never => {
      throw new FailedPreparation([draft.changes], cause);
    };
    const prepare = (value: T, late = false): Step<T> | Promise<Step<T>> => {
      transaction.end();
      memory.closureReturned(late);
      try {
        const commit = prepareCommit(context, draft, base, info);
        return commit instanceof Promise ? commit.then((staged) => stepOf(staged, value), fail) : stepOf(commit, value);
      } catch (error) {
        return fail(error);
      }
    };
    const abandon = (error: unknown): never => {
      transaction.end();
      throw error;
    };
    let value: T | Promise<T>;
    try {
      value = closure(transaction);
    } catch (error) {
      return abandon(error);
    }
    return isThenable(value) ? Promise.resolve(value).then((given) => prepare(given, true), abandon) : prepare(value);
  }

  /** One member of a group, on the state that the members before it leave. */
  async #memberStep<T>(
    context: PrepareContext,
    { base, before, memory }: GroupPlace,
    closure: CommitClosure<T>,
    options: CommitOptions,
  ): Promise<Step<T>> {
    try {
      return await this.#step(context, before.at(-1)?.after ?? base, memory, closure, options);
    } catch (error) {
      throw (error instanceof FailedPreparation ? error : new FailedPreparation([], error)).after(before);
    }
  }

  #forget(commit: StagedCommit): void {
    for (const [tableId] of [...commit.facts.versions, ...commit.facts.schemas]) this.#registry.forget(tableId);
  }

  /** Pins the head for several reads that must agree. Release the scope when done. */
  async reads(): Promise<ReadScope> {
    this.#requireOpen();
    const pinned = await this.#pins.pin();
    return this.#scopeOf(pinned);
  }

  /** Pins the head for reads in another process. Release it when done; `lose` it where its reads fail with `closed`. */
  async pinHead(): Promise<HeadCut> {
    this.#requireOpen();
    const pinned = await this.#pins.pin();
    return {
      revision: pinned.state.batchSeq,
      view: pinned.view,
      release: () => pinned.release(),
      lose: () => this.#pins.drop(pinned),
    };
  }

  protected async read<T>(run: (scope: ReadScope, cut: CatalogCut) => Promise<T>, isRepeat = false): Promise<T> {
    this.#requireOpen();
    const pinned = await this.#pins.pin();
    const scope = this.#scopeOf(pinned);
    try {
      return await run(scope, {
        state: pinned.state,
        view: pinned.view,
        registry: this.#registry,
        files: this.#context.files,
      });
    } catch (error) {
      // A store that reopened itself after a stall ended the pin. Nothing was shown yet, so the read can begin again.
      if (!(error instanceof ClosedError) || this.#closing !== undefined || isRepeat) throw error;
      this.#pins.drop(pinned);
    } finally {
      scope.release();
    }
    return await this.read(run, true);
  }

  /** A refused claim in the words for its holder, or as it came where nothing can be found out about that. */
  async #explained(error: unknown): Promise<unknown> {
    let pinned: PinnedHead | undefined;
    try {
      pinned = await this.#pins.pin();
      const { state, view } = pinned;
      return (await staleHolder({ state, view, files: this.#context.files }, error)) ?? error;
    } catch {
      // The refusal stands, whatever kept us from looking.
      return error;
    } finally {
      pinned?.release();
    }
  }

  #scopeOf(pinned: PinnedHead): ReadScope {
    const contexts = this.#contextsOf(pinned.state.batchSeq);
    const { state, view } = pinned;
    return new ReadScope(state, view, this.#registry, contexts, this.#context.files, () => pinned.release());
  }

  /** Index layouts are shared by the reads of one head; a scope of an older one works out its own. */
  #contextsOf(batchSeq: bigint): Map<bigint, IndexContext> {
    return batchSeq === this.#committer.head.state.batchSeq ? this.#indexContexts : new Map<bigint, IndexContext>();
  }

  /** The number of the durable head: it rises with every commit, also with those that make no snapshot. */
  get revision(): bigint {
    return this.#committer.head.state.batchSeq;
  }

  /**
   * All rows of DuckLake's metadata tables at the durable head. Release them when they are read, or when they are not wanted
   * any more. A copy is kept up to date by the steps of `onRevision`: listen first, then load, and leave out the steps to
   * revisions that the load has already.
   *
   * Errors, also while the steps are read: `closed`, also where the store had to reopen itself; `corruption`.
   */
  async loadRows(): Promise<RowLoad> {
    this.#requireOpen();
    const pinned = await this.#pins.pin();
    this.#follower.seal();
    const { state, view } = pinned;
    const cut: CatalogCut = { state, view, registry: this.#registry, files: this.#context.files };
    return { revision: state.batchSeq, steps: loadSteps(cut), release: () => pinned.release() };
  }

  /**
   * Tells what each commit that lands changes in DuckLake's metadata tables, in order and without gaps. Commits that land while
   * an earlier one is being told are told together. Costs nothing while nobody listens. Call what it gives to stop.
   */
  onRevision(listener: RevisionListener): () => void {
    this.#requireOpen();
    return this.#follower.listen(listener);
  }

  /**
   * Commits what one DuckDB transaction did to DuckLake's metadata tables, as one durable batch, with its snapshot exactly as
   * DuckLake made it. Index entries follow from the rows, and are enforced.
   *
   * Errors: `commit_conflict`, retryable, unless the lake is at revision `base`; `constraint` for what an index refuses and for
   * rows that the lake cannot keep; `corruption` for rows that contradict the store; `invalid_argument` for rows of other columns
   * than DuckLake's; `data_file` for a file that indexes need and that cannot be read.
   */
  async commitRows(changes: RowChanges, { base, signal }: CommitRowsOptions): Promise<CommitRowsResult> {
    this.#requireOpen();
    const run: AttemptRunner<CommitRowsResult> = async (tip) => {
      const commit = await stageRows(this.#context, tip, base, changes);
      const revision = commit.after.state.batchSeq;
      // Whoever made the rows stands at this revision from here on, and will ask for what follows.
      this.#rowRevisions.add(revision);
      return { commits: [commit], result: { revision } };
    };
    return await this.#committer.commit(run, signal, true);
  }

  /** Writes a table's live inline rows to data files and drains them from the catalog. */
  async flushInlined(args: FlushInlinedArguments): Promise<FlushInlinedResult> {
    this.#requireOpen();
    const host: FlushHost = {
      files: this.#context.files,
      registry: this.#registry,
      newUuid: this.#newUuid,
      commit: (closure) => this.commit(closure),
      commitAlone: <T>(closure: (transaction: Transaction, state: CatalogState, view: ReadView) => Promise<T>) => {
        const run: AttemptRunner<CommitResult<T>> = async (base, memory) => {
          const view = this.#pending.over(this.#store);
          return single(await this.#step(this.#context, base, memory, (tx) => closure(tx, base.state, view), {}));
        };
        return this.#committer.commit(run, undefined, true);
      },
      pinned: async (run) => {
        const pinned = await this.#pins.pin();
        try {
          return await run(pinned.state, pinned.view);
        } finally {
          pinned.release();
        }
      },
    };
    return await flushInlined(host, args);
  }

  /** Reclaims what dropped indexes and vanished files left behind, in bounded batches beside running commits. */
  async maintain(options: MaintainOptions = {}): Promise<MaintainReport> {
    this.#requireOpen();
    return await new Maintenance(this.#store, this.#committer).maintain(options);
  }

  /** Deletes at most `limit` entries of one dropped index. Gives how many it deleted. */
  async reclaimIndexEntries(args: ReclaimIndexEntriesArguments): Promise<number> {
    this.#requireOpen();
    const { index, limit } = checkKnown(args, reclaimIndexEntriesNames, "arguments");
    return await new Maintenance(this.#store, this.#committer).reclaim(checkId(index, "index"), limit);
  }

  /** Records what a maintenance pass did. The newest 16 are kept. */
  async recordMaintenancePass(pass: MaintenancePass): Promise<void> {
    this.#requireOpen();
    await recordMaintenancePass(this.#committer, () => this.#pending.over(this.#store), pass);
  }

  /** Lets what was committed land, then closes the store. Further calls fail with `closed`. Closing twice is harmless. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([this.#committer.close(), this.#filters.close()]);
    this.#follower.close();
    this.#pins.close();
    try {
      await this.#store.close();
    } finally {
      await this.#dataFiles?.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new ClosedError("the catalog was closed");
  }
}

/** Where a closure of a group runs: on what those before it have staged. */
interface GroupPlace {
  readonly base: Tip;
  readonly before: readonly StagedCommit[];
  readonly memory: CommitMemory;
}

interface Step<T> {
  readonly commit: StagedCommit;
  readonly result: CommitResult<T>;
}

function stepOf<T>(commit: StagedCommit, value: T): Step<T> {
  return { commit, result: { snapshotId: commit.after.state.head.snapshotId as SnapshotId, value } };
}

/** Promises of other libraries count too: a commit must not be prepared before its closure has ended. */
function isThenable<T>(value: T | Promise<T>): value is Promise<T> {
  return (
    value instanceof Promise ||
    (typeof value === "object" && value !== null && "then" in value && typeof value.then === "function")
  );
}

function single<T>(step: Step<T>): { readonly commits: readonly StagedCommit[]; readonly result: CommitResult<T> } {
  return { commits: [step.commit], result: step.result };
}

function genesisOptions(options: CatalogOptions): GenesisOptions {
  if (options.genesis === undefined) {
    return {
      encrypted: options.encrypted ?? false,
      dataPath: options.dataPath,
      nowMicros: (options.nowMicros ?? clockMicros)(),
      newUuid: options.newUuid ?? randomUUID,
    };
  }
  const { encrypted, dataPath, snapshotTimeMicros, schemaUuid } = genesisOf(options.genesis);
  return { encrypted, dataPath, nowMicros: snapshotTimeMicros, newUuid: () => schemaUuid };
}

function recordedDataPath(tip: Tip): string | undefined {
  return tip.state.get("option", 0n, 0n)?.options.get("data_path");
}

function clockMicros(): bigint {
  return BigInt(Date.now()) * 1000n;
}
