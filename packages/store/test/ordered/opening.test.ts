import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { FileBackend } from "../../src/file-backend.js";
import { openStore } from "../../src/index.js";
import { parseLocation } from "../../src/location.js";
import { closing, rows, temporaryFolder, write } from "./helpers.js";

async function replayAfter(folder: string): Promise<number> {
  const location = parseLocation(folder);
  if (location.kind !== "file") throw new Error("not a folder");
  return Number((await new FileBackend(location).readManifest())?.replayAfterWalId ?? 0n);
}

function lastWalId(folder: string): number {
  return Math.max(...readdirSync(join(folder, "wal")).map((name) => Number.parseInt(name, 10) || 0));
}

describe("write-ahead objects", () => {
  test("memory is moved to tables after so many of them, while writes go on, so that opening replays few", async () => {
    const folder = temporaryFolder();
    const store = closing(await openStore(folder, { walObjectsPerCheckpoint: 20 }));
    for (let i = 0; i < 300; i++) await write(store, { [`k${i}`]: `${i}` });
    const last = lastWalId(folder);
    expect(last).toBeGreaterThan(300);
    await vi.waitFor(async () => expect(await replayAfter(folder)).toBeGreaterThan(last - 45));
    const next = closing(await openStore(folder));
    expect((await rows(next, "k", "l")).length).toBe(300);
  });

  test("checkpointMemory and close leave nothing to replay", async () => {
    const folder = temporaryFolder();
    const store = closing(await openStore(folder));
    for (let i = 0; i < 10; i++) await write(store, { a: `${i}` });
    expect(await replayAfter(folder)).toBeLessThan(2);
    await store.checkpointMemory();
    expect(await replayAfter(folder)).toBe(lastWalId(folder));
    await write(store, { a: "last" });
    await store.close();
    expect(await replayAfter(folder)).toBe(lastWalId(folder));
  });

  test("old ones are kept for the minimum age, and are not read again", async () => {
    const folder = temporaryFolder();
    const store = closing(await openStore(folder));
    for (let i = 0; i < 50; i++) await write(store, { a: `${i}` });
    await store.close();
    const before = await replayAfter(folder);
    expect(readdirSync(join(folder, "wal")).length).toBeGreaterThan(50);
    const again = closing(await openStore(folder));
    await write(again, { b: "1" });
    await again.close();
    // The new writer's fence and its one write.
    expect(await replayAfter(folder)).toBe(before + 2);
  });
});

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : error;
}

describe("opening at the same time", () => {
  test.each(["memory", "file"])("at most one of several writers stays, and the others say so (%s)", async (kind) => {
    const location = kind === "memory" ? "memory://raced" : temporaryFolder();
    const opened = await Promise.allSettled([1, 2, 3].map(() => openStore(location)));
    const stores = opened.flatMap((result) => (result.status === "fulfilled" ? [closing(result.value)] : []));
    for (const result of opened) {
      if (result.status === "rejected") expect(["fenced", "open_raced"]).toContain(codeOf(result.reason));
    }
    const writes = await Promise.allSettled(stores.map((store, i) => write(store, { winner: `${i}` })));
    for (const result of writes) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "fenced" });
    }
    // There may be none: when the last to arrive lost the race for the first manifest, all the others were fenced by it.
    const winners = stores.filter((_, i) => writes[i]?.status === "fulfilled");
    expect(winners.length).toBeLessThan(2);
    expect(stores.filter((store) => store.failure === null)).toEqual(winners);
    const next = closing(await openStore(location));
    expect((await rows(next)).length).toBe(winners.length);
    await write(next, { winner: "next" });
  });
});
