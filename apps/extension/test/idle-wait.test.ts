// What waits for the service does not take the processor away from it.
import { onTestFinished, expect, it } from "vitest";
import { openTestDuckDb } from "./support/duckdb.js";
import { extensionAvailable } from "./support/available.js";

it.skipIf(!extensionAvailable)(
  "a commit that takes long leaves the processor alone",
  { timeout: 120_000 },
  async () => {
    const db = await openTestDuckDb();
    onTestFinished(() => db.close());
    await db.attach();
    await db.run("CREATE TABLE lake.t(a BIGINT); CREATE UNIQUE INDEX i ON lake.t(a)");
    const rows = 60_000;
    let [usedMs, tookMs] = [0, 0];
    for (let i = 0; i < 4; i++) {
      const [beganMs, before] = [performance.now(), process.cpuUsage()];
      // Writing the file takes a twentieth of the time. The rest is the service's, which reads it and makes entries of its rows.
      await db.run(`INSERT INTO lake.t SELECT * FROM range(${i * rows}, ${(i + 1) * rows})`);
      const { user, system } = process.cpuUsage(before);
      usedMs += (user + system) / 1000;
      tookMs += performance.now() - beganMs;
    }
    expect(usedMs).toBeLessThan(tookMs / 4);
    const [beganMs, before] = [performance.now(), process.cpuUsage()];
    await db.run("CREATE INDEX n ON lake.t(a)");
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan((performance.now() - beganMs) / 4);
  },
);
