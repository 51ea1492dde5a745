// A commit that was refused as stale, and that DuckLake finds to conflict when it begins again.
import { onTestFinished, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { openTestDuckDb } from "./support/duckdb.js";

it.skipIf(!extensionAvailable)("keeps nobody waiting once it has given up", async () => {
  const db = await openTestDuckDb();
  onTestFinished(() => db.close());
  await db.attach();
  // Another copy of the same lake, as another process has it.
  await db.run(`ATTACH 'ducklake:moraine:${db.path("store")}' AS other`);
  const others = await db.connect();
  await db.run("CREATE TABLE lake.t(a BIGINT); INSERT INTO lake.t VALUES (1)");
  const waitsMs: number[] = [];
  for (let round = 0; round < 3; round++) {
    await db.run("BEGIN; DELETE FROM lake.t");
    await others.run("INSERT INTO other.t VALUES (2)");
    expect(await db.failure("COMMIT")).toContain("conflict");
    const began = performance.now();
    await others.run("INSERT INTO other.t VALUES (3)");
    waitsMs.push(performance.now() - began);
  }
  // Without a word of it they would wait two seconds, each time.
  expect(Math.min(...waitsMs)).toBeLessThan(1_500);
  expect(await db.column("SELECT count(*) FROM lake.t")).toEqual(["7"]);
});
