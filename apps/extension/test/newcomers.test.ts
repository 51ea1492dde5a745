// What a service lets connections do that say no hello. The process runs what was built last.
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { encodeFrame, protocolMagic, protocolVersion, ServiceClient } from "@moraine/duckdb-ext";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { LakeClient } from "../../../packages/duckdb-ext/test/lake-client.js";
import type { ServiceStatus } from "../src/service/engine.js";
import { serviceLimits } from "../src/service/limits.js";
import { ServiceInside } from "./support/service-inside.js";
import { connect, ServiceFolder } from "./support/service-process.js";

let folder: ServiceFolder;
beforeEach(() => {
  folder = new ServiceFolder();
});

const hello = encodeFrame({
  type: "hello",
  magic: protocolMagic,
  version: protocolVersion,
  client: "test",
  pid: 1n,
  program: "test",
});

/** A connection that says nothing by itself, and when it was closed. */
async function silent(): Promise<{ readonly socket: Socket; readonly closed: Promise<void> }> {
  const socket = createConnection(folder.place.socket).on("error", () => undefined);
  await once(socket, "connect");
  onTestFinished(() => void socket.destroy());
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  return { socket: socket.resume(), closed };
}

/** How many the service has, as it says. */
async function connections(client: LakeClient): Promise<number> {
  const { json } = await client.ask("status_report", { type: "status" });
  return (JSON.parse(json) as ServiceStatus).connections;
}

describe("a service", () => {
  it("closes connections that say no hello in time, and no others", async () => {
    await using _ = await ServiceInside.serve(folder.store, { newcomers: 100, helloMs: 200 });
    const greeted = await connect(folder);
    const [nothing, part] = [await silent(), await silent()];
    // A byte now and then is no hello.
    let sent = 0;
    const sending = setInterval(() => part.socket.write(hello.subarray(sent, ++sent)), 20);
    onTestFinished(() => clearInterval(sending));
    await Promise.all([nothing.closed, part.closed]);
    expect(sent).toBeLessThan(hello.length);
    expect(await connections(greeted)).toBe(1);
  });

  it("has so many that have not said hello, and takes in new ones", { timeout: 30_000 }, async () => {
    const service = folder.serve();
    await service.listening;
    const greeted = await connect(folder);
    const first = await silent();
    const others = await Promise.all(Array.from({ length: serviceLimits.newcomers - 1 }, silent));
    // All of them fit.
    while ((await connections(greeted)) < serviceLimits.newcomers + 1);
    const another = await ServiceClient.connect(folder.place.socket, "test");
    await first.closed;
    expect(another.servicePid).toBe(BigInt(service.pid));
    another.close();
    // One that was among the oldest is welcome late.
    others[0]?.socket.write(hello);
    await once(others[0]!.socket, "data");
    while ((await connections(greeted)) > serviceLimits.newcomers);
    expect(others.filter(({ socket }) => socket.destroyed)).toEqual([]);
  });
});
