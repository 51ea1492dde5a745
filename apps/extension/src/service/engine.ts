import type { Socket } from "node:net";
import { InvalidArgumentError } from "@moraine/codec";
import {
  LakeService,
  type LakeStatus,
  type MessageOf,
  serveConnection,
  type ServiceLog,
  StoreOpener,
} from "@moraine/duckdb-ext";
import { readManifest } from "../manifest.js";
import { canonicalLocation, type ServicePlace } from "./place.js";

/** What a service says of itself. */
export interface ServiceStatus extends LakeStatus {
  /** Location of the store. */
  readonly store: string;
  readonly pid: number;
  /** `moraine 0.1.0`. */
  readonly server: string;
  readonly upSeconds: number;
  readonly log: string;
  /** Connections, that of whoever asks among them. */
  readonly connections: number;
}

/** What the engine has its service do. */
export interface EngineEvents {
  /** A client has said hello. */
  greeted(socket: Socket): void;
  /** Ends it in good order. */
  stop(reason: string): void;
}

/** All that takes time to load: what answers requests, and the store behind it. */
export class Engine {
  readonly #place: ServicePlace;
  readonly #log: ServiceLog;
  readonly #events: EngineEvents;
  readonly #opener: StoreOpener;
  readonly #lake: LakeService;
  readonly #beganMs = performance.now();
  readonly #server = `moraine ${readManifest().version}`;
  readonly #serving = new Map<Socket, Promise<void>>();

  constructor(place: ServicePlace, log: ServiceLog, events: EngineEvents) {
    this.#place = place;
    this.#log = log;
    this.#events = events;
    this.#opener = new StoreOpener(place.location, ({ code, message }) => {
      log.write("warn", "store_ended", { code, error: message });
      events.stop(`the store's handle has ended: ${code}`);
    });
    this.#lake = new LakeService(this.#opener);
  }

  connection(socket: Socket): void {
    const served = serveConnection(socket, {
      lake: this.#lake,
      log: this.#log,
      server: this.#server,
      checkStore: (request) => this.#checkStore(request),
      status: () => this.#status(),
      greeted: () => this.#events.greeted(socket),
      stop: (reason) => this.#events.stop(reason),
    });
    this.#serving.set(
      socket,
      served.finally(() => this.#serving.delete(socket)),
    );
  }

  /** Begins no request any more, and waits for the answers of those under way. */
  async finishRequests(): Promise<void> {
    // The reading side of each connection ends, as if its client had said all.
    for (const socket of this.#serving.keys()) socket.push(null);
    await Promise.all(this.#serving.values());
  }

  async close(): Promise<void> {
    try {
      await this.#lake.close();
    } finally {
      await this.#opener.close();
    }
  }

  #checkStore({ store, cwd }: Pick<MessageOf<"attach">, "store" | "cwd">): void {
    const asked = canonicalLocation(store, cwd);
    if (asked === this.#place.location) return;
    throw new InvalidArgumentError(`this is the service of ${this.#place.location}, not of ${asked}`, {
      remedy: "Attach through the service of that store.",
    });
  }

  async #status(): Promise<string> {
    const { location: store, log } = this.#place;
    const status: ServiceStatus = {
      store,
      pid: process.pid,
      server: this.#server,
      upSeconds: Math.round((performance.now() - this.#beganMs) / 1000),
      log,
      connections: this.#serving.size,
      ...(await this.#lake.status()),
    };
    return JSON.stringify(status);
  }
}
