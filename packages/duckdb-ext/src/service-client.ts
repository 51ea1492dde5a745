import { createConnection, type Socket } from "node:net";
import { StoreUnavailableError } from "@moraine/codec";
import { FrameSplitter } from "./wire/frame-splitter.js";
import { decodeFrame, encodeFrame, type Message, protocolMagic, protocolVersion } from "./wire/messages.js";
import { ProtocolError } from "./wire/protocol-error.js";

/** The client's side of one connection: one request at a time, and its answers as they come. */
export class ServiceClient {
  readonly #socket: Socket;
  readonly #pieces: AsyncIterator<Uint8Array>;
  readonly #splitter = new FrameSplitter();
  #servicePid = 0n;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#pieces = (socket as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
  }

  /** Connects and says hello. Fails with `store_unavailable` where nobody listens. */
  static async connect(path: string, program: string, version = protocolVersion): Promise<ServiceClient> {
    const client = await ServiceClient.connectRaw(path);
    await client.greet(program, version);
    return client;
  }

  /** Connects and says nothing yet. */
  static async connectRaw(path: string): Promise<ServiceClient> {
    return new ServiceClient(await connected(path));
  }

  /** Has answers fail with `store_unavailable` that take longer than so many milliseconds. */
  answerWithin(limitMs: number): void {
    this.#socket.setTimeout(limitMs, () => {
      const remedy = "See the service's log, or end its process.";
      this.#socket.destroy(new StoreUnavailableError(`the service did not answer within ${limitMs} ms`, { remedy }));
    });
  }

  /** Says hello. Where it is not welcome the connection is closed. */
  async greet(program: string, version = protocolVersion): Promise<void> {
    const pid = BigInt(process.pid);
    const hello = { type: "hello", magic: protocolMagic, version, client: "moraine", pid, program } as const;
    const answer = await this.request(hello);
    if (answer.type === "welcome") {
      this.#servicePid = answer.pid;
      return;
    }
    this.close();
    throw unexpected(answer);
  }

  /** The process that has said welcome. */
  get servicePid(): bigint {
    return this.#servicePid;
  }

  /** Sends a request and gives the first frame of its answer. */
  async request(message: Message): Promise<Message> {
    this.send(encodeFrame(message));
    return await this.receive();
  }

  /** Bytes as they are, for whoever tests what the other side makes of them. */
  send(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  async receive(): Promise<Message> {
    for (let frame = this.#splitter.next(); ; frame = this.#splitter.next()) {
      if (frame !== undefined) return decodeFrame(frame);
      const piece = await this.#pieces.next();
      if (piece.done === true) {
        throw new StoreUnavailableError("the service closed the connection", { remedy: "See the service's log." });
      }
      this.#splitter.push(piece.value);
    }
  }

  close(): void {
    this.#socket.destroy();
  }
}

/** The error for an answer that is none to the request: the service's own where it failed. */
export function unexpected(answer: Message): Error {
  if (answer.type !== "failed") return new ProtocolError(`a ${answer.type} is no answer to that request`);
  return new StoreUnavailableError(answer.message, { remedy: "See the service's log." });
}

async function connected(path: string): Promise<Socket> {
  const socket = createConnection(path);
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", (cause) => {
      const remedy = "Start the service, or attach the lake, which starts it.";
      reject(new StoreUnavailableError(`no service listens at ${path}`, { remedy, cause }));
    });
  });
  // What breaks later ends the stream, which the reader of the answer is told.
  socket.on("error", () => socket.destroy());
  return socket;
}
