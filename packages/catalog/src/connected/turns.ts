/** Gives a turn to one after the other, in the order in which they ask. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** Resolves when it is the caller's turn, with what ends it. Ending it again does nothing. */
  async take(): Promise<() => void> {
    const before = this.#last;
    let end = (): void => undefined;
    this.#last = new Promise((resolve) => {
      end = resolve;
    });
    await before;
    return end;
  }
}
