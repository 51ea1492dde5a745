import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { extensionAvailable } from "./support/available.js";
import { initStatements } from "../src/duckdb/attach-statements.js";
import { extensionFile } from "../src/duckdb/extension-file.js";
import { officialExtensionFile } from "../src/duckdb/official-extension.js";
import { hosts } from "./support/hosts.js";
import { stopServices } from "../../../packages/duckdb-ext/test/services.js";

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "moraine-hosts-"));
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
});
afterEach(async () => {
  await stopServices(folder);
  rmSync(folder, { recursive: true, force: true });
});

/** The statements by which a host attaches the lake. */
async function attach(): Promise<string[]> {
  const files = [await officialExtensionFile("ducklake"), extensionFile()];
  return initStatements({ store: join(folder, "store"), dataPath: join(folder, "data") }, files);
}

describe.skipIf(!extensionAvailable).each(hosts)("DuckDB in $name", (host) => {
  it.skipIf(!host.available)("creates, enforces and uses an index, and finds it again", async () => {
    const init = await attach();
    const first = await host.run([
      ...init,
      "CREATE TABLE t(a BIGINT, b VARCHAR)",
      "CREATE UNIQUE INDEX u ON t(a)",
      "INSERT INTO t SELECT i, 'v' || i FROM range(1000) r(i)",
      "SELECT row_id FROM moraine_index_lookup('lake', 'main', 't', 'u', 17)",
      "INSERT INTO t VALUES (17, 'again')",
    ]);
    const [looked, refused] = first.slice(-2);
    expect(looked).toEqual({ rows: [["17"]] });
    expect(refused).toMatchObject({ error: expect.stringContaining("claims a value") as string });
    const second = await host.run([
      ...init,
      "SELECT count(*), max(a) FROM t",
      "SELECT index_name, state FROM moraine_indexes('lake', 'main', 't')",
    ]);
    expect(second.at(-2)).toEqual({ rows: [["1000", "999"]] });
    expect(second.at(-1)).toEqual({ rows: [["u", "ready"]] });
  });
});

it.skipIf(!extensionAvailable || hosts.some(({ available }) => !available))(
  "hosts write to one lake one after the other",
  async () => {
    const init = await attach();
    await hosts[0]?.run([...init, "CREATE TABLE t(a BIGINT, host VARCHAR)", "CREATE UNIQUE INDEX u ON t(a)"]);
    for (const [at, host] of hosts.entries()) await host.run([...init, `INSERT INTO t VALUES (${at}, '${host.name}')`]);
    const [rows] = (await hosts[0]?.run([...init, "SELECT a, host FROM t ORDER BY a"]))?.slice(-1) ?? [];
    expect(rows).toEqual({ rows: hosts.map(({ name }, at) => [String(at), name]) });
  },
);
