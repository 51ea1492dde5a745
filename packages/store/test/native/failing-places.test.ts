import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { getOne, type ReadView, type StoreOptions, type WritableStore } from "../../src/index.js";
import type { StoreLoops } from "../../src/loops.js";
import { openStoreWith } from "../../src/open-store.js";
import { plainLoops } from "../../src/plain-loops.js";
import { nativeLoops, nativeLoopsAvailable } from "../ordered/every-loops.js";
import { bytes, closing, rows, temporaryFolder, text, write } from "../ordered/helpers.js";
import { useS3BehindProxy } from "../s3-behind-proxy.js";
import { hasS3Server } from "../s3-server.js";

/** What became of a call: its answer, or class, code and text of its error. */
async function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { error: error.constructor.name, code: "code" in error ? error.code : undefined, message: error.message };
  }
}

/** Runs the same on both loops, one after the other; both must come to the same. Gives what they came to. */
async function sameOutcomes(run: (loops: StoreLoops) => Promise<unknown[]>): Promise<unknown[]> {
  const plain = await run(plainLoops);
  const native = await run(nativeLoops());
  expect(native).toEqual(plain);
  return native;
}

function readsOf(view: ReadView): Promise<unknown>[] {
  return [getOne(view, bytes("a")).then(text), rows(view), rows(view, undefined, undefined, { limit: 1 })].map(
    outcomeOf,
  );
}

const available = nativeLoopsAvailable("places that fail");

describe.skipIf(!available)("both loops in a folder", () => {
  test("that has lost its write-ahead log", async () => {
    const outcomes = await sameOutcomes(async (loops) => {
      const folder = join(temporaryFolder(), "store");
      const store = closing(await openStoreWith(loops, folder, {}));
      await write(store, { a: "1" });
      rmSync(join(folder, "wal"), { recursive: true });
      writeFileSync(join(folder, "wal"), "not a folder");
      // What is in memory can still be read, until the write has failed.
      const before = await Promise.all(readsOf(store));
      const written = await outcomeOf(write(store, { a: "2" }));
      const after = [written, ...(await Promise.all(readsOf(store))), await outcomeOf(write(store, { a: "3" }))];
      // Each of the two has a folder of its own.
      return [before, after.map((outcome) => JSON.stringify(outcome).replaceAll(folder, "folder"))];
    });
    const refused: unknown = expect.stringMatching(
      /"code":"store_gone","message":"store gone: the folder folder of a store/u,
    );
    expect(outcomes).toEqual([["1", ["a=1"], ["a=1"]], Array.from({ length: 5 }, () => refused)]);
  });
});

describe.skipIf(!available || !hasS3Server("both loops in S3 behind a failing network"))(
  "both loops in S3 behind a failing network",
  () => {
    const s3 = useS3BehindProxy();

    /** A store whose entry lies in a table that has not been read yet. */
    async function coldStore(loops: StoreLoops, name: string, options: StoreOptions): Promise<WritableStore> {
      const url = `s3://stores/${loops.name}-${name}`;
      const first = closing(await openStoreWith(loops, url, {}));
      await write(first, { a: "1" });
      await first.close();
      return closing(await openStoreWith(loops, url, { ...options, blockCache: false }));
    }

    test("that is silent: reads fail, and the store lives on", async () => {
      const outcomes = await sameOutcomes(async (loops) => {
        const store = await coldStore(loops, "silent", { requestTimeoutMs: 500 });
        s3.proxy.set({ kind: "stall", afterBytes: 0 });
        const reads = await Promise.all(readsOf(store));
        const failure = store.failure;
        s3.proxy.set(undefined);
        return [reads, failure, await rows(store)];
      });
      expect(outcomes).toMatchObject([Array.from({ length: 3 }, () => ({ code: "store_unavailable" })), null, ["a=1"]]);
    });

    test("that cuts answers: the engine asks again", async () => {
      const outcomes = await sameOutcomes(async (loops) => {
        const store = await coldStore(loops, "cut", {});
        s3.proxy.set({ kind: "cut", afterBytes: 0, times: 2 });
        const reads = await Promise.all(readsOf(store));
        return [reads, s3.proxy.struck];
      });
      expect(outcomes).toEqual([["1", ["a=1"], ["a=1"]], 2]);
    });
  },
);
