import { ClosedError, describePath } from "@moraine/codec";

/** Counts the calls under way of one handle, so that closing can wait for them and later calls are refused. */
export class Lifetime {
  readonly #location: string;
  #underWay = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  constructor(location: string) {
    this.#location = location;
  }

  get closed(): boolean {
    return this.#closing !== undefined;
  }

  closedError(): ClosedError {
    return new ClosedError(`the data store ${describePath(this.#location)}`);
  }

  /** Runs one call. Fails with `closed` once `close` was called. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.closed) throw this.closedError();
    this.#underWay++;
    try {
      return await work();
    } finally {
      this.#underWay--;
      if (this.#underWay === 0) this.#onIdle?.();
    }
  }

  /** Refuses new calls, waits for those under way, then runs `finish`. A second call waits for the first. */
  close(finish: () => Promise<void>): Promise<void> {
    this.#closing ??= this.#close(finish);
    return this.#closing;
  }

  async #close(finish: () => Promise<void>): Promise<void> {
    if (this.#underWay > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await finish();
  }
}
