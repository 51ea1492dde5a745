import { once } from "node:events";
import { type Server, type Socket, connect, createServer } from "node:net";

/** What a proxy does to the bytes that go from the server to the client, over all connections together. */
export interface ProxyFault {
  readonly kind: "cut" | "stall";
  /** Bytes that still pass. */
  readonly afterBytes: number;
  /** Connections that it strikes, after which the next ones pass. Default: all. */
  readonly times?: number;
}

/** A TCP proxy in front of a server, which cuts or silences connections as told. */
export class CuttingProxy {
  readonly port: number;
  readonly #server: Server;
  readonly #sockets: Set<Socket>;
  #fault: ProxyFault | undefined;
  #passedBytes = 0;
  #struck = 0;

  private constructor(server: Server, sockets: Set<Socket>, port: number) {
    this.#server = server;
    this.#sockets = sockets;
    this.port = port;
  }

  static async start(targetPort: number): Promise<CuttingProxy> {
    const sockets = new Set<Socket>();
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port was given");
    const proxy = new CuttingProxy(server, sockets, address.port);
    server.on("connection", (client) => proxy.#join(client, connect(targetPort, "127.0.0.1")));
    return proxy;
  }

  /** Connections that a fault has struck since it was set. */
  get struck(): number {
    return this.#struck;
  }

  /** Sets the fault from here on, or none. */
  set(fault: ProxyFault | undefined): void {
    this.#fault = fault;
    this.#passedBytes = 0;
    this.#struck = 0;
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }

  #join(client: Socket, server: Socket): void {
    let isSilent = false;
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      // A cut connection reports an error on either side; what the client makes of it is the test.
      socket.on("error", () => other.destroy());
      socket.once("close", () => {
        this.#sockets.delete(socket);
        if (!isSilent) other.destroy();
      });
    }
    client.pipe(server);
    server.on("data", (chunk: Buffer) => {
      if (isSilent) return;
      const fault = this.#fault;
      const isSpent = fault === undefined || this.#struck >= (fault.times ?? Number.POSITIVE_INFINITY);
      const passing = isSpent
        ? chunk.length
        : Math.min(chunk.length, Math.max(0, fault.afterBytes - this.#passedBytes));
      this.#passedBytes += passing;
      if (passing > 0) client.write(chunk.subarray(0, passing));
      if (passing === chunk.length) return;
      this.#struck++;
      this.#passedBytes = 0;
      if (fault?.kind === "cut") client.resetAndDestroy();
      else isSilent = true;
    });
  }
}
