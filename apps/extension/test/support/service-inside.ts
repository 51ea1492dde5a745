import type { Socket } from "node:net";
import type { ServiceLog } from "@moraine/duckdb-ext";
import { Connections } from "../../src/service/connections.js";
import { Engine } from "../../src/service/engine.js";
import type { NewcomerLimits } from "../../src/service/newcomers.js";
import { servicePlace } from "../../src/service/place.js";

const silent: ServiceLog = { write: () => undefined };

/**
 * The service of a store inside of the test's process, where clients look for it: what a process of its own serves with, without
 * the half second that starting one takes.
 *
 * Whoever uses it detaches before it closes DuckDB, which blocks the thread that would answer.
 */
export class ServiceInside implements AsyncDisposable {
  readonly #connections: Connections;
  readonly #engine: Engine;

  private constructor(connections: Connections, engine: Engine) {
    this.#connections = connections;
    this.#engine = engine;
  }

  static async serve(store: string, limits?: NewcomerLimits): Promise<ServiceInside> {
    const place = servicePlace(store);
    const events = {
      opened: (client: Socket) => engine.connection(client),
      failed: () => undefined,
      idle: () => undefined,
    };
    const connections = await Connections.listen(place.socket, events, limits);
    const engine = new Engine(place, silent, {
      greeted: (client) => connections.greeted(client),
      stop: () => undefined,
    });
    return new ServiceInside(connections, engine);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connections.stopListening();
    await this.#engine.finishRequests();
    this.#connections.cutAll();
    await this.#engine.close();
  }
}
