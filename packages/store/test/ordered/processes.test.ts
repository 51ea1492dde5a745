import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { getOne, openStore, type WritableStore } from "../../src/index.js";
import { compileSources, type CompiledSources } from "../compiled-sources.js";
import { bytes, closing, rows, temporaryFolder, text, write } from "./helpers.js";
import { WriterProcess, type WriterProcessOptions } from "../writer-process.js";

// `npm run test:faults` runs the long form.
const killRounds = (process.env["MORAINE_FAULTS"] ?? "") === "" ? 20 : 200;

let sources: CompiledSources;
beforeAll(() => {
  sources = compileSources(["codec", "store"], ["store/test/ordered/writer-process.ts"]);
});
afterAll(() => sources.remove());

interface WriterOptions extends WriterProcessOptions {
  readonly paddingBytes?: number;
  readonly walObjects?: number;
}

function startWriter(
  location: string,
  inFlight: number,
  { paddingBytes = 0, walObjects, ...options }: WriterOptions = {},
): WriterProcess {
  const script = sources.path("store/test/ordered/writer-process.ts");
  const writer = new WriterProcess(
    script,
    [location, `${inFlight}`, `${paddingBytes}`, `${walObjects ?? ""}`],
    options,
  );
  onTestFinished(() => writer.kill());
  return writer;
}

/** Everything up to the head is there, each batch whole, and nothing beyond it. */
async function checkBatches(store: WritableStore): Promise<number> {
  const head = Number(text(await getOne(store, bytes("head"))) ?? "-1");
  const expected = Array.from({ length: head + 1 }, (_, i) => i);
  for (const letter of ["a", "b"]) {
    const found = await rows(store, letter, `${letter}~`);
    const numbers = found.map((row) => {
      const [key = "", value] = row.split("=");
      expect(key).toBe(`${letter}${value}`);
      return Number(value);
    });
    expect(numbers.sort((x, y) => x - y)).toEqual(expected);
  }
  return head;
}

describe("two processes", () => {
  test("S66: a second writer in another process fences the first, which gives a typed error and no wrong answer", async () => {
    const location = temporaryFolder();
    const first = startWriter(location, 1);
    await first.line("acknowledged 20");
    const second = closing(await openStore(location));
    expect(await first.line("failed")).toBe("failed fenced");
    expect(await first.line("refused")).toBe("refused fenced");
    await first.line("closed");
    await first.ended();
    const head = await checkBatches(second);
    // Whatever the first one acknowledged is there, even when it was acknowledged while the second one opened.
    expect(head).toBeGreaterThanOrEqual(first.acknowledged.at(-1) ?? 0);
    await write(second, { more: "1" });
    expect(text(await getOne(second, bytes("more")))).toBe("1");
  });

  test("a writer here that is fenced by another process fails with fenced", async () => {
    const location = temporaryFolder();
    const here = closing(await openStore(location));
    await write(here, { a: "1" });
    const other = startWriter(location, 1);
    await other.line("acknowledged");
    await expect(write(here, { a: "2" })).rejects.toMatchObject({ code: "fenced" });
    await expect(getOne(here, bytes("a"))).rejects.toMatchObject({ code: "fenced" });
    expect(other.lines.some((line) => line.startsWith("failed"))).toBe(false);
  });
});

test(
  `a writer killed at ${killRounds} random moments has lost nothing that it acknowledged`,
  { timeout: killRounds * 5_000 },
  async () => {
    const location = temporaryFolder();
    for (let round = 0; round < killRounds; round++) {
      const inFlight = round % 2 === 0 ? 1 : 8;
      // Few objects for each checkpoint, so that many kills fall into one.
      const writer = startWriter(location, inFlight, { walObjects: 8 });
      await writer.line("acknowledged");
      const moment = Math.random() * 150;
      // The random moment is what is tested here; nothing waits for it to be long enough.
      await new Promise<void>((resolve) => {
        setTimeout(resolve, moment);
      });
      await writer.kill();
      const store = await openStore(location);
      const head = await checkBatches(store);
      const last = Math.max(...writer.acknowledged);
      expect(head).toBeGreaterThanOrEqual(last);
      expect(head).toBeLessThanOrEqual(last + inFlight);
      // Every other time the next writer finds the store as a killed one left it, with this one still open.
      if (round % 4 < 2) await store.close();
      else onTestFinished(() => store.close().catch(() => undefined));
    }
  },
);

// A small file system in memory that only the process and its children see. Where that is not allowed, a limit on the size
// of files, which fails writes in the same way (EFBIG in place of ENOSPC).
const keepCopy = 'cp -r "$DISK/." "$COPY"';
const smallDisk = ["unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=3m none "$DISK" && "$@"; ${keepCopy}`, "sh"];
const smallFiles = ["sh", "-c", `ulimit -f 512 && "$@"; ${keepCopy}`, "sh"];
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

test("a full disk gives a typed error, and nothing acknowledged is lost", async () => {
  const folder = temporaryFolder();
  const [disk, copy] = [join(folder, "disk"), join(folder, "copy")];
  mkdirSync(disk);
  mkdirSync(copy);
  const writer = startWriter(join(disk, "store"), 4, {
    paddingBytes: 300_000,
    command: [...(canMount ? smallDisk : smallFiles), process.execPath],
    env: { ...process.env, DISK: disk, COPY: copy },
  });
  expect(await writer.line("failed")).toBe("failed store");
  expect(await writer.line("refused")).toBe("refused store");
  await writer.line("closed");
  await writer.ended();
  expect(writer.acknowledged.length).toBeGreaterThan(0);
  const store = closing(await openStore(join(copy, "store")));
  const head = await checkBatches(store);
  expect(head).toBeGreaterThanOrEqual(Math.max(...writer.acknowledged));
});
