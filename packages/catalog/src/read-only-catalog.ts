import { ClosedError, CorruptionError, StoreUnavailableError } from "@moraine/codec";
import type { DataStoreSet, ReadableStore, ReadView } from "@moraine/store";
import { CatalogReads } from "./catalog-reads.js";
import type { CatalogCut } from "./cut.js";
import { checkFormat } from "./engine/bootstrap.js";
import { follow } from "./engine/follow.js";
import { readerConsistencyAttempts } from "./engine/limits.js";
import { loadState, readHead } from "./engine/load-state.js";
import type { IndexContext } from "./index/layout.js";
import { TableFiles } from "./index/table-files.js";
import { InlineRegistry } from "./inline/registry.js";
import type { CatalogState } from "./model/state.js";
import { ReadScope } from "./read-scope.js";
import type { FollowStep } from "./rows/follow-step.js";
import { loadSteps, type RowLoad } from "./rows/serve-load.js";

export interface ReadOnlyCatalogOptions {
  /** Owned by the catalog from here on: closing the catalog closes it. */
  readonly store: ReadableStore;
  /** Gives access to the data files under the lake's data path. Without it nothing is read from data files. */
  readonly openDataFiles?: ((dataPath: string) => DataStoreSet) | undefined;
}

/**
 * A catalog that is only read. It follows the writer, as far behind as the store's poll interval, and never displaces it. The
 * store cannot be pinned from here, so each read is checked: if the head moved while it ran, it runs again.
 */
export class ReadOnlyCatalog extends CatalogReads implements AsyncDisposable {
  readonly #store: ReadableStore;
  readonly #openDataFiles: ((dataPath: string) => DataStoreSet) | undefined;
  #dataStores: DataStoreSet | undefined;
  #files: TableFiles | undefined;
  #state: CatalogState;
  #registry = new InlineRegistry();
  #contexts = new Map<bigint, IndexContext>();
  #refreshing: Promise<CatalogState> | undefined;
  #closed = false;

  private constructor(options: ReadOnlyCatalogOptions, state: CatalogState) {
    super();
    this.#store = options.store;
    this.#openDataFiles = options.openDataFiles;
    this.#state = state;
  }

  /** Opens the catalog of a store that a writer has created. Errors: `corruption` where there is none. */
  static async open(options: ReadOnlyCatalogOptions): Promise<ReadOnlyCatalog> {
    if (!(await checkFormat(options.store)))
      throw new CorruptionError("the store holds no catalog: it was never initialised");
    return new ReadOnlyCatalog(options, await consistently(options.store, () => loadState(options.store)));
  }

  protected async read<T>(run: (scope: ReadScope, cut: CatalogCut) => Promise<T>): Promise<T> {
    if (this.#closed) throw new ClosedError("the catalog was closed");
    return await consistently(this.#store, async (batchSeq) => {
      const state = this.#state.batchSeq === batchSeq ? this.#state : await this.#refresh();
      // A refresh that was under way already may have ended at an older head than this read's.
      if (state.batchSeq !== batchSeq) throw new Overtaken();
      const scope = new ReadScope(
        state,
        this.#store,
        this.#registry,
        this.#contexts,
        this.#filesOf(state),
        () => undefined,
      );
      return await run(scope, { state, view: this.#store, registry: this.#registry, files: this.#filesOf(state) });
    });
  }

  /**
   * All rows of DuckLake's metadata tables at the newest head that can be seen. The store cannot be pinned from here, so they
   * are in memory before they are given.
   */
  async loadRows(): Promise<RowLoad> {
    return await this.read(async (_, cut) => {
      const steps = await collectSteps(loadSteps(cut));
      return { revision: cut.state.batchSeq, steps: replayed(steps), release: () => undefined };
    });
  }

  /** Access to data files, opened at the first read of a catalog that has recorded where they stand. */
  #filesOf(state: CatalogState): TableFiles | undefined {
    const dataPath = state.get("option", 0n, 0n)?.options.get("data_path");
    if (this.#files === undefined && dataPath !== undefined && this.#openDataFiles !== undefined) {
      this.#dataStores = this.#openDataFiles(dataPath);
      this.#files = new TableFiles(this.#dataStores);
    }
    return this.#files;
  }

  #refresh(): Promise<CatalogState> {
    this.#refreshing ??= this.#follow().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #follow(): Promise<CatalogState> {
    await checkFormat(this.#store);
    const state = await consistently(this.#store, async () =>
      follow(this.#store, this.#state, await readHead(this.#store)),
    );
    this.#state = state;
    this.#contexts = new Map();
    this.#registry = new InlineRegistry();
    return state;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      await this.#store.close();
    } finally {
      await this.#dataStores?.close();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

async function collectSteps(steps: AsyncIterable<FollowStep>): Promise<FollowStep[]> {
  const collected: FollowStep[] = [];
  for await (const step of steps) collected.push(step);
  return collected;
}

// oxlint-disable-next-line require-await -- What a caller reads is asynchronous, as with a catalog that is open for writing.
async function* replayed(steps: readonly FollowStep[]): AsyncIterableIterator<FollowStep> {
  yield* steps;
}

/** The writer was faster than this read. Never leaves this file. */
class Overtaken extends Error {}

/** Runs a read until the head is the same before and after it. A failure of a read that was overtaken is no failure. */
async function consistently<T>(view: ReadView, run: (batchSeq: bigint) => Promise<T>): Promise<T> {
  for (let attempt = 0; attempt < readerConsistencyAttempts; attempt++) {
    const before = await readHead(view);
    let outcome: { readonly value: T } | { readonly error: unknown };
    try {
      outcome = { value: await run(before.batchSeq) };
    } catch (error) {
      outcome = { error };
    }
    const after = await readHead(view);
    if (after.batchSeq !== before.batchSeq || ("error" in outcome && outcome.error instanceof Overtaken)) continue;
    if ("error" in outcome) throw outcome.error;
    return outcome.value;
  }
  throw new StoreUnavailableError(`the writer overtook a read ${readerConsistencyAttempts} times`, {
    remedy: "Read again; ask for less at a time, or open the catalog for writing where reads must keep up.",
  });
}
