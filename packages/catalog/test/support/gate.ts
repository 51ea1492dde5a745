/** A point at which work waits until the test lets it go on. */
export class Gate {
  readonly opened: Promise<void>;
  readonly reached: Promise<void>;
  #open: () => void = () => undefined;
  #reach: () => void = () => undefined;

  constructor() {
    this.opened = new Promise((resolve) => {
      this.#open = resolve;
    });
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
  }

  /** Called by the work that is to wait. */
  async pass(): Promise<void> {
    this.#reach();
    await this.opened;
  }

  open(): void {
    this.#open();
  }
}

/** Lets everything that is ready to run go first. */
export async function turnOfTheLoop(times = 3): Promise<void> {
  for (let i = 0; i < times; i++) {
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }
}
