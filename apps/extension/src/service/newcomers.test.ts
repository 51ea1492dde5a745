import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Newcomers } from "./newcomers.js";

let folder: string;
let server: Server;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moraine-newcomers-"));
  server = createServer().listen(join(folder, "socket"));
  await once(server, "listening");
});
afterEach(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Pair {
  readonly client: Socket;
  readonly socket: Socket;
  /** Why the server has ended it. */
  readonly error: Promise<Error>;
}

/** A connection, both sides. */
async function pair(): Promise<Pair> {
  const client = createConnection(join(folder, "socket"));
  const [socket] = (await once(server, "connection")) as [Socket];
  const error = new Promise<Error>((resolve) => socket.once("error", resolve));
  return { client, socket, error };
}

const longMs = 60_000;

describe("connections without a hello", () => {
  it("end when their time is over, unless it comes before", async () => {
    const newcomers = new Newcomers({ newcomers: 10, helloMs: 50 });
    const [silent, greeted] = [await pair(), await pair()];
    newcomers.add(greeted.socket);
    newcomers.remove(greeted.socket);
    newcomers.add(silent.socket);
    expect((await silent.error).message).toBe("a connection said no hello within 50 ms");
    await once(silent.client, "close");
    expect(greeted.socket.destroyed).toBe(false);
    greeted.client.destroy();
  });

  it("stay where the hello has come and the process was too busy to read it", async () => {
    const newcomers = new Newcomers({ newcomers: 10, helloMs: 50 });
    const { client, socket } = await pair();
    newcomers.add(socket);
    socket.once("data", () => newcomers.remove(socket));
    client.write("hello");
    // Nothing else runs meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
    await once(socket, "data");
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    expect(socket.destroyed).toBe(false);
    client.destroy();
  });

  it("are no more than so many: the oldest goes", async () => {
    const newcomers = new Newcomers({ newcomers: 2, helloMs: longMs });
    const pairs = [await pair(), await pair(), await pair(), await pair()];
    const [gone, first, greeted, last] = pairs.map((one) => one.socket);
    newcomers.add(gone!);
    newcomers.add(first!);
    newcomers.remove(gone!);
    newcomers.add(greeted!);
    newcomers.remove(greeted!);
    newcomers.add(last!);
    expect(pairs.map(({ socket }) => socket.destroyed)).toEqual([false, false, false, false]);
    newcomers.add(gone!);
    expect(pairs.map(({ socket }) => socket.destroyed)).toEqual([false, true, false, false]);
    expect((await pairs[1]!.error).message).toBe("a connection said no hello before 2 others came");
    for (const { client, socket } of pairs) {
      newcomers.remove(socket);
      client.destroy();
    }
  });
});
