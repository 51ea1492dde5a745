import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ListeningSocket } from "./listening-socket.js";

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moraine-socket-"));
  path = join(folder, "0123456789abcdef.sock");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Listens, and says its name to whoever connects. */
async function listen(name: string): Promise<ListeningSocket> {
  return await ListeningSocket.open(path, (socket) => socket.end(name));
}

/** What whoever is reached at the path says. */
async function reached(): Promise<string> {
  const socket: Socket = createConnection(path).setEncoding("utf8");
  const [name] = (await once(socket, "data")) as [string];
  return name;
}

describe("a socket that listens", () => {
  it("is private, and leaves nothing", async () => {
    const socket = await listen("it");
    expect(readdirSync(folder)).toEqual(["0123456789abcdef.sock"]);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(socket.isInPlace).toBe(true);
    expect(await reached()).toBe("it");
    socket.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("takes the place of another one, which does not take that one's away when it closes", async () => {
    const former = await listen("former");
    const next = await listen("next");
    expect([former.isInPlace, next.isInPlace]).toEqual([false, true]);
    former.hide();
    former.close();
    expect(await reached()).toBe("next");
    next.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("knows a file that is not its own, and leaves it", async () => {
    const socket = await listen("it");
    rmSync(path);
    expect(socket.isInPlace).toBe(false);
    writeFileSync(path, "other");
    expect(socket.isInPlace).toBe(false);
    socket.close();
    expect(existsSync(path)).toBe(true);
  });

  it("is found no more once it is hidden", async () => {
    const socket = await listen("it");
    const early = createConnection(path).setEncoding("utf8");
    socket.hide();
    await expect(reached()).rejects.toThrow("ENOENT");
    expect(await once(early, "data")).toEqual(["it"]);
    socket.close();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("leaves nothing where its place cannot be taken, and takes no longer name than a socket has", async () => {
    mkdirSync(join(path, "below"), { recursive: true });
    await expect(listen("it")).rejects.toThrow(/EISDIR|ENOTEMPTY/u);
    expect(readdirSync(folder)).toEqual(["0123456789abcdef.sock"]);
    const deep = join(folder, "x".repeat(107 - folder.length - "//0123456789abcdef.sock".length));
    mkdirSync(deep);
    path = join(deep, "0123456789abcdef.sock");
    expect(path).toHaveLength(107);
    const longest = await listen("it");
    expect(await reached()).toBe("it");
    longest.close();
    path += "x";
    await expect(listen("it")).rejects.toThrow(`the socket's path ${path} is longer than 107 bytes`);
    expect(readdirSync(deep)).toEqual([]);
  });
});
