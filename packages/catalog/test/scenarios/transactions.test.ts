import { describe, it, expect } from "vitest";
import { Lake } from "../support/lake.js";
describe("smoke", () => {
  it("works", async () => {
    const lake = await Lake.open();
    const t = await lake.table("t", { id: "VARCHAR", n: "BIGINT" });
    const u = await lake.index(t, ["id"], { unique: true });
    await lake.insert(t, { id: "Bob", n: 1n });
    const f = await lake.register(t, [{ id: "a", n: 1n }, { id: "b", n: 2n }, { id: null, n: 3n }]);
    expect(await lake.lookup(u, "Bob")).toEqual([0n]);
    await lake.deleteRows(t, f.dataFileId, [1]);
    await lake.expectVerified(t);
    expect(await lake.column(t, "id")).toEqual(["Bob", "a", null]);
  });
});
