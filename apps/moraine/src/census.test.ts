import { loopsInUse } from "@moraine/store";
import { Catalog, mainSchema } from "moraine";
import { expect, it } from "vitest";

it("a census says which loops are in use, as the store's package does", async () => {
  await using catalog = await Catalog.open({ store: "memory://census-loops" });
  expect((await catalog.census()).loops).toEqual(loopsInUse());
});

it("a census tells how far it is, up to all records", async () => {
  await using catalog = await Catalog.open({ store: "memory://census-progress" });
  await catalog.commit((tx) => {
    const table = tx.createTable({ schema: mainSchema, name: "t", columns: [{ name: "a", columnType: "BIGINT" }] });
    tx.createIndex({ table, name: "by_a", columns: ["a"], unique: true });
    tx.createIndex({ table, name: "by_a_too", columns: ["a"] });
    tx.inlineInsert({ table, rows: [{ a: 1 }, { a: 2 }] });
  });
  const progress: number[] = [];
  const { total } = await catalog.census({ onProgress: (records) => progress.push(records) });
  expect(progress).toEqual(progress.toSorted((left, right) => left - right));
  expect(progress.at(-1)).toBe(total.entries);
});
