import type { Socket } from "node:net";
import { setImmediate as turn, setTimeout as wait } from "node:timers/promises";
import { isMissing } from "./file-errors.js";
import { serviceLimits } from "./limits.js";
import { ListeningSocket } from "./listening-socket.js";
import { type NewcomerLimits, Newcomers } from "./newcomers.js";

export interface ConnectionEvents {
  opened(socket: Socket): void;
  /** A connection has failed, which is its client's business. */
  failed(error: Error): void;
  /** There is no client any more, or, after listening, none yet. */
  idle(): void;
}

/** The socket of a service, and the clients that are connected to it. Only the holder of the service's claim may listen. */
export class Connections {
  readonly #path: string;
  readonly #events: ConnectionEvents;
  readonly #newcomers: Newcomers;
  readonly #sockets = new Set<Socket>();
  #listening: ListeningSocket | undefined;
  #isLeaving = false;

  private constructor(path: string, events: ConnectionEvents, limits: NewcomerLimits) {
    this.#path = path;
    this.#events = events;
    this.#newcomers = new Newcomers(limits);
  }

  /** Listens at a path, in place of whatever a process that has died left there. */
  static async listen(
    path: string,
    events: ConnectionEvents,
    limits: NewcomerLimits = serviceLimits,
  ): Promise<Connections> {
    const connections = new Connections(path, events, limits);
    connections.#listening = await connections.#open();
    if (connections.count === 0) events.idle();
    return connections;
  }

  get count(): number {
    return this.#sockets.size;
  }

  /** A client has said hello. */
  greeted(socket: Socket): void {
    this.#newcomers.remove(socket);
  }

  /** Listens anew where the socket's file is gone, or is not its own. Clients stay connected. Gives whether that was so. */
  async restore(): Promise<boolean> {
    const former = this.#listening;
    if (this.#isLeaving || former === undefined || former.isInPlace) return false;
    const restored = await this.#open();
    if (this.#listening !== former) {
      // It was told to stop meanwhile.
      restored.close();
      return false;
    }
    this.#listening = restored;
    // Those who found the former one are taken in first.
    await turn();
    former.close();
    return true;
  }

  /** Stops to listen unless a client came at the last moment: one that has found the socket is never turned away. */
  async stopListeningIfIdle(): Promise<boolean> {
    this.#isLeaving = true;
    this.#listening?.hide();
    await wait(serviceLimits.farewellMs);
    await turn();
    if (this.count === 0) {
      this.stopListening();
      return true;
    }
    this.#isLeaving = false;
    try {
      await this.restore();
    } catch (error) {
      // The folder has gone meanwhile: it is for whoever keeps the place to make it again.
      if (!isMissing(error)) throw error;
    }
    return false;
  }

  /** Lets in nobody else. */
  stopListening(): void {
    this.#listening?.close();
    this.#listening = undefined;
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async #open(): Promise<ListeningSocket> {
    return await ListeningSocket.open(this.#path, (socket) => this.#opened(socket));
  }

  #opened(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", (error) => this.#events.failed(error));
    socket.once("close", () => {
      this.#sockets.delete(socket);
      this.#newcomers.remove(socket);
      if (this.count === 0) this.#events.idle();
    });
    this.#newcomers.add(socket);
    this.#events.opened(socket);
  }
}
