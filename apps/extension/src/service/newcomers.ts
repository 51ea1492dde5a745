import type { Socket } from "node:net";

export interface NewcomerLimits {
  readonly newcomers: number;
  readonly helloMs: number;
}

/** Connections whose clients have not said hello yet, oldest first. Their time and their number are bounded. */
export class Newcomers {
  readonly #limits: NewcomerLimits;
  readonly #timers = new Map<Socket, NodeJS.Timeout>();

  constructor(limits: NewcomerLimits) {
    this.#limits = limits;
  }

  add(socket: Socket): void {
    const { newcomers, helloMs } = this.#limits;
    this.#timers.set(socket, setTimeout(() => this.#late(socket), helloMs).unref());
    // The oldest goes: one that is going to say hello does so at once, and others must not keep it out.
    const [oldest] = this.#timers.keys();
    if (this.#timers.size > newcomers && oldest !== undefined) {
      this.#dismiss(oldest, `said no hello before ${newcomers} others came`);
    }
  }

  /** It has said hello, or is gone. */
  remove(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
    this.#timers.delete(socket);
  }

  #late(socket: Socket): void {
    // A process that was held up runs its timers before it reads what has come meanwhile.
    setImmediate(() => {
      if (this.#timers.has(socket)) this.#dismiss(socket, `said no hello within ${this.#limits.helloMs} ms`);
    });
  }

  #dismiss(socket: Socket, why: string): void {
    this.remove(socket);
    socket.destroy(new Error(`a connection ${why}`));
  }
}
