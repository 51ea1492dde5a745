import { ClosedError, CorruptionError, StoreUnavailableError } from "@moraine/codec";
import type { ReadableStore, ReadView } from "@moraine/store";
import { CatalogReads } from "./catalog-reads.js";
import { checkFormat } from "./engine/bootstrap.js";
import { follow } from "./engine/follow.js";
import { readerConsistencyAttempts } from "./engine/limits.js";
import { loadState, readHead } from "./engine/load-state.js";
import type { IndexContext } from "./index/layout.js";
import { InlineRegistry } from "./inline/registry.js";
import type { CatalogState } from "./model/state.js";
import { ReadScope } from "./read-scope.js";

/**
 * A catalog that is only read. It follows the writer, as far behind as the store's poll interval, and never displaces it. The
 * store cannot be pinned from here, so each read is checked: if the head moved while it ran, it runs again.
 */
export class ReadOnlyCatalog extends CatalogReads implements AsyncDisposable {
  readonly #store: ReadableStore;
  #state: CatalogState;
  #registry = new InlineRegistry();
  #contexts = new Map<bigint, IndexContext>();
  #refreshing: Promise<CatalogState> | undefined;
  #closed = false;

  private constructor(store: ReadableStore, state: CatalogState) {
    super();
    this.#store = store;
    this.#state = state;
  }

  /** Opens the catalog of a store that a writer has created. Errors: `corruption` where there is none. */
  static async open(options: { readonly store: ReadableStore }): Promise<ReadOnlyCatalog> {
    if (!(await checkFormat(options.store)))
      throw new CorruptionError("the store holds no catalog: it was never initialised");
    return new ReadOnlyCatalog(options.store, await consistently(options.store, () => loadState(options.store)));
  }

  protected async read<T>(run: (scope: ReadScope, view: ReadView) => Promise<T>): Promise<T> {
    if (this.#closed) throw new ClosedError("the catalog was closed");
    return await consistently(this.#store, async (batchSeq) => {
      const state = this.#state.batchSeq === batchSeq ? this.#state : await this.#refresh();
      // A refresh that was under way already may have ended at an older head than this read's.
      if (state.batchSeq !== batchSeq) throw new Overtaken();
      const scope = new ReadScope(state, this.#store, this.#registry, this.#contexts, () => undefined);
      return await run(scope, this.#store);
    });
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
    await this.#store.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
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
