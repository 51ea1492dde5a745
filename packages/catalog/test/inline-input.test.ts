import type { TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import type { InlineRows, PlainRow } from "../src/index.js";
import type { ColumnDefinition } from "../src/verbs/column-tree.js";
import { failureOf } from "./support/errors.js";
import { Lake, main } from "./support/lake.js";

/** What callers pass as rows, whatever it is, and how little of it the store may take on trust. */

const listOf = (name: string, element: Partial<ColumnDefinition> = {}): ColumnDefinition => ({
  name,
  columnType: "LIST",
  children: [{ name: "element", columnType: "BIGINT", ...element }],
});

async function openTable(...columns: readonly ColumnDefinition[]): Promise<{ lake: Lake; table: TableId }> {
  const lake = await Lake.open();
  const table = await lake.commit((tx) => tx.createTable({ schema: main, name: "t", columns }));
  return { lake, table };
}

async function insert({ lake, table }: { lake: Lake; table: TableId }, rows: InlineRows): Promise<void> {
  await lake.commit((tx) => tx.inlineInsert({ table, rows }));
}

async function valuesOf({ lake, table }: { lake: Lake; table: TableId }): Promise<unknown[]> {
  return (await lake.catalog.recentRows({ table })).map(({ values }) => values);
}

/** The values with a hole before the one at a position. */
function withHole(at: number, values: readonly unknown[]): unknown[] {
  const holed = new Array<unknown>(values.length + 1);
  for (const [i, value] of values.entries()) holed[i < at ? i : i + 1] = value;
  return holed;
}

describe("holes in arrays", () => {
  it("are NULL in lists, as undefined is, at every depth", async () => {
    const place = await openTable(listOf("l"), listOf("m", listOf("element")));
    await insert(place, [
      { l: withHole(0, [5]), m: withHole(1, [withHole(1, [1, 2]), [3]]) },
      { l: new Array(2), m: [] },
      { l: [7], m: null },
    ]);
    expect(await valuesOf(place)).toEqual([
      { l: [null, 5n], m: [[1n, null, 2n], null, [3n]] },
      { l: [null, null], m: [] },
      { l: [7n], m: null },
    ]);
    await place.lake.catalog.flushInlined({ table: place.table });
    await place.lake.expectVerified(place.table);
  });

  it.each([
    ["alone", new Array<PlainRow>(2), 0],
    ["before a row", withHole(0, [{ a: 1 }]), 0],
    ["between rows", withHole(1, [{ a: 1 }, { a: 2 }]), 1],
    ["in an array that says how long it is", new Proxy([{ a: 1 }], { get: longer }), 1],
  ])("are no rows: %s", async (_, rows, at) => {
    const place = await openTable({ name: "a", columnType: "INTEGER" });
    const failure = await failureOf(insert(place, rows as InlineRows));
    expect(failure.code).toBe("invalid_argument");
    expect(failure.message).toContain(`rows[${at}] is no object`);
    expect(await valuesOf(place)).toEqual([]);
  });
});

function longer(rows: object, property: string | symbol): unknown {
  return property === "length" ? 3 : (Reflect.get(rows, property) as unknown);
}

describe("NULL in nested fields that forbid it", () => {
  const struct: ColumnDefinition = {
    name: "s",
    columnType: "STRUCT",
    children: [{ name: "x", columnType: "INTEGER", nullsAllowed: false }, listOf("y", { nullsAllowed: false })],
  };
  const map: ColumnDefinition = {
    name: "m",
    columnType: "MAP",
    children: [
      { name: "key", columnType: "VARCHAR" },
      { name: "value", columnType: "INTEGER", nullsAllowed: false },
    ],
  };

  it.each([
    ["s.x", { s: { x: null } }],
    ["s.x", { s: { y: [1] } }],
    ["s.y.element", { s: { x: 1, y: [1, null] } }],
    ["s.y.element", { s: { x: 1, y: new Array(1) } }],
    ["m.value", { m: new Map([["a", undefined]]) }],
  ])("is refused with its place: %s of %o", async (path, row) => {
    const place = await openTable(struct, map);
    const failure = await failureOf(insert(place, [{}, row]));
    expect(failure.code).toBe("constraint");
    expect(failure.message).toContain(`rows[1] has NULL in column "${path}"`);
  });

  it("is none where the column itself is NULL", async () => {
    const place = await openTable(struct, map);
    await insert(place, [
      { s: null, m: null },
      { s: { x: 1, y: null }, m: new Map([["a", 1]]) },
    ]);
    expect(await valuesOf(place)).toEqual([
      { s: null, m: null },
      { s: { x: 1, y: null }, m: new Map([["a", 1]]) },
    ]);
  });
});
