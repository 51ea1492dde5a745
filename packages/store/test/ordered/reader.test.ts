import { renameSync } from "node:fs";
import { join } from "node:path";
import { CloseReason, ErrorClosed } from "@slatedb/uniffi";
import { expect, test } from "vitest";
import { FileBackend } from "../../src/file-backend.js";
import { getOne, openStore } from "../../src/index.js";
import { parseLocation } from "../../src/location.js";
import type { StoreLoops } from "../../src/loops.js";
import { plainLoops } from "../../src/plain-loops.js";
import { SlateReader } from "../../src/reader.js";
import { bytes, closing, rows, temporaryFolder, text, write } from "./helpers.js";

/** Loops over engines that can be declared stopped, as SlateDB's reader is when its checkpoint has run out. */
function stoppable(): { readonly loops: StoreLoops; readonly stop: () => void; readonly engines: () => number } {
  const seen = new Set<object>();
  const stopped = new WeakSet<object>();
  let latest: object | undefined;
  const use = (from: object): void => {
    seen.add(from);
    latest = from;
    if (stopped.has(from)) throw new ErrorClosed(CloseReason.Panic, "the checkpoint is missing");
  };
  const loops: StoreLoops = {
    ...plainLoops,
    async getMany(from, keys, window) {
      use(from);
      return await plainLoops.getMany(from, keys, window);
    },
    async *scan(from, range, options) {
      use(from);
      yield* plainLoops.scan(from, range, options);
    },
  };
  return {
    loops,
    stop: () => {
      if (latest !== undefined) stopped.add(latest);
    },
    engines: () => seen.size,
  };
}

async function openReader(folder: string, loops: StoreLoops): Promise<SlateReader> {
  const location = parseLocation(folder);
  if (location.kind !== "file") throw new Error("not a folder");
  return closing(
    await SlateReader.open(new FileBackend(location), loops, { pollIntervalMs: 50, requestTimeoutMs: 10_000 }),
  );
}

test("a reader whose engine has stopped opens another one, once, and goes on", async () => {
  const folder = temporaryFolder();
  const store = closing(await openStore(folder));
  await write(store, { a: "1", b: "2" });
  const { loops, stop, engines } = stoppable();
  const reader = await openReader(folder, loops);
  expect(text(await getOne(reader, bytes("a")))).toBe("1");
  stop();
  await write(store, { a: "3" });
  const values = await Promise.all(Array.from({ length: 8 }, () => getOne(reader, bytes("a"))));
  expect(values.map((value) => text(value))).toEqual(Array.from({ length: 8 }, () => "3"));
  expect(engines()).toBe(2);
  expect(await rows(reader)).toEqual(["a=3", "b=2"]);
  await reader.close();
  await expect(getOne(reader, bytes("a"))).rejects.toMatchObject({ code: "closed" });
});

test("a scan that finds the engine stopped says so, and the next one works", async () => {
  const folder = temporaryFolder();
  const store = closing(await openStore(folder));
  await write(store, { a: "1" });
  const { loops, stop, engines } = stoppable();
  const reader = await openReader(folder, loops);
  expect(await rows(reader)).toEqual(["a=1"]);
  stop();
  await expect(rows(reader)).rejects.toMatchObject({ code: "store_unavailable", retryable: true });
  expect(await rows(reader)).toEqual(["a=1"]);
  expect(engines()).toBe(2);
});

test("a reader that cannot open again says why, and does so when the store is back", async () => {
  const folder = join(temporaryFolder(), "store");
  const store = await openStore(folder);
  await write(store, { a: "1" });
  await store.close();
  const { loops, stop } = stoppable();
  const reader = await openReader(folder, loops);
  expect(text(await getOne(reader, bytes("a")))).toBe("1");
  stop();
  renameSync(folder, `${folder}-away`);
  await expect(getOne(reader, bytes("a"))).rejects.toMatchObject({ code: "store" });
  renameSync(`${folder}-away`, folder);
  expect(text(await getOne(reader, bytes("a")))).toBe("1");
});
