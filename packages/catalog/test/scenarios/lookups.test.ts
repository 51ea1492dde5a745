import type { TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import type { PlainRow } from "../../src/index.js";
import { Random } from "../../src/testing/random.js";
import { failureOf } from "../support/errors.js";
import { temporaryFolder } from "../support/folders.js";
import { storedEntries } from "../support/index-oracle.js";
import { Lake } from "../support/lake.js";

const operations = (process.env["MORAINE_FAULTS"] ?? "") === "" ? 400 : 5_000;

describe("lookups", () => {
  it("S62 composite keys of mixed types are found by their complete key, and where one text ends and the next begins matters", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { s: "VARCHAR", n: "INTEGER", d: "DOUBLE", r: "VARCHAR", b: "BOOLEAN" });
    const texts = await lake.index(table, ["s", "r"], { unique: true });
    const mixed = await lake.index(table, ["n", "s", "d", "b"], {
      orders: [
        { direction: "desc" },
        { direction: "asc" },
        { direction: "desc", nulls: "first" },
        { direction: "asc" },
      ],
    });
    const rows: PlainRow[] = [
      { s: "ab", r: "c", n: 1, d: 0.5, b: true },
      { s: "a", r: "bc", n: 1, d: -0.5, b: false },
      { s: "", r: "abc", n: -1, d: 1e300, b: true },
      { s: "abc", r: "", n: 2_147_483_647, d: -1e-300, b: false },
      { s: "a\0", r: "b", n: -2_147_483_648, d: 0, b: true },
      { s: "a", r: "\0b", n: 0, d: 0, b: true },
    ];
    await lake.insert(table, ...rows.slice(0, 3));
    await lake.register(table, rows.slice(3));
    for (const [rowId, row] of rows.entries()) {
      expect(await lake.lookup(texts, row["s"], row["r"])).toEqual([BigInt(rowId)]);
      expect(await lake.lookup(mixed, row["n"], row["s"], row["d"], row["b"])).toEqual([BigInt(rowId)]);
      expect(await lake.lookup(mixed, row["n"], row["s"], row["d"], row["b"] !== true)).toEqual([]);
    }
    expect(await lake.lookup(texts, "abc", "c")).toEqual([]);
    expect((await failureOf(lake.lookup(texts, "ab"))).code).toBe("invalid_argument");
    await lake.expectVerified(table);
  });

  it(
    "S63 hundreds of random changes never leave a lookup short, nor does opening the store again",
    { timeout: 180_000 },
    async () => {
      const folder = temporaryFolder();
      const random = new Random(63);
      let lake = await Lake.open({ location: `${folder}/store`, dataPath: `${folder}/data` });
      const table = await lake.table("t", { k: "BIGINT", label: "VARCHAR" });
      const unique = await lake.index(table, ["k"], { unique: true });
      const byLabel = await lake.index(table, ["label"], { orders: [{ direction: "desc", nulls: "first" }] });
      /** What the rows are, kept beside: key to label, and which keys are inline under which row id. */
      const model = new Map<bigint, string | null>();
      const inline = new Map<bigint, bigint>();
      let next = 0n;
      for (let operation = 1; operation <= operations; operation++) {
        await change(lake, random);
        if (operation % 100 !== 0) continue;
        if (operation % 300 === 0) {
          await lake.catalog.close();
          lake = await Lake.open({ location: `${folder}/store`, dataPath: `${folder}/data` });
        }
        await lake.expectVerified(table);
        const keys = [...model.keys()];
        expect((await lake.catalog.indexLookupMany({ index: unique, keys: keys.map((key) => [key]) })).length).toBe(
          keys.length,
        );
        for (const label of ["a", "b", "c"]) {
          const expected = [...model.values()].filter((value) => value === label).length;
          expect((await lake.lookup(byLabel, label)).length).toBe(expected);
        }
        const nulls = [...model.values()].filter((value) => value === null).length;
        expect((await lake.catalog.indexNulls({ index: byLabel, prefix: [null] })).length).toBe(nulls);
      }

      /** Rows that are inserted, deleted and updated inline, files that come with rows of their own, flushes, refusals. */
      async function change(to: Lake, from: Random): Promise<void> {
        const label = from.pick(["a", "b", "c", null]);
        const kind = from.below(20);
        if (kind < 9) {
          const k = next++;
          inline.set(await to.insert(table, { k, label }), k);
          model.set(k, label);
        } else if (kind < 15) {
          if (inline.size === 0) return;
          const [rowId, k] = from.pick([...inline]);
          const updates = from.chance(0.6);
          const again = await to.commit((tx) => {
            tx.inlineDelete({ table, rowId });
            return updates ? tx.inlineInsert({ table, rows: [{ k, label }] }) : undefined;
          });
          inline.delete(rowId);
          model.delete(k);
          if (again === undefined) return;
          inline.set(again, k);
          model.set(k, label);
        } else if (kind < 17) {
          const rows = [
            { k: next++, label },
            { k: next++, label: "b" },
          ];
          await to.register(table, rows);
          for (const row of rows) model.set(row.k, row.label);
        } else if (kind === 17) {
          if (!from.chance(0.3)) return;
          await to.catalog.flushInlined({ table });
          inline.clear();
        } else if (model.size > 0) {
          const taken = from.pick([...model.keys()]);
          expect((await failureOf(to.insert(table, { k: next, label }, { k: taken, label }))).code).toBe("constraint");
        }
      }
    },
  );

  it.each([1, 10, 1_000, 100_000])(
    "S64 a refused commit of %i negative and positive keys leaves the entries as they were",
    async (count) => {
      const lake = await Lake.open();
      const table = await lake.table("t", { k: "BIGINT" });
      const unique = await lake.index(table, ["k"], { unique: true });
      await lake.insert(table, ...[-3n, -2n, -1n, 0n, 1n, 2n, 3n].map((k) => ({ k })));
      const before = {
        entries: await storedEntries(lake.store.inner, unique),
        writes: lake.store.writes,
        head: await lake.head(),
      };
      const rows = Array.from({ length: count }, (_, i) => ({
        k: BigInt(i - Math.floor(count / 2)) * 1_000_003n + 500n,
      }));
      const attempts: (() => Promise<unknown>)[] = [
        () => lake.insert(table, ...rows.slice(0, 99_999), { k: -1n }),
        () =>
          lake.commit((tx) => {
            tx.inlineInsert({ table, rows });
            throw new TypeError("the caller changed its mind");
          }),
      ];
      expect((await failureOf(attempts[0]!)).code).toBe("constraint");
      await expect(attempts[1]!()).rejects.toThrow("the caller changed its mind");
      expect({
        entries: await storedEntries(lake.store.inner, unique),
        writes: lake.store.writes,
        head: await lake.head(),
      }).toEqual(before);
      expect(await ranges(lake, table)).toEqual([0n, 1n, 2n, 3n, 4n, 5n, 6n]);
      await lake.insert(table, { k: rows[0]!.k });
      await lake.expectVerified(table);
    },
  );
});

async function ranges(lake: Lake, table: TableId): Promise<bigint[]> {
  const [index] = (await lake.catalog.snapshot()).indexesOf(table);
  return await lake.catalog.indexRange({ index: index!.id });
}
