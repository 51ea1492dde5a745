import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { getOne, openStore } from "../../src/index.js";
import { bytes, closing, rows, temporaryFolder, write } from "./helpers.js";

test("a folder that can no longer be written gives a typed error soon, and nothing acknowledged is lost", async () => {
  const folder = join(temporaryFolder(), "store");
  const store = closing(await openStore(folder));
  await write(store, { a: "1" });
  await store.checkpointMemory();
  rmSync(join(folder, "wal"), { recursive: true });
  writeFileSync(join(folder, "wal"), "not a folder");
  const began = performance.now();
  await expect(write(store, { a: "2" })).rejects.toMatchObject({ code: "store" });
  expect(performance.now() - began).toBeLessThan(20_000);
  expect(store.failure).toMatchObject({ code: "store" });
  await expect(write(store, { a: "3" })).rejects.toMatchObject({ code: "store" });
  await expect(getOne(store, bytes("a"))).rejects.toMatchObject({ code: "store" });
  rmSync(join(folder, "wal"));
  expect(await rows(closing(await openStore(folder)))).toContain("a=1");
});

test("a write that takes longer than the time limit ends the handle", async () => {
  const folder = join(temporaryFolder(), "store");
  const store = closing(await openStore(folder, { requestTimeoutMs: 300 }));
  await write(store, { a: "1" });
  rmSync(join(folder, "wal"), { recursive: true });
  writeFileSync(join(folder, "wal"), "not a folder");
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
