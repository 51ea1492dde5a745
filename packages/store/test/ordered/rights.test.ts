import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { openStore, openStoreReader } from "../../src/index.js";
import { temporaryFolder, write } from "./helpers.js";

const nobody = 65_534;

function containing(part: string): unknown {
  return expect.stringContaining(part);
}

/** Takes the rights of the superuser away, who may write everywhere. */
function asNobody(): void {
  if (process.geteuid?.() !== 0) return;
  process.seteuid?.(nobody);
  onTestFinished(() => process.seteuid?.(0));
}

/** Sets a folder's mode, and gives it back at the end so that the folder can be removed. */
function restrict(folder: string, mode: number): void {
  chmodSync(folder, mode);
  onTestFinished(() => chmodSync(folder, 0o755));
}

async function storeFolder(): Promise<string> {
  const parent = temporaryFolder();
  chmodSync(parent, 0o755);
  const folder = join(parent, "store");
  const store = await openStore(folder);
  await write(store, { a: "1" });
  await store.close();
  return folder;
}

test("a reader that may not write its manifest is refused at once, with the folder named", async () => {
  const folder = await storeFolder();
  restrict(join(folder, "manifest"), 0o555);
  asNobody();
  const began = performance.now();
  await expect(openStoreReader(folder)).rejects.toMatchObject({
    code: "store_unavailable",
    message: containing(`the folder ${join(folder, "manifest")} cannot be written: permission denied (EACCES)`),
    remedy: containing("readers need it, too"),
  });
  expect(performance.now() - began).toBeLessThan(5_000);
});

test("a store that may not be looked into is refused for reading and for writing, with the right that is missing", async () => {
  const folder = await storeFolder();
  restrict(folder, 0o000);
  asNobody();
  const refusal = {
    code: "store_unavailable",
    message: containing(folder),
    remedy: containing("read and write"),
  };
  await expect(openStoreReader(folder)).rejects.toMatchObject(refusal);
  await expect(openStore(folder)).rejects.toMatchObject(refusal);
});

test("a folder in which nothing may be made is refused for writing", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "closed"));
  restrict(join(folder, "closed"), 0o555);
  chmodSync(folder, 0o755);
  asNobody();
  await expect(openStore(join(folder, "closed", "store"))).rejects.toMatchObject({
    code: "store_unavailable",
    message: containing(`the folder ${join(folder, "closed", "store")} cannot be made: permission denied (EACCES)`),
  });
});

test("a file where the store's folder should be is named", async () => {
  const file = join(temporaryFolder(), "file");
  writeFileSync(file, "");
  const refusal = { code: "store", message: containing(file) };
  await expect(openStore(file)).rejects.toMatchObject(refusal);
  await expect(openStoreReader(file)).rejects.toMatchObject(refusal);
});
