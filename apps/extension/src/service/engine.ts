import type { Duplex } from "node:stream";
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

/** All that takes time to load: what answers requests, and the store behind it. */
export class Engine {
  readonly #place: ServicePlace;
  readonly #log: ServiceLog;
  readonly #stop: (reason: string) => void;
  readonly #opener: StoreOpener;
  readonly #lake: LakeService;
  readonly #beganMs = performance.now();
  readonly #server = `moraine ${readManifest().version}`;
  readonly #serving = new Map<Duplex, Promise<void>>();

  /** `stop` has the service end in good order. */
  constructor(place: ServicePlace, log: ServiceLog, stop: (reason: string) => void) {
    this.#place = place;
    this.#log = log;
    this.#stop = stop;
    this.#opener = new StoreOpener(place.location);
    this.#lake = new LakeService(this.#opener);
  }

  connection(stream: Duplex): void {
    const served = serveConnection(stream, {
      lake: this.#lake,
      log: this.#log,
      server: this.#server,
      checkStore: (request) => this.#checkStore(request),
      status: () => this.#status(),
      stop: this.#stop,
    });
    this.#serving.set(
      stream,
      served.finally(() => this.#serving.delete(stream)),
    );
  }

  /** Begins no request any more, and waits for the answers of those under way. */
  async finishRequests(): Promise<void> {
    // The reading side of each connection ends, as if its client had said all.
    for (const stream of this.#serving.keys()) stream.push(null);
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
