import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { getOne, openStore } from "../../src/index.js";
import type { StoreLoops } from "../../src/loops.js";
import { openStoreWith } from "../../src/open-store.js";
import { plainLoops } from "../../src/plain-loops.js";
import { bytes, closing, rows, temporaryFolder, write } from "./helpers.js";

test("a folder that can no longer be written gives a typed error soon, and nothing acknowledged is lost", async () => {
  const folder = join(temporaryFolder(), "store");
  const store = closing(await openStore(folder));
  await write(store, { a: "1" });
  await store.checkpointMemory();
  rmSync(join(folder, "wal"), { recursive: true });
  writeFileSync(join(folder, "wal"), "not a folder");
  const began = performance.now();
  await expect(write(store, { a: "2" })).rejects.toMatchObject({ code: "store_gone" });
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(store.failure).toMatchObject({ code: "store_gone" });
  await expect(write(store, { a: "3" })).rejects.toMatchObject({ code: "store_gone" });
  await expect(getOne(store, bytes("a"))).rejects.toMatchObject({ code: "store_gone" });
  rmSync(join(folder, "wal"));
  expect(await rows(closing(await openStore(folder)))).toContain("a=1");
});

test("a write that takes longer than the time limit ends the handle", async () => {
  let hangs = false;
  const never = new Promise<void>(() => undefined);
  const loops: StoreLoops = { ...plainLoops, flush: (db) => (hangs ? never : plainLoops.flush(db)) };
  const store = closing(await openStoreWith(loops, join(temporaryFolder(), "store"), { requestTimeoutMs: 300 }));
  await write(store, { a: "1" });
  hangs = true;
  await expect(write(store, { a: "2" })).rejects.toMatchObject({ code: "store_unavailable" });
  expect(store.failure).toMatchObject({ code: "store_unavailable" });
  await expect(write(store, { a: "3" })).rejects.toMatchObject({ code: "store_unavailable" });
});

test("a place where no store can be made is refused", async () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "file"), "");
  await expect(openStore(join(folder, "file"))).rejects.toMatchObject({ code: "store" });
  await expect(openStore(join(folder, "file", "below"))).rejects.toMatchObject({ code: "store" });
  await expect(openStore("")).rejects.toMatchObject({ code: "configuration" });
  await expect(openStore("gs://bucket/x")).rejects.toMatchObject({ code: "configuration" });
  await expect(openStore("file://relative")).rejects.toMatchObject({ code: "configuration" });
  await expect(openStore("memory://")).rejects.toMatchObject({ code: "configuration" });
  await expect(openStore("s3://ab/x")).rejects.toMatchObject({ code: "configuration" });
  await expect(openStore("s3://bucket/a%20b")).rejects.toMatchObject({ code: "configuration" });
  await expect(openStore("s3://bucket/a/../b")).rejects.toMatchObject({ code: "configuration" });
});
