import { ClosedError } from "@moraine/codec";
import type { StoreSnapshot, WritableStore } from "@moraine/store";
import type { CatalogState } from "../model/state.js";

/** A revision of the catalog pinned together with the cut of the store that it was read from. Everything read through it agrees. */
export class PinnedHead {
  readonly state: CatalogState;
  readonly view: StoreSnapshot;
  #references = 1;

  constructor(state: CatalogState, view: StoreSnapshot) {
    this.state = state;
    this.view = view;
  }

  retain(): this {
    if (this.#references === 0) throw new ClosedError("the read scope was released");
    this.#references += 1;
    return this;
  }

  release(): void {
    if (this.#references === 0) return;
    this.#references -= 1;
    if (this.#references === 0) this.view.release();
  }
}

/**
 * Keeps the durable head pinned for readers. A cut of the store may only be taken while no batch is in flight, as it would
 * show what a crash can still take back; so the committer pins the head before it writes over it, and a reader in between
 * gets that pin.
 */
export class HeadPins {
  readonly #store: WritableStore;
  #state: CatalogState;
  #current: Promise<PinnedHead> | undefined;
  /** What `#current` resolved to. */
  #held: PinnedHead | undefined;
  /** Settles when the batch in flight is durable or lost. */
  #flight: Flight | undefined;
  #closed = false;

  constructor(store: WritableStore, state: CatalogState) {
    this.#store = store;
    this.#state = state;
  }

  /** The durable head, retained for the caller, who releases it. */
  async pin(): Promise<PinnedHead> {
    if (this.#closed) throw new ClosedError("the catalog was closed");
    if (this.#store.failure !== null) throw this.#store.failure;
    // Without a pin of the head below it, a batch in flight has to be waited for.
    while (this.#current === undefined && this.#flight !== undefined) await this.#flight.landed;
    return (await this.#pinned()).retain();
  }

  /** The pin that is kept for readers. While a batch is in flight, and until `landed` is called for it, the pin below it. */
  get held(): PinnedHead | undefined {
    return this.#held;
  }

  /** Must be awaited before a batch is written. */
  async beforeWrite(): Promise<void> {
    await this.#pinned();
    this.#flight = new Flight();
  }

  /** The batch is durable: later pins show it, the old one lives until its last reader is done. */
  landed(state: CatalogState): void {
    this.#state = state;
    this.#letGo();
    this.#land();
    // Whoever reads next, or writes, would have to wait for it.
    void this.#pinned();
  }

  /** The batch was not written, or nobody knows: the pin below it stays. */
  lost(): void {
    this.#land();
  }

  /** Gives up a pin that the store ended, as it does when it reopens itself after a stall. */
  drop(pinned: PinnedHead): void {
    if (this.#held === pinned) this.#letGo();
  }

  close(): void {
    this.#closed = true;
    this.#letGo();
    this.#land();
  }

  #land(): void {
    const flight = this.#flight;
    this.#flight = undefined;
    flight?.land();
  }

  #letGo(): void {
    const old = this.#current;
    this.#current = undefined;
    this.#held = undefined;
    old?.then((pinned) => pinned.release(), ignore);
  }

  #pinned(): Promise<PinnedHead> {
    if (this.#current !== undefined) return this.#current;
    const state = this.#state;
    const current = this.#store.snapshot().then((view) => new PinnedHead(state, view));
    this.#current = current;
    current.then(
      (pinned) => {
        if (this.#current === current) this.#held = pinned;
      },
      () => {
        if (this.#current === current) this.#current = undefined;
      },
    );
    return current;
  }
}

/** A pin that could not be taken has nothing to release; whoever asked for it was told. */
function ignore(): void {}

class Flight {
  readonly landed: Promise<void>;
  land: () => void = ignore;

  constructor() {
    this.landed = new Promise((resolve) => {
      this.land = resolve;
    });
  }
}
