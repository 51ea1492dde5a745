import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { type BigIntStats, chmodSync, lstatSync, renameSync, unlinkSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import { ConfigurationError } from "@moraine/codec";
import { isMissing } from "./file-errors.js";
import { serviceLimits } from "./limits.js";

/**
 * A socket that listens at a path, and knows whether what is there is still its own: whoever cleans up temporary files may remove
 * it, and another process's may then be in its place. It takes nothing away but itself.
 */
export class ListeningSocket {
  readonly #path: string;
  /** Under which it was bound. libuv removes that name when the server closes, whatever is there: nobody else has it. */
  readonly #ownPath: string;
  readonly #server: Server;
  /** Nothing else gets its inode as long as it listens: the kernel holds on to it. */
  #file: BigIntStats | undefined;

  private constructor(path: string, connected: (socket: Socket) => void) {
    this.#path = path;
    // As long as the names in the runtime folder: what fits there fits here.
    this.#ownPath = join(dirname(path), `${randomBytes(8).toString("hex")}.bind`);
    this.#server = createServer(connected);
  }

  /**
   * Listens at a path, in place of whatever file is there: nobody ever finds it missing, or open to others. Errors: `configuration`
   * where the path is too long for a socket.
   */
  static async open(path: string, connected: (socket: Socket) => void): Promise<ListeningSocket> {
    if (Buffer.byteLength(path) > serviceLimits.socketPathBytes) throw tooLong(path);
    const socket = new ListeningSocket(path, connected);
    socket.#server.listen(socket.#ownPath);
    await once(socket.#server, "listening");
    try {
      chmodSync(socket.#ownPath, 0o600);
      socket.#file = lstatSync(socket.#ownPath, { bigint: true });
      renameSync(socket.#ownPath, path);
    } catch (error) {
      socket.#server.close();
      throw error;
    }
    return socket;
  }

  /** Whether those who look at the path find this socket. */
  get isInPlace(): boolean {
    const found = unlessMissing(() => lstatSync(this.#path, { bigint: true }));
    return found !== undefined && found.ino === this.#file?.ino && found.dev === this.#file.dev;
  }

  /** Has nobody find it any more. Those who did just before are still taken in. */
  hide(): void {
    if (this.isInPlace) unlessMissing(() => renameSync(this.#path, this.#ownPath));
  }

  /** Lets in nobody else. */
  close(): void {
    // Not by `rmSync`: after it has removed a socket, Node 20 imports modules through links without following them.
    if (this.isInPlace) unlessMissing(() => unlinkSync(this.#path));
    this.#server.close();
  }
}

/** Somebody may remove what is looked at, or its folder, at any moment: then it gives undefined. */
function unlessMissing<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

function tooLong(path: string): ConfigurationError {
  return new ConfigurationError(`the socket's path ${path} is longer than ${serviceLimits.socketPathBytes} bytes`, {
    remedy: "Name a shorter folder in MORAINE_RUNTIME_DIR.",
  });
}
