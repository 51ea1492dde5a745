import { retryFloorMs } from "./limits.js";

/**
 * Lets a client whose commit was refused as stale repeat it before others commit, so that a slow transaction is not overtaken
 * for ever. It has the floor from the moment at which it begins again until it has committed, given up, or used up its time.
 */
export class RetryFloor<Client> {
  readonly #mostMs: number;
  #holder: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Who waits, the longest first: to repeat a commit, or to make one. */
  readonly #claims: Waiter<Client>[] = [];
  #commits: Waiter<Client>[] = [];

  constructor(mostMs: number = retryFloorMs) {
    this.#mostMs = mostMs;
  }

  /** A client begins a refused commit again. Resolves when it has the floor. */
  async claim(client: Client): Promise<void> {
    if (this.#holder === client) this.release(client);
    if (this.#holder === undefined) {
      this.#give(client);
      return;
    }
    await new Promise<void>((resolve) => this.#claims.push({ client, resolve }));
  }

  /** A client is about to commit. Resolves when nobody else has the floor. */
  async pass(client: Client | undefined): Promise<void> {
    while (this.#holder !== undefined && this.#holder !== client) {
      await new Promise<void>((resolve) => this.#commits.push({ client, resolve }));
    }
  }

  /** The client has committed, given up, or gone. */
  release(client: Client): void {
    const waiting = this.#claims.findIndex((waiter) => waiter.client === client);
    if (waiting >= 0) for (const { resolve } of this.#claims.splice(waiting, 1)) resolve();
    if (this.#holder === client) this.#end();
  }

  #give(client: Client): void {
    this.#holder = client;
    this.#timer = setTimeout(() => this.#end(), this.#mostMs);
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#holder = undefined;
    const next = this.#claims.shift();
    if (next !== undefined) {
      this.#give(next.client as Client);
      next.resolve();
      return;
    }
    const commits = this.#commits;
    this.#commits = [];
    for (const { resolve } of commits) resolve();
  }
}

interface Waiter<Client> {
  readonly client: Client | undefined;
  readonly resolve: () => void;
}
