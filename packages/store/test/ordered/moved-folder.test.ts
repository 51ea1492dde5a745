import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { getOne, openStore, storeLimits, type WritableStore } from "../../src/index.js";
import { describeEveryLoops } from "./every-loops.js";
import { bytes, closing, rows, temporaryFolder, write } from "./helpers.js";

function matching(text: RegExp): unknown {
  return expect.stringMatching(text);
}

/** How an error of a store whose folder is gone begins. */
const gone = { code: "store_gone", retryable: false };

function storeFolder(): { readonly folder: string; readonly away: string } {
  const parent = temporaryFolder();
  return { folder: join(parent, "store"), away: join(parent, "away") };
}

/** Every commit is refused, and so it stays; then the store closes, without an error and at once. */
async function expectFinished(store: WritableStore): Promise<void> {
  await expect(write(store, { later: "1" })).rejects.toMatchObject(gone);
  await expect(getOne(store, bytes("a"))).rejects.toMatchObject(gone);
  await expect(store.snapshot()).rejects.toMatchObject(gone);
  expect(store.failure).toMatchObject(gone);
  const began = performance.now();
  await store.close();
  await store.close();
  expect(performance.now() - began).toBeLessThan(2_000);
}

/** What happens to the folder of an open store, and what its error says. */
const losses: readonly (readonly [name: string, lose: (folder: string, away: string) => void, text: RegExp])[] = [
  ["moved", (folder, away) => renameSync(folder, away), /was moved or deleted/u],
  ["deleted", (folder) => rmSync(folder, { recursive: true }), /was moved or deleted/u],
  [
    "emptied",
    (folder) => {
      for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    },
    /was emptied or replaced/u,
  ],
  [
    "replaced by an empty one",
    (folder, away) => {
      renameSync(folder, away);
      mkdirSync(folder);
    },
    /was emptied or replaced/u,
  ],
  [
    "replaced by a copy",
    (folder, away) => {
      renameSync(folder, away);
      cpSync(away, folder, { recursive: true });
    },
    /was emptied or replaced/u,
  ],
];

describeEveryLoops("a store in a folder", ({ openStore: open, openStoreReader: openReader }) => {
  describe.each(losses)("that is %s", (_, lose, text) => {
    test("acknowledges nothing any more, whenever the next commit comes, and closes at once", async () => {
      const { folder, away } = storeFolder();
      const store = closing(await open(folder));
      await write(store, { a: "1" });
      lose(folder, away);
      await expect(write(store, { a: "2" })).rejects.toMatchObject({ ...gone, message: matching(text) });
      await expectFinished(store);
    });

    test("is found to be gone without a commit, and says so", async () => {
      const { folder, away } = storeFolder();
      const failures: Error[] = [];
      const store = closing(await open(folder, { onFailure: (error) => failures.push(error) }));
      await write(store, { a: "1" });
      const snapshot = await store.snapshot();
      lose(folder, away);
      await vi.waitFor(() => expect(failures).toEqual([expect.objectContaining(gone)]), { timeout: 10_000 });
      await expect(getOne(snapshot, bytes("a"))).rejects.toMatchObject(gone);
      await expectFinished(store);
      expect(failures).toHaveLength(1);
      // The engine has looked for its manifest meanwhile, and has ended or given up.
      if (text.test("was moved or deleted")) expect(existsSync(folder)).toBe(false);
    });

    test("closes at once, also where nobody has noticed yet", async () => {
      const { folder, away } = storeFolder();
      const store = closing(await open(folder));
      await write(store, { a: "1" });
      lose(folder, away);
      const began = performance.now();
      await store.close();
      expect(performance.now() - began).toBeLessThan(2_000);
    });

    test("refuses a reader's reads, and lets it close at once", async () => {
      const { folder, away } = storeFolder();
      const store = await open(folder);
      await write(store, { a: "1" });
      await store.close();
      const reader = closing(await openReader(folder, { pollIntervalMs: 50 }));
      expect(await rows(reader)).toEqual(["a=1"]);
      expect(reader.failure).toBeNull();
      lose(folder, away);
      expect(reader.failure).toMatchObject({ ...gone, message: matching(text) });
      await vi.waitFor(() => expect(getOne(reader, bytes("a"))).rejects.toMatchObject(gone), { timeout: 5_000 });
      await vi.waitFor(() => expect(rows(reader)).rejects.toMatchObject(gone), { timeout: 5_000 });
      const began = performance.now();
      await reader.close();
      expect(performance.now() - began).toBeLessThan(4_000);
    });
  });

  test("holds all that was acknowledged where it was moved to while commits ran, and nothing lies at the old path", async () => {
    const { folder, away } = storeFolder();
    const store = closing(await open(folder));
    const acknowledged: string[] = [];
    let failed = 0;
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let i = 0; ; i++) {
        try {
          await write(store, { [`k${writer}-${i}`]: "1" });
          acknowledged.push(`k${writer}-${i}=1`);
        } catch (error) {
          expect(error).toMatchObject(gone);
          failed += 1;
          return;
        }
      }
    });
    await vi.waitFor(() => expect(acknowledged.length).toBeGreaterThan(100));
    renameSync(folder, away);
    await Promise.all(writers);
    expect(failed).toBe(4);
    await store.close();
    expect(existsSync(folder)).toBe(false);
    expect(await rows(closing(await open(away)))).toEqual(expect.arrayContaining(acknowledged));
  });

  test("that was moved a moment ago gets nothing of later commits", async () => {
    const { folder, away } = storeFolder();
    const store = closing(await open(folder));
    await write(store, { a: "1" });
    renameSync(folder, away);
    // As if that time had passed, in which the writer's own watch did not look.
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, "now").mockImplementation(() => now() + storeLimits.folderTrustMs);
    onTestFinished(() => later.mockRestore());
    await expect(write(store, { b: "1" })).rejects.toMatchObject(gone);
    await store.close();
    expect(await rows(closing(await open(away)))).toEqual(["a=1"]);
  });

  test("that was moved can be opened there while the old handle is still open, which never commits again", async () => {
    const { folder, away } = storeFolder();
    const old = closing(await open(folder));
    await write(old, { a: "1" });
    renameSync(folder, away);
    const moved = closing(await open(away));
    await write(moved, { a: "2" });
    await expect(write(old, { a: "3" })).rejects.toMatchObject(gone);
    expect(await rows(moved)).toEqual(["a=2"]);
    await expectFinished(old);
    await write(moved, { b: "1" });
    expect(await rows(moved)).toEqual(["a=2", "b=1"]);
  });

  test("can be put back, and is opened again with all that was acknowledged", async () => {
    const { folder, away } = storeFolder();
    const old = closing(await open(folder));
    await write(old, { a: "1" });
    renameSync(folder, away);
    await expect(write(old, { b: "unknown" })).rejects.toMatchObject(gone);
    renameSync(away, folder);
    // Not even now: others may have written to it meanwhile.
    await expectFinished(old);
    const again = closing(await open(folder));
    // The one that failed was under way, or seemed so, when the folder was moved.
    expect((await rows(again)).filter((row) => row !== "b=unknown")).toEqual(["a=1"]);
    await write(again, { a: "2" });
    expect(await rows(again)).toContain("a=2");
  });

  test("that was deleted makes place for a new one at once", async () => {
    const { folder } = storeFolder();
    const old = closing(await open(folder));
    await write(old, { a: "1" });
    await old.checkpointMemory();
    rmSync(folder, { recursive: true });
    await expect(write(old, { a: "2" })).rejects.toMatchObject(gone);
    const fresh = closing(await open(folder));
    expect(await rows(fresh)).toEqual([]);
    await write(fresh, { b: "1" });
    await expectFinished(old);
    // What the old engine still does is nothing to the new store.
    await fresh.checkpointMemory();
    await write(fresh, { b: "2" });
    expect(await rows(fresh)).toEqual(["b=2"]);
  });

  test("is not gone where only the way to it changes: a link in place of the folder, or above it", async () => {
    const { folder, away } = storeFolder();
    const link = `${folder}-link`;
    mkdirSync(folder);
    symlinkSync(folder, link);
    const store = closing(await open(join(link, "store")));
    await write(store, { a: "1" });
    renameSync(folder, away);
    symlinkSync(away, folder);
    await write(store, { a: "2" });
    expect(store.failure).toBeNull();
    unlinkSync(folder);
    await expect(write(store, { a: "3" })).rejects.toMatchObject(gone);
  });

  test("lets a reader go on when it is put back", async () => {
    const { folder, away } = storeFolder();
    const store = await open(folder);
    await write(store, { a: "1" });
    await store.close();
    const reader = closing(await openReader(folder, { pollIntervalMs: 50 }));
    renameSync(folder, away);
    await vi.waitFor(() => expect(rows(reader)).rejects.toMatchObject(gone), { timeout: 5_000 });
    renameSync(away, folder);
    await vi.waitFor(async () => expect(await rows(reader)).toEqual(["a=1"]), { timeout: 5_000 });
  });
});

test("a store in memory has no folder to lose", async () => {
  const store = closing(await openStore("memory://no-folder"));
  await write(store, { a: "1" });
  expect(store.failure).toBeNull();
});
