// Prints the index entries of a small lake with awkward values of every kind, and the locale that it runs under.
import { indexPrefix, prefixEnd, type SchemaId } from "@moraine/codec";
import { openStore, rowKey, rowValue } from "@moraine/store";
import { Catalog } from "../../src/index.js";

const columns = {
  s: "VARCHAR",
  d: "DOUBLE",
  m: "DECIMAL(12,3)",
  t: "TIMESTAMP",
  z: "TIMESTAMPTZ",
  day: "DATE",
  u: "UUID",
};
const texts = ["I", "i", "\u0130", "\u0131", "\u00df", "ss", "SS", "\u00e4", "a\u0308", "z", "\u00d6", "\uff21", ""];
const rows = texts.map((s, i) => ({
  s,
  d: i * 1234.5 - 6000,
  m: `${i}.250`,
  t: `2026-03-${String(i + 1).padStart(2, "0")} 01:30:00.5`,
  z: `2026-10-25 0${i % 4}:30:00+02`,
  day: `2026-0${(i % 9) + 1}-28`,
  u: `0191d6a5-1c0f-7b58-8a2e-3f5b6c7d8e${String(i + 10)}`,
}));

const store = await openStore("memory://key-bytes");
const catalog = await Catalog.open({ store });
const { value: table } = await catalog.commit((tx) =>
  tx.createTable({
    schema: 0n as SchemaId,
    name: "t",
    columns: Object.entries(columns).map(([name, columnType]) => ({ name, columnType })),
  }),
);
await catalog.commit((tx) => tx.inlineInsert({ table, rows }));
await catalog.commit((tx) => {
  for (const name of Object.keys(columns))
    tx.createIndex({ table, name: `by_${name}`, columns: [name], unique: name === "s" });
  tx.createIndex({
    table,
    name: "all_of_them",
    columns: Object.keys(columns),
    orders: Object.keys(columns).map((_, i) => ({ direction: i % 2 === 0 ? "desc" : "asc" })),
  });
});
const entries: string[] = [];
for (const shape of ["unique", "multi"] as const) {
  const prefix = indexPrefix(shape);
  for await (const block of store.scan({ start: prefix, end: prefixEnd(prefix) })) {
    for (let i = 0; i < block.count; i++) {
      entries.push(
        `${Buffer.from(rowKey(block, i)).toString("hex")}=${Buffer.from(rowValue(block, i)).toString("hex")}`,
      );
    }
  }
}
await catalog.close();
process.stdout.write(JSON.stringify({ locale: new Intl.DateTimeFormat().resolvedOptions().locale, entries }));
