import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { InvalidArgumentError } from "@moraine/codec";
import { LakeService, serveConnection, StoreOpener } from "../../src/index.js";

/** What the service of a store does, inside of the test's process. */
export class LakeServer {
  readonly socket: string;
  readonly #opener: StoreOpener;
  readonly #lake: LakeService;
  readonly #server: Server;
  readonly #serving = new Map<Socket, Promise<void>>();
  #stopping: Promise<void> | undefined;

  private constructor(socket: string, store: string) {
    this.socket = socket;
    this.#opener = new StoreOpener(store);
    this.#lake = new LakeService(this.#opener);
    this.#server = createServer((connection) => {
      const served = serveConnection(connection, {
        lake: this.#lake,
        log: { write: () => undefined },
        server: "moraine test",
        checkStore: (request) => {
          if (request.store === store) return;
          throw new InvalidArgumentError("another store", { remedy: "Attach that of the test." });
        },
        status: async () => JSON.stringify(await this.#lake.status()),
        greeted: () => undefined,
        stop: () => void this.stop(),
      });
      this.#serving.set(connection, served);
    });
  }

  static async listen(socket: string, store: string): Promise<LakeServer> {
    const server = new LakeServer(socket, store);
    server.#server.listen(socket);
    await once(server.#server, "listening");
    return server;
  }

  /** Answers what is under way, and closes the store. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const connection of this.#serving.keys()) connection.push(null);
    await Promise.all(this.#serving.values());
    for (const connection of this.#serving.keys()) connection.destroy();
    await closed;
    await this.#lake.close();
    await this.#opener.close();
  }
}
