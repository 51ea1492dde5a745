import { createServer, type Server } from "node:net";
import { expect } from "vitest";
import { type LakeService, serveConnection } from "../../src/index.js";

/** A server in the test's process that hands its connections to a lake. Nobody is to stop it, and it says nothing of itself. */
export function socketServer(lake: LakeService): Server {
  return createServer((socket) => {
    void serveConnection(socket, {
      lake,
      log: { write: () => undefined },
      server: "moraine test",
      checkStore: () => undefined,
      status: () => Promise.resolve("{}"),
      greeted: () => undefined,
      stop: (reason) => expect.unreachable(reason),
    });
  });
}
