// Service processes as clients start them: who becomes the one of a store, and how it ends. They run what was built last.
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { isRunning, readHolder, StoreLock } from "@moraine/runtime";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { listServices, stopService } from "../src/client/services.js";
import { connect, ServiceFolder } from "./support/service-process.js";

let folder: ServiceFolder;
beforeEach(() => {
  folder = new ServiceFolder();
});

/** Waits until something holds, which the surrounding test's time bounds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await wait(5);
}

function files(): string[] {
  return readdirSync(`${folder.path}/run`).toSorted();
}

describe("a service", () => {
  it("listens at a private socket, reports itself, and leaves nothing but its log when it is stopped", async () => {
    const service = folder.serve();
    await service.listening;
    expect(statSync(folder.place.socket).mode & 0o777).toBe(0o600);
    expect(readHolder(folder.place.lock)).toMatchObject({ pid: service.pid, location: folder.store });
    expect(await listServices()).toEqual([
      {
        socket: folder.place.socket,
        status: expect.objectContaining({
          store: folder.store,
          pid: service.pid,
          connections: 1,
          clients: [],
        }) as unknown,
      },
    ]);
    expect(await stopService(folder.store)).toBe(service.pid);
    expect(await service.ended).toBe(0);
    expect(files()).toEqual([folder.place.log.slice(`${folder.path}/run/`.length)]);
    expect(folder.log().map(({ event }) => event)).toEqual(["listening", "ending", "ended"]);
    expect(await listServices()).toEqual([]);
    expect(await stopService(folder.store)).toBeUndefined();
  });

  it("is one of eight that are started at once", async () => {
    const services = Array.from({ length: 8 }, () => folder.serve(["--auto"]));
    const all = await Promise.all(
      services.map(({ listening, ended }) =>
        listening.then(
          () => "serves",
          () => ended,
        ),
      ),
    );
    expect(all.map(String).toSorted()).toEqual([...Array<string>(7).fill("0"), "serves"]);
    const [server] = services.filter((_, at) => all[at] === "serves");
    expect(readHolder(folder.place.lock)?.pid).toBe(server?.pid);
    await (await connect(folder)).ask("status_report", { type: "status" });
  });

  it("is refused beside another one unless a client starts it", async () => {
    const first = folder.serve();
    await first.listening;
    const second = folder.serve();
    expect(await second.ended).toBe(1);
    expect(await second.stderr).toContain(`process ${first.pid} serves ${folder.store} already`);
    expect(await folder.serve(["--auto"]).ended).toBe(0);
    expect(isRunning(readHolder(folder.place.lock)!)).toBe(true);
  });

  it.each(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"] as const)("that %s ends can be started again", async (signal) => {
    const service = folder.serve(["--auto"]);
    await service.listening;
    service.child.kill(signal);
    expect(await service.ended).toBe(signal === "SIGKILL" ? "SIGKILL" : 0);
    expect(existsSync(folder.place.socket)).toBe(signal === "SIGKILL");
    const next = folder.serve(["--auto"]);
    await next.listening;
    expect((await listServices()).map(({ status }) => status)).toMatchObject([{ pid: next.pid }]);
  });

  it("takes the place of a file that is no socket, and of a lock that nobody holds", async () => {
    mkdirSync(`${folder.path}/run`, { mode: 0o700 });
    writeFileSync(folder.place.socket, "");
    writeFileSync(folder.place.lock, "{}");
    const service = folder.serve(["--auto"]);
    await service.listening;
    const { json } = await (await connect(folder)).ask("status_report", { type: "status" });
    expect(JSON.parse(json)).toMatchObject({ pid: service.pid });
  });

  it("waits for one that does not listen any more, and serves when it has ended", async () => {
    const { place } = folder;
    const claim = StoreLock.acquireFile(place.lock, place.location, false);
    const service = folder.serve(["--auto"]);
    await until(() => existsSync(place.log));
    expect(await Promise.race([service.ended, wait(100, "waits")])).toBe("waits");
    claim.release();
    await service.listening;
  });

  it("leaves the store to one that begins to listen meanwhile", async () => {
    const { place } = folder;
    onTestFinished(() => claim.release());
    const claim = StoreLock.acquireFile(place.lock, place.location, false);
    const service = folder.serve(["--auto"]);
    await until(() => existsSync(place.log));
    const other = createServer().listen(place.socket);
    onTestFinished(() => void other.close());
    await once(other, "listening");
    expect(await service.ended).toBe(0);
  });

  it("survives clients that end in the middle of a frame, or send none", async () => {
    const service = folder.serve();
    await service.listening;
    for (const bytes of [[], [5, 0, 0, 0, 1], [255, 255, 255, 255], [1, 0, 0, 0, 99]]) {
      const socket = createConnection(folder.place.socket);
      await once(socket, "connect");
      socket.on("error", () => undefined);
      if (bytes.length > 0) await new Promise((resolve) => socket.write(Buffer.from(bytes), resolve));
      socket.destroy();
    }
    await (await connect(folder)).ask("status_report", { type: "status" });
    expect(await stopService(folder.store)).toBe(service.pid);
    expect(await service.ended).toBe(0);
  });

  it("logs an error that nobody handles, closes what can be closed, and ends with a failure", async () => {
    const broken = 'process.on("SIGUSR2", () => { throw new Error("broken on purpose"); });';
    const service = folder.serve([], { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(broken)}` });
    await service.listening;
    service.child.kill("SIGUSR2");
    expect(await service.ended).toBe(1);
    expect(folder.log()).toContainEqual(
      expect.objectContaining({
        level: "error",
        event: "failed",
        error: expect.objectContaining({ name: "Error" }) as unknown,
      }),
    );
    expect(files()).toEqual([folder.place.log.slice(`${folder.path}/run/`.length)]);
  });
});

describe("an idle service", () => {
  it("ends by itself, but not while a client is connected", async () => {
    const service = folder.serve(["--auto", "--idle-timeout", "0.5"]);
    await service.listening;
    const connection = await connect(folder);
    expect(await Promise.race([service.ended, wait(1000, "stays")])).toBe("stays");
    connection.wire.close();
    expect(await service.ended).toBe(0);
    expect(folder.log().at(-2)).toMatchObject({ event: "ending", reason: "idle" });
  });

  it("takes its time from the environment where a client has started it", async () => {
    const env = { MORAINE_IDLE_TIMEOUT: "0.05" };
    expect(await folder.serve(["--auto"], env).ended).toBe(0);
    const byHand = folder.serve([], env);
    await byHand.listening;
    expect(await Promise.race([byHand.ended, wait(500, "stays")])).toBe("stays");
  });

  it("turns away nobody who has found its socket", async () => {
    // Comes and goes around the very moment at which the service ends, by several of them.
    for (let round = 0; round < 5; round++) {
      const service = folder.serve(["--auto", "--idle-timeout", "0.05"]);
      await service.listening;
      let reached = true;
      // Each time a little longer, until nobody is there any more.
      for (let awayMs = 40 + round; reached; awayMs += 2) {
        const connection = await connect(folder).catch(() => undefined);
        reached = connection !== undefined;
        await connection?.ask("status_report", { type: "status" });
        connection?.wire.close();
        await wait(awayMs);
      }
      expect(await service.ended).toBe(0);
    }
  });
});

describe("arguments that make no sense", () => {
  it.each([
    [["serve"], 2, "Usage:"],
    [["serve", "a", "b"], 2, "Usage:"],
    [["dance"], 2, "Usage:"],
    [["serve", "a", "--loud"], 2, "--loud"],
    [["serve", "a", "--idle-timeout", "-1"], 2, "--idle-timeout"],
    [["serve", "a", "--idle-timeout", "soon"], 1, "seconds"],
    [["serve", "a", "--idle-timeout", "0"], 1, "seconds"],
    [["serve", "a", "--log-level", "loud"], 1, "debug, info, warn, error"],
    [["serve", "file://elsewhere/lake"], 1, "another machine"],
  ])("%j", async (args, status, words) => {
    const run = folder.run(args);
    expect(await run.ended).toBe(status);
    expect(await run.stderr).toContain(words);
  });
});
