import type { MacroId, SchemaId, ViewId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import { type MacroImplementation, createMacro, dropMacro } from "./macros.js";
import { alterView, createView, dropView } from "./views.js";

const main = 0n as SchemaId;

describe("views", () => {
  it("are replaced in place, and stay in the past", () => {
    const session = new Session();
    const view = session.commit((draft) =>
      createView(draft, { schema: main, name: "v", dialect: "duckdb", sql: "SELECT 1" }),
    );
    session.commit((draft) => alterView(draft, { view, dialect: "spark", sql: "SELECT 2" }));
    expect(session.snapshot.viewByName(main, "v")).toEqual({
      id: view,
      uuid: "uuid 1",
      schemaId: main,
      name: "v",
      dialect: "spark",
      sql: "SELECT 2",
      columnAliases: undefined,
    });
    expect(session.state.head).toMatchObject({ changesMade: `altered_view:${view}`, schemaChangedTableIds: [view] });
    session.commit((draft) => dropView(draft, { view }));
    expect(session.snapshot.viewById(view)).toBeUndefined();
    expect(session.at(1n).viewById(view)?.sql).toBe("SELECT 1");
    expect(
      session
        .at(2n)
        .viewsIn(main)
        .map((info) => info.sql),
    ).toEqual(["SELECT 2"]);
  });

  it("must be there to be altered or dropped", () => {
    const draft = new Session().draft();
    const view = 9n as ViewId;
    expect(codeOf(() => alterView(draft, { view, dialect: "duckdb", sql: "SELECT 1" }))).toBe("not_found");
    expect(codeOf(() => dropView(draft, { view }))).toBe("not_found");
    expect(
      codeOf(() => createView(draft, { schema: 9n as SchemaId, name: "v", dialect: "duckdb", sql: "SELECT 1" })),
    ).toBe("not_found");
  });
});

describe("macros", () => {
  const scalar: MacroImplementation = {
    dialect: "duckdb",
    sql: "x + 1",
    macroType: "scalar",
    parameters: [{ parameterName: "x" }],
  };
  const table: MacroImplementation = { dialect: "duckdb", sql: "SELECT 1", macroType: "table" };

  it("keep overloads and defaults in order, and stay in the past", () => {
    const session = new Session();
    const overload: MacroImplementation = {
      ...scalar,
      parameters: [
        { parameterName: "x", parameterType: "BIGINT" },
        { parameterName: "y", defaultValue: "2", defaultValueType: "INTEGER" },
      ],
    };
    const macro = session.commit((draft) =>
      createMacro(draft, { schema: main, name: "plus", implementations: [scalar, overload] }),
    );
    expect(session.snapshot.macroByName(main, "plus")?.implementations[1]?.parameters).toEqual([
      { parameterName: "x", parameterType: "BIGINT", defaultValue: undefined, defaultValueType: "unknown" },
      { parameterName: "y", parameterType: "unknown", defaultValue: "2", defaultValueType: "INTEGER" },
    ]);
    session.commit((draft) => dropMacro(draft, { macro }));
    expect(session.snapshot.macroById(macro)).toBeUndefined();
    expect(
      session
        .at(1n)
        .macrosIn(main)
        .map((info) => info.id),
    ).toEqual([macro]);
    expect(session.state.head.changesMade).toBe(`dropped_scalar_macro:${macro}`);
  });

  it("have names of their own among those of their type", () => {
    const session = new Session();
    session.commit((draft) => createMacro(draft, { schema: main, name: "m", implementations: [scalar] }));
    const draft = session.draft();
    expect(codeOf(() => createMacro(draft, { schema: main, name: "m", implementations: [scalar] }))).toBe(
      "already_exists",
    );
    expect(codeOf(() => createMacro(draft, { schema: main, name: "M", implementations: [scalar] }))).toBe(
      "already_exists",
    );
    const other = createMacro(draft, { schema: main, name: "m", implementations: [table] });
    expect(draft.macroByName(main, "m", "table")?.macroId).toBe(other);
    expect(draft.changes.toText()).toBe('created_table_macro:"main"."m"');
    createView(draft, { schema: main, name: "m", dialect: "duckdb", sql: "SELECT 1" });
  });

  it("need implementations of one type", () => {
    const draft = new Session().draft();
    expect(codeOf(() => createMacro(draft, { schema: main, name: "m", implementations: [] }))).toBe("invalid_argument");
    expect(codeOf(() => createMacro(draft, { schema: main, name: "m", implementations: [scalar, table] }))).toBe(
      "invalid_argument",
    );
    expect(codeOf(() => createMacro(draft, { schema: main, name: "", implementations: [table] }))).toBe(
      "invalid_argument",
    );
    expect(codeOf(() => createMacro(draft, { schema: 9n as SchemaId, name: "m", implementations: [table] }))).toBe(
      "not_found",
    );
    expect(codeOf(() => dropMacro(draft, { macro: 9n as MacroId }))).toBe("not_found");
    expect(draft.isEmpty).toBe(true);
  });
});
