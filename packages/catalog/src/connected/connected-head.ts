import { ClosedError, CorruptionError } from "@moraine/codec";
import type { IndexContext } from "../index/layout.js";
import { checkFormat } from "../engine/bootstrap.js";
import { follow } from "../engine/follow.js";
import { loadState, readHead } from "../engine/load-state.js";
import { InlineRegistry } from "../inline/registry.js";
import type { CatalogState } from "../model/state.js";
import type { CatalogLink, RemoteCut } from "./link.js";
import { withNews } from "./news.js";
import { idleCutMs } from "./limits.js";

/** What this process knows of one revision; it holds for as long as that is the head. */
interface Knowledge {
  readonly state: CatalogState;
  readonly registry: InlineRegistry;
  readonly contexts: Map<bigint, IndexContext>;
}

/** A revision with the cut that it is read from, counted by its users. */
export class ConnectedHead {
  readonly known: Knowledge;
  readonly cut: RemoteCut;
  #references = 0;
  readonly #unused: () => void;

  constructor(known: Knowledge, cut: RemoteCut, unused: () => void) {
    this.known = known;
    this.cut = cut;
    this.#unused = unused;
  }

  get isUsed(): boolean {
    return this.#references > 0;
  }

  retain(): this {
    this.#references += 1;
    return this;
  }

  /** To be called once for each `retain`. */
  release(): void {
    this.#references -= 1;
    if (this.#references === 0) this.#unused();
  }
}

/**
 * The newest head that this process knows. Each `refresh` asks the other process for it, which costs one round trip where nothing
 * has changed; what has changed is read there. Those who ask while an answer is under way share the next one: an answer counts
 * only for who asked before it was given.
 */
export class ConnectedHeads {
  readonly #link: CatalogLink;
  #known: Knowledge | undefined;
  #head: ConnectedHead | undefined;
  #asking: Promise<ConnectedHead> | undefined;
  #waiting: Promise<ConnectedHead> | undefined;
  #idle: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(link: CatalogLink) {
    this.#link = link;
  }

  /** The durable head, retained for the caller. */
  async refresh(): Promise<ConnectedHead> {
    this.#waiting ??= this.#after(this.#asking);
    const head = await this.#waiting;
    return head.retain();
  }

  /** What is known here, without asking. Another process may have committed since. */
  get known(): Knowledge | undefined {
    return this.#known;
  }

  /** Takes over a head that came with the answer to something else. Where that fails, the next `refresh` tells why. */
  async adopt(cut: RemoteCut): Promise<void> {
    if (this.#closed || this.#asking !== undefined || cut.revision <= (this.#known?.state.batchSeq ?? 0n)) {
      cut.release();
      return;
    }
    const asking = this.#take(cut);
    this.#asking = asking;
    try {
      await asking;
    } catch {
      // Whoever made the commit is to hear that it has landed.
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }

  /** Gives up a head whose cut is gone. */
  forget(head: ConnectedHead): void {
    if (this.#head === head) this.#head = undefined;
    if (!head.isUsed) head.cut.release();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#idle);
    const head = this.#head;
    this.#head = undefined;
    if (head?.isUsed === false) head.cut.release();
  }

  async #after(before: Promise<ConnectedHead> | undefined): Promise<ConnectedHead> {
    await before?.catch(() => undefined);
    if (before === undefined) await Promise.resolve();
    const asking = this.#waiting;
    this.#asking = asking;
    this.#waiting = undefined;
    try {
      return await this.#follow();
    } finally {
      if (this.#asking === asking) this.#asking = undefined;
    }
  }

  async #follow(): Promise<ConnectedHead> {
    clearTimeout(this.#idle);
    const held = this.#head;
    const cut = await this.#link.pin(held?.cut, this.#known?.state.head.snapshotId);
    if (this.#closed) throw new ClosedError("the catalog was closed");
    return held !== undefined && cut === held.cut ? held : await this.#take(cut);
  }

  async #take(cut: RemoteCut): Promise<ConnectedHead> {
    try {
      this.#known = await followed(this.#known, cut);
    } catch (error) {
      cut.release();
      throw error;
    }
    const head: ConnectedHead = new ConnectedHead(this.#known, cut, () => this.#unused(head));
    if (this.#head?.isUsed === false) this.#head.cut.release();
    this.#head = head;
    return head;
  }

  /** A cut that is the head's stays for a while; an older one goes with its last user. */
  #unused(head: ConnectedHead): void {
    if (this.#head !== head) {
      head.cut.release();
      return;
    }
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#head !== head || head.isUsed || this.#asking !== undefined) return;
      this.#head = undefined;
      head.cut.release();
    }, idleCutMs).unref();
  }
}

async function followed(known: Knowledge | undefined, { revision, view: whole, news }: RemoteCut): Promise<Knowledge> {
  const view = news === undefined ? whole : withNews(whole, news);
  if (known?.state.batchSeq === revision) return known;
  if (known === undefined && !(await checkFormat(view)))
    throw new CorruptionError("the store holds no catalog: it was never initialised");
  // Revisions of a store never go back: one above the head is of another store.
  const state =
    known === undefined || known.state.batchSeq > revision
      ? await loadState(view)
      : await follow(view, known.state, await readHead(view));
  return { state, registry: new InlineRegistry(), contexts: new Map() };
}
