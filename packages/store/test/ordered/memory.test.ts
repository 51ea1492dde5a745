import { expect, test } from "vitest";
import { dropMemoryStore, openStore } from "../../src/index.js";
import { describeStore } from "./conformance.js";
import { closing, rows, write } from "./helpers.js";

let count = 0;
const freshUrl = (): string => `memory://store-${++count}`;

describeStore({ name: "memory", freshUrl });

test("a dropped store in memory is forgotten", async () => {
  const url = freshUrl();
  const store = await openStore(url);
  await write(store, { a: "1" });
  await store.close();
  dropMemoryStore(url);
  expect(await rows(closing(await openStore(url)))).toEqual([]);
});
