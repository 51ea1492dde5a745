import type { Duplex } from "node:stream";
import { MoraineError } from "@moraine/codec";
import type { Attachment, ClientInfo } from "./attachment.js";
import { failedOf } from "./failure.js";
import type { LakeService } from "./lake-service.js";
import { maxFrameBytes, maxHelloBytes } from "./limits.js";
import { answerRemote, isRemoteRequest, type RemoteContext, type RemoteRequest } from "./remote/answer.js";
import { refusalOf } from "./remote/refusal.js";
import type { ServiceLog } from "./service-log.js";
import { FrameSplitter } from "./wire/frame-splitter.js";
import {
  decodeFrame,
  encodeFrame,
  type Message,
  type MessageOf,
  protocolMagic,
  protocolVersion,
} from "./wire/messages.js";
import { ProtocolError } from "./wire/protocol-error.js";

/** What a connection needs of the process that it belongs to. */
export interface ServiceHost {
  readonly lake: LakeService;
  readonly log: ServiceLog;
  /** `moraine 0.1.0`. */
  readonly server: string;
  /** Refuses, or gives the attach request with the store's location checked. */
  checkStore(request: Pick<MessageOf<"attach">, "store" | "cwd">): void;
  /** The whole report of `Status`. */
  status(): Promise<string>;
  /** Told once, when the client has said hello. */
  greeted(): void;
  /** Ends the process in good order, soon. */
  stop(reason: string): void;
}

/** Codes after which the engine's handle of the store is of no use any more, whatever failed. */
const endingCodes = new Set<string>(["fenced", "store_gone", "closed"]);
/** The same for a commit: whether it landed is not known until the store is opened again. */
const endingCommitCodes = new Set<string>([...endingCodes, "store", "store_unavailable"]);
/** Reads of a cut: one that is gone says nothing of the store. */
const endingCutCodes = new Set<string>(["fenced", "store_gone"]);

function codeOf(error: unknown): string {
  return error instanceof MoraineError ? error.code : "";
}

function handleEnded(code: string): string {
  return `the store's handle has ended: ${code}`;
}

function endingCodesOf({ type }: Message): ReadonlySet<string> {
  if (type === "commit" || type === "commit_verbs") return endingCommitCodes;
  return type === "read_many" || type === "scan_rows" ? endingCutCodes : endingCodes;
}

/**
 * One connection of a client: reads requests one after the other, and answers each before it reads on. Resolves when it has ended,
 * however it did; what was attached over it alone is detached then.
 */
export async function serveConnection(stream: Duplex, host: ServiceHost): Promise<void> {
  const connection = new Connection(stream, host);
  try {
    await connection.run();
  } finally {
    connection.end();
    await ended(stream);
  }
}

/** Ends a stream when what was written to it has gone out, or its other side has. */
async function ended(stream: Duplex): Promise<void> {
  if (!stream.destroyed) {
    await new Promise<void>((resolve) => {
      stream.once("close", resolve);
      stream.end(resolve);
    });
  }
  stream.destroy();
}

type Flow = "next" | "close";

class Connection {
  readonly #stream: Duplex;
  readonly #host: ServiceHost;
  readonly #attachments = new Set<Attachment>();
  readonly #gone = new AbortController();
  readonly #splitter = new FrameSplitter(maxHelloBytes);
  #client: ClientInfo | undefined;

  constructor(stream: Duplex, host: ServiceHost) {
    this.#stream = stream;
    this.#host = host;
    stream.once("close", () => this.#gone.abort());
    stream.on("error", (error) => host.log.write("debug", "connection failed", { error: String(error) }));
  }

  async run(): Promise<void> {
    const splitter = this.#splitter;
    try {
      // The stream stays open when reading ends by an error: there is an answer to give.
      const pieces = this.#stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>;
      for await (const piece of pieces) {
        splitter.push(piece);
        for (let frame = splitter.next(); frame !== undefined; frame = splitter.next()) {
          if ((await this.#serve(decodeFrame(frame))) === "close") return;
        }
      }
      if (splitter.isInside) this.#host.log.write("info", "a client ended inside of a frame", this.#who());
    } catch (error) {
      if (!(error instanceof ProtocolError)) {
        // The stream itself: the client is gone.
        this.#host.log.write("info", "a connection broke", { ...this.#who(), error: String(error) });
        return;
      }
      this.#host.log.write("warn", "protocol error", { ...this.#who(), error: error.message });
      await this.#fail(error);
    }
  }

  end(): void {
    for (const attachment of this.#attachments) {
      attachment.connections.delete(this);
      if (attachment.connections.size === 0) this.#host.lake.detach(attachment);
    }
    this.#attachments.clear();
  }

  #who(): { readonly pid?: bigint; readonly program?: string } {
    return this.#client === undefined ? {} : { pid: this.#client.pid, program: this.#client.program };
  }

  async #serve(message: Message): Promise<Flow> {
    const began = performance.now();
    try {
      const flow = await this.#answer(message);
      const durationMs = Math.round((performance.now() - began) * 1000) / 1000;
      this.#host.log.write("debug", "request", { ...this.#who(), request: message.type, durationMs });
      return flow;
    } catch (error) {
      if (error instanceof ProtocolError) throw error;
      if (this.#stream.destroyed) return "close";
      this.#logFailure(message, error);
      if (message.type === "connect" || isRemoteRequest(message)) await this.#send(refusalOf(error));
      else await this.#fail(error);
      const code = codeOf(error);
      if (endingCodesOf(message).has(code)) this.#host.stop(handleEnded(code));
      return "next";
    }
  }

  #logFailure(message: Message, error: unknown): void {
    const isExpected = error instanceof MoraineError;
    const text = isExpected ? error.message : error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.#host.log.write(isExpected ? "info" : "error", "request failed", {
      ...this.#who(),
      request: message.type,
      code: isExpected ? error.code : "internal",
      error: text,
    });
  }

  async #fail(error: unknown): Promise<void> {
    if (!this.#stream.destroyed) await this.#send(failedOf(error));
  }

  async #answer(message: Message): Promise<Flow> {
    if (message.type === "hello") return await this.#welcome(message);
    const client = this.#client;
    if (client === undefined) throw new ProtocolError(`a ${message.type} came before the hello`);
    const { lake } = this.#host;
    switch (message.type) {
      case "attach": {
        this.#host.checkStore(message);
        const { attachment, exists, dataPath } = await lake.attach(message, client);
        this.#tie(attachment);
        await this.#send({ type: "attached", attachment: attachment.id, exists, dataPath });
        return "next";
      }
      case "use": {
        const { exists, dataPath } = await lake.use(this.#of(message), message);
        await this.#send({ type: "attached", attachment: message.attachment, exists, dataPath });
        return "next";
      }
      case "join":
        this.#tie(lake.attachment(message.attachment));
        await this.#send({ type: "joined" });
        return "next";
      case "follow": {
        const answer = await lake.follow(this.#of(message), message, (frame) => this.#write(frame));
        if (answer === "unchanged") await this.#send({ type: "unchanged" });
        return "next";
      }
      case "commit":
        await this.#send({
          type: "committed",
          revision: await lake.commit(this.#of(message), message, this.#gone.signal),
        });
        return "next";
      case "create_index":
        await this.#send({
          type: "done",
          changed: await lake.createIndex(this.#of(message), message, this.#gone.signal),
        });
        return "next";
      case "drop_index":
        await this.#send({
          type: "done",
          changed: await lake.dropIndex(this.#of(message), message, this.#gone.signal),
        });
        return "next";
      case "describe_index":
        await this.#send(await lake.describeIndex(this.#of(message), message));
        return "next";
      case "read_index":
        await this.#send(await lake.readIndex(this.#of(message), message));
        return "next";
      case "list_indexes":
        await this.#send(await lake.listIndexes(this.#of(message), message));
        return "next";
      case "detach": {
        const attachment = this.#of(message);
        lake.detach(attachment);
        this.#attachments.delete(attachment);
        await this.#send({ type: "done", changed: true });
        return "next";
      }
      case "status":
        await this.#send({ type: "status_report", json: await this.#host.status() });
        return "next";
      case "stop":
        await this.#send({ type: "done", changed: true });
        this.#host.stop("a client asked for it");
        return "close";
      case "connect": {
        this.#host.checkStore(message);
        const { attachment, exists, dataPath } = await lake.connect(message, client);
        this.#tie(attachment);
        await this.#send({ type: "attached", attachment: attachment.id, exists, dataPath });
        return "next";
      }
      default:
        if (!isRemoteRequest(message)) throw new ProtocolError(`a ${message.type} is no request`);
        await this.#send(await answerRemote(message, this.#remote(message)));
        return "next";
    }
  }

  #remote(request: RemoteRequest): RemoteContext {
    return {
      ...this.#host.lake.connected(),
      attachment: this.#of(request),
      letGo: () => this.#host.lake.letGo(this.#of(request)),
      signal: this.#gone.signal,
      send: (frame) => this.#write(frame),
    };
  }

  async #welcome({ version, client, pid, program }: MessageOf<"hello">): Promise<Flow> {
    if (this.#client !== undefined) throw new ProtocolError("a second hello");
    if (version !== protocolVersion) {
      throw new ProtocolError(
        `the client speaks version ${version} of the protocol and this service version ${protocolVersion}: use releases of one version`,
      );
    }
    const { failure } = this.#host.lake;
    if (failure !== null) {
      // Whoever is not greeted looks for the next service, which opens what is at the store's place now.
      this.#host.stop(handleEnded(codeOf(failure)));
      return "close";
    }
    this.#client = { client, pid, program };
    this.#splitter.mostBytes = maxFrameBytes;
    this.#host.greeted();
    const { server } = this.#host;
    await this.#send({
      type: "welcome",
      magic: protocolMagic,
      version: protocolVersion,
      server,
      pid: BigInt(process.pid),
    });
    return "next";
  }

  #tie(attachment: Attachment): void {
    attachment.connections.add(this);
    this.#attachments.add(attachment);
  }

  /** The attachment that a request names. It must have been made on this connection, or joined. */
  #of({ attachment }: { readonly attachment: bigint }): Attachment {
    const found = this.#host.lake.attachment(attachment);
    if (!this.#attachments.has(found))
      throw new ProtocolError(`attachment ${attachment} was not joined on this connection`);
    return found;
  }

  async #send(message: Message): Promise<void> {
    await this.#write(encodeFrame(message));
  }

  /** Waits for room: a client that does not read holds its own answers back, and nobody else's. */
  async #write(frame: Uint8Array): Promise<void> {
    if (this.#stream.destroyed) return;
    if (this.#stream.write(frame)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#stream.off("drain", done).off("close", done);
        resolve();
      };
      this.#stream.once("drain", done).once("close", done);
    });
  }
}
