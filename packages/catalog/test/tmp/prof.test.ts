import { it } from "vitest";
import { Lake } from "../support/lake.js";
import { liveRows } from "../support/live-rows.js";
it("prof", async () => {
  const count = 5000;
  const lake = await Lake.open();
  const t = async <T>(name: string, f: () => Promise<T>): Promise<T> => { const a = performance.now(); const r = await f(); console.log(name, (performance.now() - a).toFixed(0)); return r; };
  const table = await lake.table("lines", { linenumber: "INTEGER", orderkey: "BIGINT", part: "INTEGER" });
  await lake.index(table, ["linenumber", "orderkey"], { unique: true });
  await lake.index(table, ["part"]);
  const rows = Array.from({ length: count }, (_, i) => ({ linenumber: (i % 7) + 1, orderkey: BigInt(Math.floor(i / 7)), part: i % 100 }));
  const f1 = await t("writeFile", () => lake.writeFile(table, rows));
  const old = await t("register", () => lake.commit((tx) => tx.registerDataFile({ table, file: f1, entries: "scoped-read" })));
  const file = await lake.writeFile(table, rows);
  await t("replace", () => lake.commit((tx) => {
        tx.expireDataFile({ table, file: old.dataFileId, removals: "scoped-read" });
        return tx.registerDataFile({ table, file, entries: "scoped-read" });
  }));
  using scope = await lake.catalog.reads();
  await t("liveRows", () => liveRows(scope, lake.data, table));
  await t("verify", () => lake.expectVerified(table));
});
