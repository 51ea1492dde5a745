import { retryFloorMs } from "./limits.js";

/**
 * Lets a client whose commit was refused as stale repeat it before others commit, so that a slow transaction is not overtaken
 * for ever. It has the floor from the moment at which it begins again until its commit is answered, or until it has given up,
 * gone, or let its time pass without a commit.
 */
export class RetryFloor<Client> {
  readonly #mostMs: number;
  #holder: Client | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Clients whose commit is under way, once for each of their commits. */
  readonly #committing: Client[] = [];
  /** Who waits to repeat a commit, the longest first. */
  readonly #claims: { readonly client: Client; readonly resolve: () => void }[] = [];
  /** Wakes who waits to make one. */
  #commits: (() => void)[] = [];
  /** Holders that wait for the commits of others that were under way when they got the floor. */
  #quiet: (() => void)[] = [];

  constructor(mostMs: number = retryFloorMs) {
    this.#mostMs = mostMs;
  }

  /**
   * A client begins a refused commit again. Resolves when it has the floor and no commit of another is under way, as that one
   * would overtake it too.
   */
  async claim(client: Client): Promise<void> {
    if (this.#holder === client) this.release(client);
    if (this.#holder === undefined) this.#holder = client;
    else await new Promise<void>((resolve) => this.#claims.push({ client, resolve }));
    while (this.#holder === client && this.#committing.some((other) => other !== client)) {
      await new Promise<void>((resolve) => this.#quiet.push(resolve));
    }
    this.prolong(client);
  }

  /** The client can go on only now: its time begins. */
  prolong(client: Client): void {
    if (this.#holder !== client) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#end(), this.#mostMs);
  }

  /** Commits once nobody else has the floor. The floor is free afterwards, if it was this client's. */
  async commit<T>(client: Client, work: () => Promise<T>): Promise<T> {
    // Nothing may come between the last look and the note that a commit is under way.
    while (this.#isWithAnother(client)) await this.#change();
    // Its time is for beginning again. However long the commit itself takes, it is not overtaken.
    if (this.#holder === client) clearTimeout(this.#timer);
    this.#committing.push(client);
    try {
      return await work();
    } finally {
      this.#committing.splice(this.#committing.indexOf(client), 1);
      this.#endWaits();
      this.release(client);
    }
  }

  /** Resolves when nobody else has the floor. */
  async pass(client: Client | undefined): Promise<void> {
    while (this.#isWithAnother(client)) await this.#change();
  }

  /** The client goes on without the floor, if it has it. Claims of it that wait, for other transactions, go on waiting. */
  release(client: Client): void {
    if (this.#holder === client) this.#end();
  }

  /** The client is gone, with all that it waits for. */
  leave(client: Client): void {
    for (let at = this.#claims.length - 1; at >= 0; at--) {
      if (this.#claims[at]?.client === client) for (const { resolve } of this.#claims.splice(at, 1)) resolve();
    }
    this.release(client);
  }

  #isWithAnother(client: Client | undefined): boolean {
    return this.#holder !== undefined && this.#holder !== client;
  }

  /** Resolves when the floor is free. */
  #change(): Promise<void> {
    return new Promise((resolve) => this.#commits.push(resolve));
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#holder = undefined;
    this.#endWaits();
    const next = this.#claims.shift();
    if (next !== undefined) {
      this.#holder = next.client;
      next.resolve();
      return;
    }
    const commits = this.#commits;
    this.#commits = [];
    for (const resolve of commits) resolve();
  }

  #endWaits(): void {
    const quiet = this.#quiet;
    this.#quiet = [];
    for (const resolve of quiet) resolve();
  }
}
