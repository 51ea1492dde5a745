import type { SchemaId, TableId, ViewId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import { createIndexDefinition } from "./index-definitions.js";
import { createMacro } from "./macros.js";
import { setOption } from "./options.js";
import { createSchema, dropSchema } from "./schemas.js";
import { createTable, dropTable, renameTable, setTableSchema } from "./tables.js";
import { createView, dropView } from "./views.js";

const main = 0n as SchemaId;
const absent = 99n;
const columns = [{ name: "a", columnType: "BIGINT" }];

describe("schemas", () => {
  it("get ids from 1 and a folder of their name", () => {
    const session = new Session();
    expect(session.snapshot.currentSnapshot).toEqual({ id: 0n, timeMicros: 1_000_000n, schemaVersion: 0n });
    const sales = session.commit((draft) => createSchema(draft, { name: "sales" }));
    expect(sales).toBe(1n);
    expect(session.snapshot.schemaById(sales)).toEqual({
      id: 1n,
      uuid: "uuid 1",
      name: "sales",
      path: "sales/",
      pathIsRelative: true,
    });
    expect(session.snapshot.schemas().map((schema) => schema.name)).toEqual(["main", "sales"]);
  });

  it("refuse a taken name, and an unknown id", () => {
    const draft = new Session().draft();
    expect(codeOf(() => createSchema(draft, { name: "main" }))).toBe("already_exists");
    expect(codeOf(() => createSchema(draft, { name: "Main" }))).toBe("already_exists");
    expect(codeOf(() => dropSchema(draft, { schema: absent as SchemaId }))).toBe("not_found");
  });

  it("keep main, and themselves while anything is in them", () => {
    const session = new Session();
    expect(codeOf(() => dropSchema(session.draft(), { schema: main }))).toBe("constraint");
    const schema = session.commit((draft) => createSchema(draft, { name: "s" }));
    const fillings = [
      (draft: ReturnType<Session["draft"]>) => createTable(draft, { schema, name: "t", columns }),
      (draft: ReturnType<Session["draft"]>) =>
        createView(draft, { schema, name: "v", dialect: "duckdb", sql: "SELECT 1" }),
      (draft: ReturnType<Session["draft"]>) =>
        createMacro(draft, {
          schema,
          name: "m",
          implementations: [{ dialect: "duckdb", sql: "1", macroType: "table" }],
        }),
    ];
    for (const fill of fillings) {
      const draft = session.draft();
      fill(draft);
      expect(codeOf(() => dropSchema(draft, { schema }))).toBe("constraint");
    }
    session.commit((draft) => dropSchema(draft, { schema }));
    expect(session.snapshot.schemaById(schema)).toBeUndefined();
    expect(session.at(1n).schemaById(schema)?.name).toBe("s");
  });

  it("take their options along", () => {
    const session = new Session();
    const schema = session.commit((draft) => createSchema(draft, { name: "s" }));
    session.commit((draft) => setOption(draft, { scope: { schema }, key: "k", value: "v" }));
    session.commit((draft) => dropSchema(draft, { schema }));
    expect(session.state.get("option", 1n, schema)).toBeUndefined();
  });
});

describe("names", () => {
  it.each(["a/b", "a\\b", ".", "..", "", "a\0b"])("of schemas, tables and views refuse %j", (name) => {
    const session = new Session();
    const table = session.commit((draft) => createTable(draft, { schema: main, name: "t", columns }));
    const draft = session.draft();
    expect(codeOf(() => createSchema(draft, { name }))).toBe("invalid_argument");
    expect(codeOf(() => createTable(draft, { schema: main, name, columns }))).toBe("invalid_argument");
    expect(codeOf(() => renameTable(draft, { table, name }))).toBe("invalid_argument");
    expect(codeOf(() => createView(draft, { schema: main, name, dialect: "duckdb", sql: "SELECT 1" }))).toBe(
      "invalid_argument",
    );
    expect(draft.isEmpty).toBe(true);
  });

  it("that have no UTF-8 form are refused", () => {
    expect(codeOf(() => createSchema(new Session().draft(), { name: "\ud800" }))).toBe("invalid_argument");
  });
});

describe("tables", () => {
  it("read their own writes and take consecutive ids within a commit", () => {
    const session = new Session();
    const draft = session.draft();
    const schema = createSchema(draft, { name: "s" });
    const table = createTable(draft, { schema, name: "t", columns });
    expect([schema, table]).toEqual([1n, 2n]);
    expect(draft.tableByName(schema, "t")?.tableId).toBe(table);
    expect(session.state.tableByName(schema, "t")).toBeUndefined();
    expect(draft.changes.toText()).toBe('created_schema:"s",created_table:"s"."t"');
  });

  it("share one namespace with views", () => {
    const session = new Session();
    session.commit((draft) => createTable(draft, { schema: main, name: "t", columns }));
    session.commit((draft) => createView(draft, { schema: main, name: "v", dialect: "duckdb", sql: "SELECT 1" }));
    const draft = session.draft();
    expect(codeOf(() => createTable(draft, { schema: main, name: "t", columns }))).toBe("already_exists");
    expect(codeOf(() => createTable(draft, { schema: main, name: "v", columns }))).toBe("already_exists");
    expect(codeOf(() => createView(draft, { schema: main, name: "t", dialect: "duckdb", sql: "SELECT 1" }))).toBe(
      "already_exists",
    );
    // DuckDB compares names without regard to case.
    expect(codeOf(() => createTable(draft, { schema: main, name: "T", columns }))).toBe("already_exists");
    expect(codeOf(() => createTable(draft, { schema: main, name: "V", columns }))).toBe("already_exists");
    expect(codeOf(() => createView(draft, { schema: main, name: "T", dialect: "duckdb", sql: "SELECT 1" }))).toBe(
      "already_exists",
    );
    expect(
      codeOf(() => renameTable(draft, { table: draft.tableByName(main, "t")!.tableId as TableId, name: "V" })),
    ).toBe("already_exists");
    // A table may change the case of its own name. It is found by exactly that.
    renameTable(draft, { table: draft.tableByName(main, "t")!.tableId as TableId, name: "T" });
    expect([draft.tableByName(main, "t"), draft.tableByName(main, "T")?.tableName]).toEqual([undefined, "T"]);
  });

  it("need a live schema and a column", () => {
    const draft = new Session().draft();
    expect(codeOf(() => createTable(draft, { schema: absent as SchemaId, name: "t", columns }))).toBe("not_found");
    expect(codeOf(() => createTable(draft, { schema: main, name: "t", columns: [] }))).toBe("invalid_argument");
  });

  it("are renamed and moved against what the target holds, and never to themselves", () => {
    const session = new Session();
    const [schema, t, u] = session.commit((draft) => {
      const target = createSchema(draft, { name: "s" });
      createView(draft, { schema: target, name: "t", dialect: "duckdb", sql: "SELECT 1" });
      return [
        target,
        createTable(draft, { schema: main, name: "t", columns }),
        createTable(draft, { schema: main, name: "u", columns }),
      ] as const;
    });
    const draft = session.draft();
    expect(codeOf(() => renameTable(draft, { table: t, name: "u" }))).toBe("already_exists");
    expect(codeOf(() => renameTable(draft, { table: t, name: "t" }))).toBe("already_exists");
    expect(codeOf(() => setTableSchema(draft, { table: t, schema }))).toBe("already_exists");
    expect(codeOf(() => setTableSchema(draft, { table: t, schema: main }))).toBe("already_exists");
    createView(draft, { schema, name: "U", dialect: "duckdb", sql: "SELECT 1" });
    expect(codeOf(() => setTableSchema(draft, { table: u, schema }))).toBe("already_exists");
    dropView(draft, { view: draft.viewByName(schema, "U")!.viewId as ViewId });
    expect(codeOf(() => setTableSchema(draft, { table: u, schema: absent as SchemaId }))).toBe("not_found");
    expect(codeOf(() => renameTable(draft, { table: absent as TableId, name: "x" }))).toBe("not_found");
    setTableSchema(draft, { table: u, schema });
    renameTable(draft, { table: u, name: "w" });
    session.land(draft);
    expect(session.snapshot.tableByName(schema, "w")).toMatchObject({ id: u, path: "u/" });
    expect(session.snapshot.tablesIn(main).map((table) => table.name)).toEqual(["t"]);
    expect(session.at(1n).tableByName(main, "u")?.id).toBe(u);
  });

  it("of another writer's that differ in case alone are each found by exactly their name", () => {
    const session = new Session();
    const t = session.commit((draft) => createTable(draft, { schema: main, name: "t", columns }));
    const u = session.commit((draft) => {
      const table = createTable(draft, { schema: main, name: "u", columns });
      draft.put("table", [table], { ...draft.get("table", table)!, tableName: "T" });
      return table;
    });
    expect(["t", "T", "u"].map((name) => session.snapshot.tableByName(main, name)?.id)).toEqual([t, u, undefined]);
    expect(session.snapshot.tablesIn(main).map(({ id }) => id)).toEqual([t, u]);
    session.commit((draft) => renameTable(draft, { table: u, name: "w" }));
    expect(["t", "T", "w"].map((name) => session.snapshot.tableByName(main, name)?.id)).toEqual([t, undefined, u]);
  });

  it("do not bring a second index of one name into a schema", () => {
    const session = new Session();
    const [schema, t] = session.commit((draft) => {
      const target = createSchema(draft, { name: "s" });
      const other = createTable(draft, { schema: target, name: "other", columns });
      createIndexDefinition(draft, { table: other, name: "by_a", columns: [1n as never] });
      const table = createTable(draft, { schema: main, name: "t", columns });
      createIndexDefinition(draft, { table, name: "BY_A", columns: [1n as never] });
      return [target, table] as const;
    });
    expect(codeOf(() => setTableSchema(session.draft(), { table: t, schema }))).toBe("already_exists");
  });

  it("are gone with everything that is theirs, and stay in the past", () => {
    const session = new Session();
    const table = session.commit((draft) => createTable(draft, { schema: main, name: "t", columns }));
    session.commit((draft) => createIndexDefinition(draft, { table, name: "i", columns: [1n as never] }));
    session.commit((draft) => setOption(draft, { scope: { table }, key: "k", value: "v" }));
    session.commit((draft) => dropTable(draft, { table }));
    for (const kind of ["table", "column", "index", "table_stats"] as const) expect(session.state.count(kind)).toBe(0);
    expect(session.state.get("option", 2n, table)).toBeUndefined();
    expect(session.snapshot.currentSnapshot.schemaVersion).toBe(3n);
    expect(session.at(2n).indexesOf(table)).toHaveLength(1);
    expect(session.at(2n).columnsOf(table)).toHaveLength(1);
    expect(codeOf(() => dropTable(session.draft(), { table }))).toBe("not_found");
  });

  it("made and dropped in one commit leave their number and their text, but no record", () => {
    const session = new Session();
    const draft = session.draft();
    const table = createTable(draft, { schema: main, name: "t", columns });
    dropTable(draft, { table });
    expect(draft.entityChanges()).toEqual([]);
    expect(draft.isEmpty).toBe(false);
    session.land(draft);
    expect(session.state.head.changesMade).toBe(`dropped_table:${table},created_table:"main"."t"`);
    expect(session.state.head.nextCatalogId).toBe(table + 1n);
  });
});
