import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { compileSources, type CompiledSources } from "../../../store/test/compiled-sources.js";
import { WriterProcess } from "../../../store/test/writer-process.js";
import { temporaryFolder } from "../support/folders.js";
import { Lake } from "../support/lake.js";

// `npm run test:faults` runs the long form.
const killRounds = (process.env["MORAINE_FAULTS"] ?? "") === "" ? 20 : 200;
const maxMomentMs = 150;

let sources: CompiledSources;
beforeAll(() => {
  sources = compileSources(
    ["codec", "store", "index-core", "scoped-reader", "catalog"],
    ["catalog/test/faults/commit-process.ts"],
  );
});
afterAll(() => sources.remove());

/** What the table must hold when exactly these commits have landed. */
function rowsOf(landed: ReadonlySet<number>): bigint[] {
  const rows: bigint[] = [];
  for (const i of landed) {
    rows.push(BigInt(2 * i + 1));
    if (!landed.has(i + 20)) rows.push(BigInt(2 * i));
  }
  return rows.sort((a, b) => (a < b ? -1 : 1));
}

test(
  `a committing process killed at ${killRounds} random moments has lost no commit and left every index whole`,
  { timeout: killRounds * 10_000 },
  async () => {
    const location = temporaryFolder();
    const lake = await Lake.open({ location, dataPath: null });
    const table = await lake.table("t", { k: "BIGINT", s: "VARCHAR" });
    await lake.index(table, ["k"], { unique: true, name: "t_k" });
    await lake.index(table, ["s", "k"], { name: "t_s" });
    const snapshots = await lake.head();
    await lake.catalog.close();

    let landed = new Set<number>();
    for (let round = 0; round < killRounds; round++) {
      const inFlight = round % 2 === 0 ? 1 : 8;
      const first = Math.max(-1, ...landed) + 1;
      const script = sources.path("catalog/test/faults/commit-process.ts");
      const writer = new WriterProcess(script, [location, `${inFlight}`, `${first}`]);
      onTestFinished(() => writer.kill());
      await writer.line("acknowledged");
      const moment = Math.random() * maxMomentMs;
      // The random moment is what is tested here; nothing waits for it to be long enough.
      await new Promise<void>((resolve) => {
        setTimeout(resolve, moment);
      });
      await writer.kill();

      const again = await Lake.open({ location, dataPath: null });
      const found = (await again.column(table, "k")) as bigint[];
      const before = landed;
      landed = new Set(found.filter((k) => k % 2n === 1n).map((k) => Number((k - 1n) / 2n)));
      const acknowledged = new Set([...before, ...writer.acknowledged]);
      expect([...acknowledged].filter((i) => !landed.has(i))).toEqual([]);
      expect(landed.size - acknowledged.size).toBeLessThanOrEqual(inFlight);
      expect(found.sort((a, b) => (a < b ? -1 : 1))).toEqual(rowsOf(landed));
      expect(await again.head()).toBe(snapshots + BigInt(landed.size));
      await again.expectVerified(table);
      await again.catalog.close();
    }
    expect(landed.size).toBeGreaterThan(killRounds);
  },
);
