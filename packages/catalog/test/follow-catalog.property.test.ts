import { MoraineError, type TableId } from "@moraine/codec";
import { openStoreReader } from "@moraine/store";
import fc from "fast-check";
import { expect, it } from "vitest";
import { ReadOnlyCatalog, type Transaction } from "../src/index.js";
import { Follower, freshCopy } from "./support/follower.js";
import { Lake, main } from "./support/lake.js";
import { copyOf } from "./support/table-copy.js";

interface Call {
  readonly what: number;
  readonly a: number;
  readonly b: number;
}

type Action = (lake: Lake, table: TableId, call: Call) => Promise<unknown>;

let names = 0;

const inTransaction =
  (act: (tx: Transaction, table: TableId, call: Call) => unknown): Action =>
  async (lake, table, call) =>
    await lake.commit((tx) => act(tx, table, call));

const insert = inTransaction((tx, table, { a, b }) =>
  tx.inlineInsert({
    table,
    rows: Array.from({ length: (a % 3) + 1 }, (_, i) => ({ k: a + i, v: b % 3 === 0 ? null : `v${b}` })),
  }),
);

const actions: readonly Action[] = [
  insert,
  insert,
  insert,
  async (lake, table, { a, b }) => {
    const rows = await lake.scan(table);
    const ids = [rows[a % Math.max(rows.length, 1)], rows[b % Math.max(rows.length, 1)]].flatMap(
      (row) => row?.rowId ?? [],
    );
    await lake.delete(table, ...new Set(ids));
  },
  async (lake, table, { a }) =>
    await lake.register(table, [
      { k: 1000 + a, v: "f" },
      { k: 2000 + a, v: null },
    ]),
  async (lake, table, { a }) => {
    const file = (await lake.catalog.snapshot()).dataFilesOf(table)[a % 3];
    if (file !== undefined) await lake.deleteRows(table, file.id, [a % 2]);
  },
  async (lake, table) => await lake.catalog.flushInlined({ table }),
  inTransaction((tx, table, { b }) => {
    names += 1;
    tx.addColumn({ table, definition: { name: `c${names}`, columnType: b % 2 === 0 ? "JSON" : "DOUBLE" } });
  }),
  inTransaction((tx, table, { a }) => {
    names += 1;
    tx.createIndex({ table, name: `i${names}`, columns: [a % 2 === 0 ? "k" : "v"], unique: false });
  }),
  async (lake, table) => {
    const index = (await lake.catalog.snapshot()).indexesOf(table)[0];
    if (index !== undefined) await lake.commit((tx) => tx.dropIndex({ index: index.id }));
  },
  inTransaction((tx, table, { a, b }) =>
    tx.setOption({ scope: a % 2 === 0 ? "global" : { table }, key: `o${a % 3}`, value: `${b}` }),
  ),
  async (lake, table, { a }) =>
    await lake.catalog.commitGroup([
      (tx) => tx.setTag({ target: { table }, key: "comment", value: `${a}` }),
      (tx) => tx.inlineInsert({ table, rows: [{ k: a, v: "g" }] }),
      (tx) => tx.updateTableStats({ table, recordCount: a, fileSizeBytes: a }),
    ]),
  async (lake, table, { a, b }) =>
    await Promise.all([insert(lake, table, { what: 0, a, b }), insert(lake, table, { what: 0, a: b, b: a })]),
  async (lake) => await lake.catalog.maintain(),
  async (lake, table, { a }) => {
    if (a % 4 === 0) await lake.commit((tx) => tx.dropTable({ table }));
  },
  inTransaction((tx, table) => tx.renameTable({ table, name: `t${(names += 1)}` })),
  async (lake) => {
    const tables = (await lake.catalog.snapshot()).tablesIn(main);
    const [first] = tables;
    if (first !== undefined && tables.length > 1) await lake.commit((tx) => tx.dropTable({ table: first.id }));
  },
];

const call = fc.record({ what: fc.nat(9_999), a: fc.nat(60), b: fc.nat(60) });

it("copies of a lake's tables that follow its commits are what a load gives", async () => {
  let refused = 0;
  const done = new Set<number>();
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 5, maxLength: 40 }), fc.nat(20), async (calls, lateAt) => {
      const lake = await Lake.open();
      const first = await Follower.open(lake);
      let late: Follower | undefined;
      for (const [at, next] of calls.entries()) {
        const tables = (await lake.catalog.snapshot()).tablesIn(main);
        const table =
          tables[next.b % Math.max(tables.length, 1)]?.id ??
          (await lake.table(`n${at}`, { k: "BIGINT", v: "VARCHAR" }));
        if (tables.length < 2) await lake.table(`m${at}`, { v: "VARCHAR", k: "INTEGER" });
        const what = next.what % actions.length;
        try {
          await (actions[what] as Action)(lake, table, next);
          done.add(what);
        } catch (error) {
          if (!(error instanceof MoraineError)) throw error;
          refused += 1;
        }
        if (at === lateAt) late = await Follower.open(lake);
        if (next.a % 5 === 0) await first.catchUp(lake);
      }
      await first.catchUp(lake);
      const expected = (await freshCopy(lake)).contents();
      expect(first.copy.contents()).toEqual(expected);
      if (late !== undefined) {
        await late.catchUp(lake);
        expect(late.copy.contents()).toEqual(expected);
        late.stop();
      }
      first.stop();
      await lake.catalog.close();
      const reader = await ReadOnlyCatalog.open({ store: await openStoreReader(lake.location) });
      const read = await reader.loadRows();
      expect(read.revision).toBe(first.revision);
      expect((await copyOf(read.steps)).contents()).toEqual(expected);
      await reader.close();
    }),
    { numRuns: 25 },
  );
  expect(done.size).toBe(actions.length);
  expect(refused).toBeLessThan(200);
});
