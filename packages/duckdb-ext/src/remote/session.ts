import { ClosedError } from "@moraine/codec";
import { connectionsPerApplication } from "../limits.js";
import type { ServiceClient } from "../service-client.js";
import type { Message, MessageName } from "../wire/messages.js";
import { type Answer, ConnectionLostError, exchange, type ExchangeOptions, LateAnswerError } from "./exchange.js";

export interface WorkOptions extends ExchangeOptions {
  /** Gives the request up: its connection is closed, and the others stay. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * An attachment to one service, and the connections over which it is used: one that stays, for what is short and in order, and
 * others for what takes its time. When any of them breaks the session has ended, and all that was pinned in it.
 */
export class Session {
  readonly attachment: bigint;
  readonly servicePid: bigint;
  readonly #main: ServiceClient;
  readonly #dial: () => Promise<ServiceClient>;
  readonly #limitMs: number;
  #mainTurn: Promise<unknown> = Promise.resolve();
  readonly #idle: ServiceClient[] = [];
  readonly #open = new Set<ServiceClient>();
  readonly #waiting: (() => void)[] = [];
  #dialing = 0;
  #ended = false;

  constructor(main: ServiceClient, attachment: bigint, dial: () => Promise<ServiceClient>, limitMs: number) {
    this.#main = main;
    this.servicePid = main.servicePid;
    this.attachment = attachment;
    this.#dial = dial;
    this.#limitMs = limitMs;
  }

  get hasEnded(): boolean {
    return this.#ended;
  }

  /** A short request, answered after those before it. */
  async inOrder<Name extends MessageName>(request: Message, expected: readonly Name[]): Promise<Answer<Name>> {
    const turn = this.#mainTurn.then(() => this.#exchange(this.#main, request, expected, { limitMs: this.#limitMs }));
    this.#mainTurn = turn.catch(() => undefined);
    return await turn;
  }

  /** A request that may be under way beside others. `limitMs` is that of the session unless another is given. */
  async beside<Name extends MessageName>(
    request: Message,
    expected: readonly Name[],
    options: WorkOptions = { limitMs: this.#limitMs },
  ): Promise<Answer<Name>> {
    const client = await this.#borrow();
    const { signal } = options;
    const cut = (): void => client.close();
    signal?.addEventListener("abort", cut, { once: true });
    try {
      return await this.#exchange(client, request, expected, options);
    } finally {
      signal?.removeEventListener("abort", cut);
      this.#giveBack(client);
    }
  }

  /** Closes every connection. Ending again does nothing. */
  end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#main.close();
    for (const client of this.#open) client.close();
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  async #exchange<Name extends MessageName>(
    client: ServiceClient,
    request: Message,
    expected: readonly Name[],
    options: WorkOptions,
  ): Promise<Answer<Name>> {
    if (this.#ended) throw new ConnectionLostError(undefined);
    try {
      return await exchange(client, request, expected, options);
    } catch (error) {
      if (!(error instanceof ConnectionLostError || error instanceof LateAnswerError)) throw error;
      this.#open.delete(client);
      if (options.signal?.aborted !== true) this.end();
      throw error;
    }
  }

  async #borrow(): Promise<ServiceClient> {
    for (;;) {
      if (this.#ended) throw new ConnectionLostError(undefined);
      const idle = this.#idle.pop();
      if (idle !== undefined) return idle;
      if (this.#open.size + this.#dialing < connectionsPerApplication) return await this.#join();
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
  }

  async #join(): Promise<ServiceClient> {
    this.#dialing += 1;
    try {
      const client = await this.#dial();
      this.#open.add(client);
      await this.#exchange(client, { type: "join", attachment: this.attachment }, ["joined"], {
        limitMs: this.#limitMs,
      });
      return client;
    } finally {
      this.#dialing -= 1;
      this.#waiting.shift()?.();
    }
  }

  #giveBack(client: ServiceClient): void {
    if (this.#open.has(client)) this.#idle.push(client);
    this.#waiting.shift()?.();
  }
}

/** For reads of a cut whose session has ended. */
export function cutIsGone(cause: unknown): ClosedError {
  return new ClosedError("the service that held this cut of the store has ended", {
    remedy: "Read again, or take a new scope.",
    cause,
  });
}
