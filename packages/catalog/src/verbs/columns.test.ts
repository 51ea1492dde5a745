import type { ColumnId, SchemaId, TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf, errorOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import type { ColumnDefinition } from "./column-tree.js";
import { addColumn, alterColumn, dropColumn, renameColumn } from "./columns.js";
import { createIndexDefinition } from "./index-definitions.js";
import { setPartitioning } from "./partitioning.js";
import { createTable } from "./tables.js";

const main = 0n as SchemaId;
const column = (id: number): ColumnId => BigInt(id) as ColumnId;
const bigint = (name: string): ColumnDefinition => ({ name, columnType: "BIGINT" });

const point: ColumnDefinition = {
  name: "p",
  columnType: "STRUCT",
  children: [bigint("x"), { name: "in", columnType: "STRUCT", children: [bigint("y")] }],
};

function tableOf(...columns: ColumnDefinition[]): { session: Session; table: TableId } {
  const session = new Session();
  return { session, table: session.commit((draft) => createTable(draft, { schema: main, name: "t", columns })) };
}

function layout(session: Session, table: TableId): (readonly [bigint, string, bigint, bigint | undefined])[] {
  return session.snapshot
    .columnsOf(table)
    .map((info) => [info.id, info.name, info.position, info.parentColumn] as const);
}

describe("field ids", () => {
  it("are given in pre-order over nested columns", () => {
    const { session, table } = tableOf(bigint("a"), point, bigint("b"));
    expect(layout(session, table)).toEqual([
      [1n, "a", 1n, undefined],
      [2n, "p", 2n, undefined],
      [3n, "x", 3n, 2n],
      [4n, "in", 4n, 2n],
      [5n, "y", 5n, 4n],
      [6n, "b", 6n, undefined],
    ]);
  });

  it("go on past the highest one ever given", () => {
    const { session, table } = tableOf(bigint("a"));
    expect(session.commit((draft) => addColumn(draft, { table, definition: point }))).toBe(2n);
    session.commit((draft) => dropColumn(draft, { table, column: column(2) }));
    expect(session.commit((draft) => addColumn(draft, { table, definition: bigint("b") }))).toBe(6n);
  });

  it("go on past live columns where the counter was never set", () => {
    const { session, table } = tableOf(bigint("a"), bigint("b"));
    const draft = session.draft();
    const value = draft.get("table", table);
    if (value === undefined) throw new Error("the table is gone");
    draft.put("table", [table], { ...value, nextColumnId: 0n });
    expect(addColumn(draft, { table, definition: bigint("c") })).toBe(3n);
    expect(draft.get("table", table)?.nextColumnId).toBe(4n);
  });

  it("are new while positions of dropped trailing columns come back", () => {
    const { session, table } = tableOf(bigint("a"), bigint("b"), bigint("c"));
    session.commit((draft) => dropColumn(draft, { table, column: column(2) }));
    session.commit((draft) => addColumn(draft, { table, definition: bigint("d") }));
    session.commit((draft) => {
      dropColumn(draft, { table, column: column(4) });
      addColumn(draft, { table, definition: bigint("e") });
    });
    expect(layout(session, table)).toEqual([
      [1n, "a", 1n, undefined],
      [3n, "c", 3n, undefined],
      [5n, "e", 4n, undefined],
    ]);
  });
});

describe("columns", () => {
  it("have names of their own among their siblings", () => {
    const { session, table } = tableOf(bigint("x"), point, { ...point, name: "q" });
    const draft = session.draft();
    expect(codeOf(() => addColumn(draft, { table, definition: bigint("x") }))).toBe("already_exists");
    expect(codeOf(() => renameColumn(draft, { table, column: column(1), name: "p" }))).toBe("already_exists");
    expect(codeOf(() => renameColumn(draft, { table, column: column(1), name: "x" }))).toBe("already_exists");
    expect(codeOf(() => renameColumn(draft, { table, column: column(3), name: "in" }))).toBe("already_exists");
    expect(codeOf(() => renameColumn(draft, { table, column: column(3), name: "p" }))).toBeUndefined();
    const twice = { name: "s", columnType: "STRUCT", children: [bigint("x"), bigint("x")] };
    expect(codeOf(() => addColumn(draft, { table, definition: twice }))).toBe("invalid_argument");
    expect(codeOf(() => createTable(draft, { schema: main, name: "u", columns: [bigint("a"), bigint("a")] }))).toBe(
      "invalid_argument",
    );
  });

  it("are not told apart by the case of ASCII letters, as DuckDB does not", () => {
    const { session, table } = tableOf(bigint("x"), point, bigint("\u00e9"));
    const draft = session.draft();
    expect(codeOf(() => addColumn(draft, { table, definition: bigint("X") }))).toBe("already_exists");
    expect(codeOf(() => renameColumn(draft, { table, column: column(1), name: "P" }))).toBe("already_exists");
    const fields = { name: "s", columnType: "STRUCT", children: [bigint("x"), bigint("X")] };
    expect(codeOf(() => addColumn(draft, { table, definition: fields }))).toBe("invalid_argument");
    const refused = errorOf(() => createTable(draft, { schema: main, name: "u", columns: [bigint("a"), bigint("A")] }));
    expect(refused).toMatchObject({ code: "invalid_argument" });
    expect(refused?.message).toContain("columns[1].name");
    expect(codeOf(() => addColumn(draft, { table, definition: bigint("\u00c9") }))).toBeUndefined();
    // A column may change the case of its own name.
    expect(codeOf(() => renameColumn(draft, { table, column: column(1), name: "X" }))).toBeUndefined();
    expect(draft.get("column", table, column(1))?.columnName).toBe("X");
  });

  it("that a list or a map consists of keep their names and stay, and so does the only field of a struct", () => {
    const { session, table } = tableOf(
      { name: "l", columnType: "list", children: [bigint("element")] },
      { name: "m", columnType: "map", children: [bigint("key"), bigint("value")] },
      { name: "s", columnType: "struct", children: [bigint("x")] },
    );
    for (const id of [2, 4, 5]) {
      const draft = session.draft();
      expect(
        codeOf(() => renameColumn(draft, { table, column: column(id), name: "other" })),
        `${id}`,
      ).toBe("constraint");
      expect(
        codeOf(() => dropColumn(draft, { table, column: column(id) })),
        `${id}`,
      ).toBe("constraint");
    }
    expect(codeOf(() => dropColumn(session.draft(), { table, column: column(7) }))).toBe("constraint");
    expect(codeOf(() => renameColumn(session.draft(), { table, column: column(7), name: "y" }))).toBeUndefined();
    expect(codeOf(() => dropColumn(session.draft(), { table, column: column(6) }))).toBeUndefined();
  });

  it("do not become nested, nor scalar", () => {
    const { session, table } = tableOf(bigint("x"), point);
    const alter = (id: number, columnType: string) =>
      codeOf(() => alterColumn(session.draft(), { table, column: column(id), columnType }));
    expect(alter(1, "struct")).toBe("invalid_argument");
    expect(alter(2, "BIGINT")).toBe("invalid_argument");
    expect(alter(2, "list")).toBe("invalid_argument");
    expect(alter(2, "struct")).toBeUndefined();
    expect(alter(1, "inteeger")).toBe("invalid_argument");
  });

  it("change type, nullability and default, one or all", () => {
    const { session, table } = tableOf({ name: "a", columnType: "INTEGER", defaultValue: "1" }, bigint("b"));
    session.commit((draft) => alterColumn(draft, { table, column: column(1), columnType: "BIGINT" }));
    session.commit((draft) => alterColumn(draft, { table, column: column(1), nullsAllowed: false, defaultValue: "2" }));
    expect(session.snapshot.columnsOf(table)[0]).toMatchObject({
      columnType: "BIGINT",
      nullsAllowed: false,
      defaultValue: "2",
    });
    session.commit((draft) => alterColumn(draft, { table, column: column(1), defaultValue: null }));
    expect(session.snapshot.columnsOf(table)[0]).toMatchObject({
      columnType: "BIGINT",
      nullsAllowed: false,
      defaultValue: undefined,
    });
    expect(session.at(1n).columnsOf(table)[0]).toMatchObject({
      columnType: "INTEGER",
      nullsAllowed: true,
      defaultValue: "1",
    });
    expect(session.at(2n).columnsOf(table)[0]?.columnType).toBe("BIGINT");
    expect(codeOf(() => alterColumn(session.draft(), { table, column: column(1) }))).toBe("invalid_argument");
    expect(codeOf(() => alterColumn(session.draft(), { table, column: column(9), columnType: "DATE" }))).toBe(
      "not_found",
    );
  });

  it("change to types that theirs widen to, and to no others", () => {
    const { session, table } = tableOf(
      { name: "t", columnType: "TIMESTAMP" },
      { name: "i", columnType: "INTEGER" },
      { name: "s", columnType: "STRUCT", children: [{ name: "f", columnType: "FLOAT" }] },
    );
    const alter = (id: number, columnType: string) =>
      codeOf(() => alterColumn(session.draft(), { table, column: column(id), columnType }));
    expect(alter(1, "TIMESTAMPTZ")).toBeUndefined();
    expect(alter(1, "datetime")).toBeUndefined();
    expect(alter(1, "TIMESTAMP_S")).toBe("invalid_argument");
    session.commit((draft) => alterColumn(draft, { table, column: column(1), columnType: "TIMESTAMPTZ" }));
    expect(alter(1, "TIMESTAMP")).toBe("invalid_argument");
    expect(alter(2, "VARCHAR")).toBe("invalid_argument");
    expect(alter(2, "SMALLINT")).toBe("invalid_argument");
    expect(alter(4, "DOUBLE")).toBeUndefined();
    expect(alter(4, "INTEGER")).toBe("invalid_argument");
    const error = errorOf(() => alterColumn(session.draft(), { table, column: column(2), columnType: "VARCHAR" }));
    expect(error?.message).toContain('from "INTEGER" to VARCHAR');
    expect(session.draft().isEmpty).toBe(true);
  });

  it("go with everything below them", () => {
    const { session, table } = tableOf(bigint("a"), point);
    session.commit((draft) => dropColumn(draft, { table, column: column(2) }));
    expect(layout(session, table).map(([id]) => id)).toEqual([1n]);
    expect(session.at(1n).columnsOf(table)).toHaveLength(5);
  });

  it("let one field go and keep the rest of the struct", () => {
    const { session, table } = tableOf(point);
    session.commit((draft) => dropColumn(draft, { table, column: column(2) }));
    expect(layout(session, table).map(([id]) => id)).toEqual([1n, 3n, 4n]);
  });

  it("keep the last top-level one", () => {
    const { session, table } = tableOf(point);
    expect(codeOf(() => dropColumn(session.draft(), { table, column: column(1) }))).toBe("constraint");
  });

  it.each(["VARIANT", "variant", " Variant ", "VARIANT[]", "variant(x)"])(
    "refuse the type %j on every verb",
    (columnType) => {
      const { session, table } = tableOf(bigint("a"));
      const draft = session.draft();
      const nested = { name: "s", columnType: "STRUCT", children: [{ name: "v", columnType }] };
      expect(codeOf(() => createTable(draft, { schema: main, name: "u", columns: [{ name: "v", columnType }] }))).toBe(
        "unsupported",
      );
      expect(codeOf(() => addColumn(draft, { table, definition: nested }))).toBe("unsupported");
      expect(codeOf(() => alterColumn(draft, { table, column: column(1), columnType }))).toBe("unsupported");
      expect(draft.isEmpty).toBe(true);
    },
  );

  it("write one record when one of many is renamed", () => {
    const { session, table } = tableOf(...Array.from({ length: 20 }, (_, at) => bigint(`c${at}`)));
    const draft = session.draft();
    renameColumn(draft, { table, column: column(7), name: "new" });
    expect(draft.entityChanges().map((change) => [change.kind, ...change.ids])).toEqual([["column", table, 7n]]);
  });

  it("refuse definitions that hold themselves", () => {
    const { session, table } = tableOf(bigint("a"));
    const children: ColumnDefinition[] = [];
    const definition: ColumnDefinition = { name: "loop", columnType: "STRUCT", children };
    children.push(definition);
    expect(codeOf(() => addColumn(session.draft(), { table, definition }))).toBe("invalid_argument");
  });
});

describe("columns under an index", () => {
  const indexed = (): { session: Session; table: TableId } => {
    const made = tableOf(bigint("a"), bigint("b"), point);
    made.session.commit((draft) =>
      createIndexDefinition(draft, { table: made.table, name: "i", columns: [column(2)], unique: true }),
    );
    return made;
  };

  it("keep their type and stay", () => {
    const { session, table } = indexed();
    const draft = session.draft();
    const drop = errorOf(() => dropColumn(draft, { table, column: column(2) }));
    expect(drop).toMatchObject({ code: "constraint", remedy: "Drop index 2 first." });
    expect(codeOf(() => alterColumn(draft, { table, column: column(2), columnType: "DOUBLE" }))).toBe("constraint");
    expect(draft.isEmpty).toBe(true);
  });

  it("may be renamed, and change everything but their type", () => {
    const { session, table } = indexed();
    session.commit((draft) => {
      renameColumn(draft, { table, column: column(2), name: "c" });
      alterColumn(draft, { table, column: column(2), columnType: "BIGINT", nullsAllowed: false, defaultValue: "3" });
      dropColumn(draft, { table, column: column(3) });
      alterColumn(draft, { table, column: column(1), columnType: "DOUBLE" });
    });
    expect(layout(session, table).map(([, name]) => name)).toEqual(["a", "c"]);
  });
});

it("a column that is a partition key stays, and may be renamed", () => {
  const { session, table } = tableOf(bigint("a"), bigint("b"));
  session.commit((draft) => setPartitioning(draft, { table, columns: [{ column: column(1), transform: "identity" }] }));
  expect(codeOf(() => dropColumn(session.draft(), { table, column: column(1) }))).toBe("constraint");
  expect(codeOf(() => renameColumn(session.draft(), { table, column: column(1), name: "c" }))).toBeUndefined();
});
