// The service is killed while a further lake of its store is made: there is none afterwards, or all of it, and it can be made.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { servicePids, stopServices } from "../../../../packages/duckdb-ext/test/services.js";
import { extensionAvailable } from "../support/available.js";
import { SqlProcess } from "../support/sql-process.js";

/** From before the lake is recorded until after it is made. */
const killsAfterMs = [0, 25, 50, 75, 100, 150];

describe.skipIf(!extensionAvailable)("a service that is killed while it makes a lake", () => {
  it("leaves a store in which the lake is there, or can be made", { timeout: 240_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "moraine-making-"));
    process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
    const attach = (schema: string, isThere = false): string =>
      `ATTACH 'ducklake:moraine:${folder}/store' AS ${schema} (DATA_PATH '${folder}/${schema}/',
        METADATA_SCHEMA '${schema}', CREATE_IF_NOT_EXISTS ${!isThere})`;
    const keeper = await SqlProcess.open([attach("first"), "CREATE TABLE first.t(id BIGINT)"]);
    onTestFinished(async () => {
      await keeper.kill();
      await stopServices(folder);
      rmSync(folder, { recursive: true, force: true });
    });
    for (const [at, afterMs] of killsAfterMs.entries()) {
      const schema = `lake${at}`;
      const maker = await SqlProcess.open();
      const making = maker.run(attach(schema));
      await wait(afterMs);
      for (const pid of servicePids(folder)) process.kill(pid, "SIGKILL");
      const outcome = await making;
      await maker.kill();
      // What was said to be made is there.
      const next = await SqlProcess.open([attach(schema, "rows" in outcome)]);
      expect(await next.column(`SELECT count(*) FROM ducklake_snapshots('${schema}')`)).toEqual(["1"]);
      await next.rows(`CREATE TABLE ${schema}.t AS SELECT ${at} AS id`);
      await next.close();
      await keeper.rows(`INSERT INTO first.t VALUES (${at})`);
    }
    await keeper.rows("DETACH first");
    await stopServices(folder);
    const reader = await SqlProcess.open([attach("first")]);
    expect(await reader.column("SELECT count(*) FROM first.t")).toEqual([String(killsAfterMs.length)]);
    for (const at of killsAfterMs.keys()) {
      await reader.rows(attach(`lake${at}`));
      expect(await reader.column(`SELECT id FROM lake${at}.t`)).toEqual([String(at)]);
    }
    await reader.close();
  });
});
