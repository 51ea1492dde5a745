import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { SchemaId } from "@moraine/codec";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { compileSources, type CompiledSources } from "../../../store/test/compiled-sources.js";
import { WriterProcess } from "../../../store/test/writer-process.js";
import { temporaryFolder } from "../support/folders.js";
import { Lake } from "../support/lake.js";

let sources: CompiledSources;
beforeAll(() => {
  sources = compileSources(
    ["codec", "store", "index-core", "scoped-reader", "catalog"],
    ["catalog/test/faults/full-disk-process.ts"],
  );
});
afterAll(() => sources.remove());

// A small file system in memory that only the process and its children see. Where that is not allowed, a limit on the size
// of files, which fails writes in the same way (EFBIG in place of ENOSPC).
const keepCopy = 'cp -r "$DISK/." "$COPY"';
const smallDisk = ["unshare", "-rm", "sh", "-c", `mount -t tmpfs -o size=4m none "$DISK" && "$@"; ${keepCopy}`, "sh"];
const smallFiles = ["sh", "-c", `ulimit -f 256 && "$@"; ${keepCopy}`, "sh"];
const canMount = spawnSync("unshare", ["-rm", "mount", "-t", "tmpfs", "none", "/mnt"]).status === 0;

test("a full disk fails commits with a typed error, and nothing acknowledged is lost", async () => {
  const folder = temporaryFolder();
  const [disk, copy] = [join(folder, "disk"), join(folder, "copy")];
  mkdirSync(disk);
  mkdirSync(copy);
  const writer = new WriterProcess(sources.path("catalog/test/faults/full-disk-process.ts"), [join(disk, "store")], {
    command: [...(canMount ? smallDisk : smallFiles), process.execPath],
    env: { ...process.env, DISK: disk, COPY: copy },
  });
  onTestFinished(() => writer.kill());
  await writer.line("closed");
  await writer.ended();
  expect(writer.lines.filter((line) => line.startsWith("failed"))).toEqual([
    "failed store",
    "failed store",
    "failed store",
  ]);
  expect(writer.lines).toContain("refused store");
  const acknowledged = writer.acknowledged.sort((a, b) => a - b);
  expect(acknowledged.length).toBeGreaterThan(0);

  const lake = await Lake.open({ location: join(copy, "store"), dataPath: null });
  const table = (await lake.catalog.snapshot()).tableByName(0n as SchemaId, "t")!.id;
  const found = new Set((await lake.column(table, "k")).map(Number));
  expect(acknowledged.filter((k) => !found.has(k))).toEqual([]);
  // Of the commits in flight some may have landed; each is there whole or not at all.
  expect(found.size - acknowledged.length).toBeLessThanOrEqual(3);
  await lake.expectVerified(table);
  await lake.insert(table, { k: -1n, s: "goes on" });
  await lake.expectVerified(table);
});
