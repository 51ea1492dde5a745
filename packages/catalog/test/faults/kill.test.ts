import { join } from "node:path";
import type { TableId } from "@moraine/codec";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { compileSources, type CompiledSources } from "../../../store/test/compiled-sources.js";
import { WriterProcess } from "../../../store/test/writer-process.js";
import { temporaryFolder } from "../support/folders.js";
import { Lake } from "../support/lake.js";

// `npm run test:faults` runs the long form.
const killRounds = (process.env["MORAINE_FAULTS"] ?? "") === "" ? 20 : 200;
const maxMomentMs = 150;
/**
 * What a process has to have reached before the random moment begins, and how many commits it has in flight: rounds of each kind
 * take turns. A flush is certain to land only where no other commit deletes rows meanwhile.
 */
const kinds = [
  { until: "acknowledged", inFlight: 1 },
  { until: "acknowledged", inFlight: 8 },
  { until: "flushing", inFlight: 8 },
  { until: "flushing", inFlight: 1 },
  { until: "flushed", inFlight: 1 },
] as const;
const deleteAfterCommits = 10;

let sources: CompiledSources;
beforeAll(() => {
  sources = compileSources(
    ["codec", "store", "index-core", "scoped-reader", "catalog"],
    ["catalog/test/faults/commit-process.ts"],
  );
});
afterAll(() => sources.remove());

/** The commits that have landed, as their lasting rows tell, with whether each of them deleted a row. */
async function landedCommits(lake: Lake, table: TableId): Promise<{ landed: Map<number, boolean>; keys: bigint[] }> {
  const [k, s] = [await lake.columnId(table, "k"), await lake.columnId(table, "s")];
  const landed = new Map<number, boolean>();
  const keys: bigint[] = [];
  for (const { values } of await lake.scan(table)) {
    const key = values.get(k) as bigint;
    keys.push(key);
    if (key % 2n === 1n) landed.set(Number((key - 1n) / 2n), values.get(s) === "deleted");
  }
  return { landed, keys: keys.sort((a, b) => (a < b ? -1 : 1)) };
}

/** What the table must hold when exactly these commits have landed. */
function keysOf(landed: ReadonlyMap<number, boolean>): bigint[] {
  const keys: bigint[] = [];
  for (const i of landed.keys()) {
    keys.push(BigInt(2 * i + 1));
    if (landed.get(i + deleteAfterCommits) !== true) keys.push(BigInt(2 * i));
  }
  return keys.sort((a, b) => (a < b ? -1 : 1));
}

test(
  `a committing process killed at ${killRounds} random moments has lost no commit and left every index whole`,
  { timeout: killRounds * 10_000 },
  async () => {
    const folder = temporaryFolder();
    const [location, dataPath] = [join(folder, "store"), join(folder, "data")];
    const lake = await Lake.open({ location, dataPath });
    const table = await lake.table("t", { k: "BIGINT", s: "VARCHAR" });
    await lake.index(table, ["k"], { unique: true, name: "t_k" });
    await lake.index(table, ["s", "k"], { name: "t_s" });
    const snapshots = await lake.head();
    await lake.catalog.close();

    let landed: ReadonlyMap<number, boolean> = new Map();
    let flushes = 0;
    for (let round = 0; round < killRounds; round++) {
      const { until, inFlight } = kinds[round % kinds.length]!;
      const first = Math.max(-1, ...landed.keys()) + 1;
      const script = sources.path("catalog/test/faults/commit-process.ts");
      const writer = new WriterProcess(script, [location, dataPath, `${inFlight}`, `${first}`]);
      onTestFinished(() => writer.kill());
      await writer.line(until);
      const moment = Math.random() * maxMomentMs;
      // The random moment is what is tested here; nothing waits for it to be long enough.
      await new Promise<void>((resolve) => {
        setTimeout(resolve, moment);
      });
      await writer.kill();

      const again = await Lake.open({ location, dataPath });
      const found = await landedCommits(again, table);
      const acknowledged = new Set([...landed.keys(), ...writer.acknowledged]);
      expect([...acknowledged].filter((i) => !found.landed.has(i))).toEqual([]);
      expect(found.landed.size - acknowledged.size).toBeLessThanOrEqual(inFlight);
      expect(found.keys).toEqual(keysOf(found.landed));
      ({ landed } = found);
      // Each flush that landed has made a snapshot and a file.
      flushes = (await again.catalog.snapshot()).dataFilesOf(table).length;
      expect(await again.head()).toBe(snapshots + BigInt(landed.size + flushes));
      await again.expectVerified(table);
      await again.catalog.close();
    }
    expect(landed.size).toBeGreaterThan(killRounds);
    expect([...landed.values()]).toContain(true);
    expect(flushes).toBeGreaterThan(0);
  },
);
