import type { Db, DbReader } from "@slatedb/uniffi";
import { StoreUnavailableError } from "@moraine/codec";
import type { Backend } from "./backend.js";
import type { HeldFolder } from "./held-folder.js";
import { limits } from "./limits.js";
import type { StoreLoops } from "./loops.js";
import { detach, within } from "./within.js";

/** A `Db` or `DbReader` of the binding, from its opening to its end. The place's folder is held for it meanwhile. */
export class Opened<T extends Db | DbReader> {
  readonly db: T;
  readonly #loops: StoreLoops;
  readonly #folder: HeldFolder | null;
  readonly #ended: () => void;
  #ending: Promise<void> | undefined;
  #isOver = false;

  private constructor(db: T, loops: StoreLoops, folder: HeldFolder | null, ended: () => void) {
    this.db = db;
    this.#loops = loops;
    this.#folder = folder;
    this.#ended = ended;
  }

  /** Fails as the binding does, and with `store_unavailable` where that takes longer than `limits.openTimeoutMs`. */
  static async open<T extends Db | DbReader>(
    backend: Backend,
    loops: StoreLoops,
    build: () => Promise<T>,
  ): Promise<Opened<T>> {
    const { folder } = backend;
    const ended = folder?.use() ?? nothing;
    const opening = build().then(
      (db) => new Opened(db, loops, folder, ended),
      (error: unknown) => {
        ended();
        throw error;
      },
    );
    try {
      return await within(opening, limits.openTimeoutMs, () => tooSlow(backend));
    } catch (error) {
      // An opening that was given up can still succeed later: it must not stay behind as a second writer.
      detach(opening.then((late) => late.endQuietly()));
      throw error;
    }
  }

  /** Ends it in good order. */
  async end(): Promise<void> {
    try {
      await this.#within(limits.closeTimeoutMs);
    } finally {
      this.#dispose();
    }
  }

  /**
   * Ends it where nothing can be done about a failure: it is fenced or given up, and has no promise to keep. Again does nothing.
   * A store that was deleted is left alone: there it would try for ever to write a last manifest, and whoever waits for it would
   * keep the process alive.
   */
  async endQuietly(): Promise<void> {
    if (this.#isOver) return;
    if (this.#folder?.isDeleted !== true) {
      const isGone = this.#folder !== null && this.#folder.look() !== undefined;
      await this.#within(isGone ? limits.goneCloseTimeoutMs : limits.closeTimeoutMs).catch(nothing);
    }
    this.#dispose();
  }

  #dispose(): void {
    this.#isOver = true;
    this.db.dispose();
  }

  /** Settles when it has ended, and fails where that takes longer. Told once: a second time it would answer before it has ended. */
  async #within(limitMs: number): Promise<void> {
    this.#ending ??= this.#loops.shutdown(this.db).then(this.#ended);
    await within(this.#ending, limitMs, () => new Error("closing took too long"));
  }
}

function nothing(): void {}

function tooSlow(backend: Backend): StoreUnavailableError {
  return new StoreUnavailableError(`${backend.location.url} did not open within ${limits.openTimeoutMs} ms`, {
    remedy: "Check that the place answers and that its credentials are those of the environment.",
  });
}
