// A process that commits without a pause does not keep a slow transaction of another one from committing.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { expect, describe, it, onTestFinished } from "vitest";
import { literal } from "../../src/duckdb/sql-text.js";
import { extensionAvailable } from "../support/available.js";
import { stopServices } from "../../../../packages/duckdb-ext/test/services.js";
import { SqlProcess } from "../support/sql-process.js";

const slowMs = 500;
const transactions = 4;

describe.skipIf(!extensionAvailable)("a transaction of half a second beside commits in a loop", () => {
  it.each([
    ["rows of another table", "UPDATE lake.slow SET n = n + 1"],
    ["further rows of the same table", "INSERT INTO lake.fast SELECT -i, 'slow' FROM range(5) r(i)"],
  ])("changes %s, and has committed at the second attempt", { timeout: 120_000 }, async (_, change) => {
    const folder = mkdtempSync(join(tmpdir(), "moraine-fairness-"));
    process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
    const attach =
      `ATTACH ${literal(`ducklake:moraine:${join(folder, "store")}`)} AS lake ` +
      `(DATA_PATH ${literal(`${join(folder, "data")}/`)})`;
    const fast = await SqlProcess.open([attach]);
    const slow = await SqlProcess.open([attach]);
    onTestFinished(async () => {
      await Promise.all([fast.kill(), slow.kill()]);
      await stopServices(folder);
      rmSync(folder, { recursive: true, force: true });
    });
    await fast.rows("CREATE TABLE lake.fast(a BIGINT, b VARCHAR)");
    await fast.rows("CREATE INDEX u ON lake.fast(a)");
    await fast.rows("CREATE TABLE lake.slow AS SELECT i AS id, 0 AS n FROM range(3) r(i)");

    let ended = false;
    let commits = 0;
    const loop = async (): Promise<void> => {
      while (!ended) await fast.rows(`INSERT INTO lake.fast VALUES (${commits++}, 'fast')`);
    };
    const looping = loop();
    // DuckLake gives up, with an error, after that many attempts.
    await slow.rows("SET ducklake_max_retry_count = 2");
    const commitMs: number[] = [];
    try {
      for (let i = 0; i < transactions; i++) {
        await slow.rows("BEGIN");
        await slow.rows("SELECT count(*) FROM lake.fast");
        await slow.rows(change);
        const before = commits;
        await wait(slowMs);
        // It is overtaken every time: else nothing would be tried.
        while (commits < before + 2) await wait(5);
        const began = performance.now();
        await slow.rows("COMMIT");
        commitMs.push(performance.now() - began);
      }
    } finally {
      ended = true;
      await looping;
    }
    expect(Math.max(...commitMs)).toBeLessThan(5000);
    expect(await slow.column("SELECT count(*) FROM lake.fast WHERE b = 'fast'")).toEqual([String(commits)]);
  });
});
