import type { HeadCut } from "@moraine/catalog";
import { ClosedError } from "@moraine/codec";

/** Cuts that one connected application has pinned, by revision. */
export class Cuts {
  readonly #cuts = new Map<bigint, { readonly cut: HeadCut; pins: number }>();
  #ended = false;

  /** Takes a cut over, or lets it go where there is one of its revision. */
  add(cut: HeadCut): void {
    if (this.#ended) {
      cut.release();
      return;
    }
    const held = this.#cuts.get(cut.revision);
    if (held === undefined) {
      this.#cuts.set(cut.revision, { cut, pins: 1 });
      return;
    }
    held.pins += 1;
    cut.release();
  }

  has(revision: bigint): boolean {
    return this.#cuts.has(revision);
  }

  /** Runs a read of a cut. One that the store has ended is forgotten. Errors: `closed`. */
  async read<T>(revision: bigint, run: (cut: HeadCut) => Promise<T>): Promise<T> {
    const held = this.#cuts.get(revision);
    if (held === undefined) throw new ClosedError(`the cut of revision ${revision} is not pinned any more`);
    try {
      return await run(held.cut);
    } catch (error) {
      if (error instanceof ClosedError && this.#cuts.get(revision) === held) {
        this.#cuts.delete(revision);
        held.cut.lose();
        held.cut.release();
      }
      throw error;
    }
  }

  remove(revision: bigint): boolean {
    const held = this.#cuts.get(revision);
    if (held === undefined) return false;
    held.pins -= 1;
    if (held.pins > 0) return true;
    this.#cuts.delete(revision);
    held.cut.release();
    return true;
  }

  end(): void {
    this.#ended = true;
    for (const { cut } of this.#cuts.values()) cut.release();
    this.#cuts.clear();
  }
}
