import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAddon } from "../../src/native/find-addon.js";
import { nativeLoopsAvailable } from "../ordered/every-loops.js";
import { temporaryFolder } from "../ordered/helpers.js";
import { compileSources, type CompiledSources } from "../compiled-sources.js";
import { isSanitized, runToEnd } from "./child.js";

// `npm run test:faults` runs the long form.
const isLong = (process.env["MORAINE_FAULTS"] ?? "") !== "";
const calls = isLong ? 5_000_000 : 300_000;
const warmUpCalls = isLong ? 500_000 : 100_000;
const mostBytes = isLong ? 20_000_000 : 12_000_000;
/** What UniFFI 0.31.0 leaves behind with each asynchronous call. */
const leakedBytes = 112;
const plainCalls = 60_000;
/** Results of a MiB each, half of them of `getMany`, the others of scans. */
const largeResults = isLong ? 2000 : 400;
const callsOfLargeResult = 65;
/** A snapshot that is never released keeps about 170 bytes. */
const forgotten = isLong ? 600_000 : 150_000;

const allKinds =
  "one-in-memory,one-in-tables,many-in-memory,many-in-tables,absent,scan,short-scan,snapshot,write".split(",");

const available = nativeLoopsAvailable("memory of the native loops") && !isSanitized;

describe.skipIf(!available)("memory that calls leave behind", () => {
  let sources: CompiledSources;
  beforeAll(() => {
    const names = ["databases", "garbage", "leak-process"];
    sources = compileSources(
      ["codec", "store"],
      names.map((name) => `store/test/native/${name}.ts`),
    );
  });
  afterAll(() => sources.remove());

  /** By how much the memory of a process grows with so many calls. */
  async function grownBytes(loops: string, kinds: readonly string[], warmUp: number, count: number): Promise<number> {
    const folder = join(temporaryFolder(), "leak");
    mkdirSync(folder);
    const script = sources.path("store/test/native/leak-process.ts");
    const ended = await runToEnd(script, [loops, kinds.join(","), `${warmUp}`, `${count}`, folder], {
      limitMs: 600_000,
      // Else the heap of JavaScript grows by up to 32 MB, when it pleases.
      nodeOptions: ["--max-semi-space-size=1"],
    });
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: "" });
    return (JSON.parse(ended.stdout) as { grownBytes: number }).grownBytes;
  }

  test(`${calls} native calls of every kind leave nothing`, { timeout: 600_000 }, async () => {
    expect(mostBytes).toBeLessThan((calls * leakedBytes) / 2);
    expect(await grownBytes("native", allKinds, warmUpCalls, calls)).toBeLessThan(mostBytes);
  });

  test(`${largeResults} large results leave nothing`, { timeout: 600_000 }, async () => {
    const measured = largeResults * callsOfLargeResult;
    const grown = await grownBytes("native", ["large-many", "large-scan"], measured / 4, measured);
    // Some stays with the allocator. Those of one kind alone would be half of all.
    expect(grown).toBeLessThan((largeResults * 1024 * 1024) / 4);
  });

  test(`${forgotten} snapshots that are forgotten leave nothing`, { timeout: 600_000 }, async () => {
    expect(await grownBytes("native", ["forgotten-snapshot"], forgotten / 3, forgotten)).toBeLessThan(mostBytes);
  });

  // By the same measure, so that it is known to be able to fail; and the addon makes up for what it has found to be so.
  test("the binding leaves something behind with each call where the addon has measured that it does", async () => {
    const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
    if (found.addon === undefined) throw new Error(found.reason);
    const grown = await grownBytes("plain", ["one-in-memory", "many-in-tables", "scan"], 20_000, plainCalls);
    expect(found.futuresLeak).toBe(grown > (plainCalls * leakedBytes) / 2);
    // SlateDB 0.12.1. With a version that does not leak, expect false, and the loops need no cure any more.
    expect(found.futuresLeak).toBe(true);
  });
});
