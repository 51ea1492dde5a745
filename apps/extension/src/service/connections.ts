import { chmodSync, renameSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { serviceLimits } from "./limits.js";

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
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(path: string, events: ConnectionEvents) {
    this.#path = path;
    this.#events = events;
    this.#server = createServer((socket) => this.#opened(socket));
  }

  /** Listens at a path, in place of whatever a process that has died left there. */
  static async listen(path: string, events: ConnectionEvents): Promise<Connections> {
    const connections = new Connections(path, events);
    removeSocket(path);
    connections.#server.listen(path);
    await once(connections.#server, "listening");
    chmodSync(path, 0o600);
    if (connections.count === 0) events.idle();
    return connections;
  }

  get count(): number {
    return this.#sockets.size;
  }

  /** Stops to listen unless a client came at the last moment: one that has found the socket is never turned away. */
  async stopListeningIfIdle(): Promise<boolean> {
    const aside = `${this.#path}.closing`;
    renameSync(this.#path, aside);
    await wait(serviceLimits.farewellMs);
    if (this.count > 0) {
      renameSync(aside, this.#path);
      return false;
    }
    this.stopListening();
    removeSocket(aside);
    return true;
  }

  /** Lets in nobody else. */
  stopListening(): void {
    this.#server.close();
    removeSocket(this.#path);
  }

  cutAll(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #opened(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", (error) => this.#events.failed(error));
    socket.once("close", () => {
      this.#sockets.delete(socket);
      if (this.count === 0) this.#events.idle();
    });
    this.#events.opened(socket);
  }
}

/** Not by `rmSync`: after it has removed a socket, Node 20 imports modules through links without following them. */
function removeSocket(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
}
