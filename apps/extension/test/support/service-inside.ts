import type { ServiceLog } from "@moraine/duckdb-ext";
import { Connections } from "../../src/service/connections.js";
import { Engine } from "../../src/service/engine.js";
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

  static async serve(store: string): Promise<ServiceInside> {
    const place = servicePlace(store);
    const engine = new Engine(place, silent, () => undefined);
    const connections = await Connections.listen(place.socket, {
      opened: (client) => engine.connection(client),
      failed: () => undefined,
      idle: () => undefined,
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
