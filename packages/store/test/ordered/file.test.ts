import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openStore, openStoreReader } from "../../src/index.js";
import { describeStore } from "./conformance.js";
import { closing, rows, temporaryFolder, write } from "./helpers.js";

const root = mkdtempSync(join(tmpdir(), "moraine-file-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

let count = 0;
describeStore({ name: "a local folder", freshUrl: () => `file://${root}/store-${++count}` });

test("a folder name with spaces, percent signs and letters of other alphabets", async () => {
  const folder = join(temporaryFolder(), "la ke%20ñ#1?");
  const store = closing(await openStore(folder));
  await write(store, { a: "1" });
  await store.close();
  expect(existsSync(join(folder, "manifest"))).toBe(true);
  const byUrl = closing(await openStore(store.location));
  expect(await rows(byUrl)).toEqual(["a=1"]);
});

test("a reader of a folder that does not exist does not make it", async () => {
  const folder = join(temporaryFolder(), "nothing");
  await expect(openStoreReader(folder)).rejects.toMatchObject({ code: "not_found" });
  expect(existsSync(folder)).toBe(false);
});
