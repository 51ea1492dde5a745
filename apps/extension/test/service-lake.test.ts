// What a service process does with its store: when it opens it, how, and that it lets go of it. It runs what was built last.
import { existsSync, mkdirSync } from "node:fs";
import { createConnection } from "node:net";
import { once } from "node:events";
import { Catalog } from "@moraine/catalog";
import { StoreLock } from "@moraine/runtime";
import { openStore } from "@moraine/store";
import { decodeFrame, encodeFrame, FrameSplitter, type Message, type MessageOf } from "@moraine/duckdb-ext";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { stopService } from "../src/client/services.js";
import { connect, ServiceFolder } from "./support/service-process.js";

let folder: ServiceFolder;
beforeEach(async () => {
  folder = new ServiceFolder();
  const store = await openStore(folder.store);
  await (await Catalog.open({ store, dataPath: `${folder.path}/data/` })).close();
});

interface AttachChanges {
  readonly store?: string;
  readonly cwd?: string;
  readonly readOnly?: boolean;
  readonly options?: ReadonlyMap<string, string>;
  readonly storeSecret?: ReadonlyMap<string, string>;
}

function attach(changes: AttachChanges = {}): MessageOf<"attach"> {
  const nothing = new Map<string, string>();
  return {
    type: "attach",
    store: folder.store,
    cwd: "/",
    lake: "lake",
    readOnly: false,
    options: nothing,
    storeSecret: nothing,
    dataSecret: nothing,
    ...changes,
  };
}

/** Whether this process could open the store for writing without displacing another one. */
function isFree(): boolean {
  try {
    StoreLock.acquire(folder.store, false)?.release();
    return true;
  } catch {
    return false;
  }
}

it("has the store's native loops where they are built", async () => {
  const addon = new URL("../../../packages/store/native/build/moraine-store.node", import.meta.url);
  const service = folder.serve();
  await service.listening;
  await (await connect(folder)).ask("attached", attach());
  const codes = folder.log().map(({ warning }) => (warning as { readonly code?: string } | undefined)?.code);
  expect(codes.includes("MORAINE_PLAIN_BINDING")).toBe(!existsSync(addon));
});

it("opens the store with the first attachment, and closes it when it ends", async () => {
  const service = folder.serve();
  await service.listening;
  const connection = await connect(folder);
  expect(isFree()).toBe(true);
  expect(await connection.ask("attached", attach())).toMatchObject({ exists: true, dataPath: `${folder.path}/data/` });
  expect(isFree()).toBe(false);
  service.child.kill("SIGTERM");
  expect(await service.ended).toBe(0);
  expect(isFree()).toBe(true);
});

it("finds its store by any spelling, and refuses another one", async () => {
  await folder.serve().listening;
  const connection = await connect(folder);
  await connection.ask("attached", attach({ store: "./x/../store/", cwd: folder.path }));
  await connection.ask("attached", attach({ store: `file://${folder.store}` }));
  await expect(connection.ask("attached", attach({ store: "other", cwd: folder.path }))).rejects.toThrow(
    `this is the service of ${folder.store}, not of ${folder.path}/other`,
  );
});

it("has no lake in a store that is not there, and makes nothing", async () => {
  const other = new ServiceFolder();
  await other.serve().listening;
  folder = other;
  const connection = await connect(folder);
  expect(await connection.ask("attached", attach())).toMatchObject({ exists: false });
  expect(await connection.ask("attached", attach({ readOnly: true }))).toMatchObject({ exists: false });
  expect(isFree()).toBe(true);
});

it("is told at once, with the process, that another one writes to the store", async () => {
  const lock = StoreLock.acquire(folder.store, false);
  onTestFinished(() => lock?.release());
  const service = folder.serve(["--auto"]);
  await service.listening;
  const connection = await connect(folder);
  await expect(connection.ask("attached", attach())).rejects.toThrow(
    new RegExp(`process ${process.pid} \\(.*\\) is writing to ${folder.store}`, "u"),
  );
  // Reading displaces nobody.
  await connection.ask("attached", attach({ readOnly: true }));
  lock?.release();
  await connection.ask("attached", attach());
  expect(isFree()).toBe(false);
});

it("is no writer as long as all attachments are read-only", async () => {
  await folder.serve().listening;
  const connection = await connect(folder);
  const { attachment } = await connection.ask("attached", attach({ readOnly: true }));
  expect(isFree()).toBe(true);
  const follow: Message = {
    type: "follow",
    attachment,
    revision: undefined,
    oldestInUse: undefined,
    flags: { retry: false, mayBeOlder: false },
  };
  await connection.ask("changes_begin", follow);
  await (await connect(folder)).ask("attached", attach());
  expect(isFree()).toBe(false);
});

it("refuses a secret for another server than the one whose bucket it holds", async () => {
  await folder.serve().listening;
  const connection = await connect(folder);
  await connection.ask("attached", attach());
  const storeSecret = new Map([["endpoint", "elsewhere:9000"]]);
  await expect(connection.ask("attached", attach({ storeSecret }))).rejects.toThrow("another endpoint");
});

describe("an option of ATTACH", () => {
  it.each([
    ["flush_interval_ms", "50"],
    ["flush_interval_ms", "0"],
    ["encrypted", "false"],
  ])("%s %s is taken", async (name, value) => {
    await folder.serve().listening;
    const client = await connect(folder);
    expect(await client.ask("attached", attach({ options: new Map([[name, value]]) }))).toMatchObject({ exists: true });
  });

  it.each([
    ["colour", "red", 'no attach option "colour"'],
    ["flush_interval_ms", "soon", "flush_interval_ms"],
    ["cache_dir", "/x", "cache_dir"],
  ])("%s %s is refused by name", async (name, value, words) => {
    await folder.serve().listening;
    await expect(
      (await connect(folder)).ask("attached", attach({ options: new Map([[name, value]]) })),
    ).rejects.toThrow(words);
    expect(isFree()).toBe(true);
  });

  it("data_path that is another folder is refused, and a store within it", async () => {
    await folder.serve().listening;
    const connection = await connect(folder);
    for (const path of [`${folder.path}/other/`, folder.store]) {
      await expect(connection.ask("attached", attach({ options: new Map([["data_path", path]]) }))).rejects.toThrow(
        path,
      );
    }
    await connection.ask("attached", attach({ options: new Map([["data_path", `${folder.path}/data`]]) }));
  });
});

it("goes on after a client that died at any instant, and starts again with what was there after it died itself", async () => {
  mkdirSync(`${folder.path}/data`);
  for (let round = 0; round < 3; round++) {
    const service = folder.serve(["--auto"]);
    await service.listening;
    for (let at = 0; at < 10; at++) {
      const socket = createConnection(folder.place.socket).on("error", () => undefined);
      await once(socket, "connect");
      const hello = encodeFrame({ type: "hello", magic: 0x4d524e58, version: 1, client: "t", pid: 1n, program: "t" });
      const bytes = Buffer.concat([hello, encodeFrame(attach())]);
      const sent = bytes.subarray(0, Math.floor(((at + 1) * bytes.length) / 10));
      socket.write(sent);
      const frames = new FrameSplitter();
      if (at % 2 === 0 && sent.length >= hello.length) {
        const [piece] = (await once(socket, "data")) as [Uint8Array];
        frames.push(piece);
        expect(decodeFrame(frames.next() ?? new Uint8Array()).type).toBe("welcome");
      }
      socket.destroy();
    }
    expect(await (await connect(folder)).ask("attached", attach())).toMatchObject({ exists: true });
    if (round === 2) break;
    service.child.kill("SIGKILL");
    await service.ended;
  }
  expect(await stopService(folder.store)).toBeDefined();
});
