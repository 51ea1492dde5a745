import { chmodSync, mkdirSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import {
  decodeFrame,
  encodeFrame,
  FrameSplitter,
  type Message,
  protocolMagic,
  protocolVersion,
} from "../../src/index.js";

/** What the service says to requests about indexes. `undefined` leaves the client waiting. */
export type Script = (request: Message) => Message | undefined;

/**
 * A service without a store: it lets the client create a lake and commit to it, and answers what is asked of indexes by a
 * script. Its commits are nobody else's, so that there is never anything to follow.
 */
export class ScriptedService {
  /** What was asked of indexes, in the order in which it came. */
  readonly asked: Message[] = [];
  script: Script = () => undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #revision = 0n;

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#serve(socket));
  }

  /** Listens for the store of a folder, in a runtime folder of mode 0700. */
  static async start(runtimeFolder: string, store: string): Promise<ScriptedService> {
    const server = createServer();
    const service = new ScriptedService(server);
    await listenFor(server, runtimeFolder, store);
    return service;
  }

  /** What was asked since the last call. */
  take(): Message[] {
    return this.asked.splice(0);
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise<void>((resolve) => void this.#server.close(() => resolve()));
  }

  #serve(socket: Socket): void {
    const frames = new FrameSplitter();
    this.#sockets.add(socket);
    socket.on("error", () => undefined).on("close", () => this.#sockets.delete(socket));
    socket.on("data", (bytes) => {
      frames.push(bytes);
      for (let frame = frames.next(); frame !== undefined; frame = frames.next()) {
        const answer = this.#answer(decodeFrame(frame));
        if (answer !== undefined) socket.write(encodeFrame(answer));
      }
    });
  }

  #answer(request: Message): Message | undefined {
    switch (request.type) {
      case "hello":
        return { type: "welcome", magic: protocolMagic, version: protocolVersion, server: "scripted", pid: 0n };
      case "attach":
      case "use":
        return { type: "attached", attachment: 1n, exists: false, dataPath: undefined };
      case "join":
        return { type: "joined" };
      case "follow":
        return { type: "unchanged" };
      case "commit":
        return { type: "committed", revision: ++this.#revision };
      case "detach":
        return { type: "done", changed: true };
      default:
        this.asked.push(request);
        return this.script(request);
    }
  }
}

/** Listens where a client looks for the service of a store. */
export async function listenFor(server: Server, runtimeFolder: string, store: string): Promise<void> {
  mkdirSync(runtimeFolder, { recursive: true });
  chmodSync(runtimeFolder, 0o700);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(join(runtimeFolder, `${fnv1a(store)}.sock`), resolve);
  });
}

/** The name of a store's socket. */
function fnv1a(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash.toString(16).padStart(16, "0");
}
