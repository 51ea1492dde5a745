import type { ColumnId, IndexId, SchemaId, TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf, errorOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import { type CreateIndexDefinitionArguments, createIndexDefinition, dropIndex } from "./index-definitions.js";
import { createSchema } from "./schemas.js";
import { createTable } from "./tables.js";

const main = 0n as SchemaId;
const column = (id: number): ColumnId => BigInt(id) as ColumnId;

function start(): { session: Session; table: TableId } {
  const session = new Session();
  const columns = [
    { name: "a", columnType: "BIGINT" },
    { name: "b", columnType: "VARCHAR" },
    { name: "h", columnType: "HUGEINT" },
    { name: "s", columnType: "STRUCT", children: [{ name: "x", columnType: "BIGINT" }] },
  ];
  return { session, table: session.commit((draft) => createTable(draft, { schema: main, name: "t", columns })) };
}

describe("index definitions", () => {
  it("read back with their order and state", () => {
    const { session, table } = start();
    const id = session.commit((draft) =>
      createIndexDefinition(draft, {
        table,
        name: "By_AB",
        columns: [column(2), column(1)],
        unique: true,
        orders: [{ direction: "desc", nulls: "first" }, {}],
      }),
    );
    expect(session.snapshot.indexesOf(table)).toEqual([
      {
        id,
        tableId: table,
        name: "By_AB",
        columns: [2n, 1n],
        directions: ["desc", "asc"],
        nulls: ["first", "last"],
        unique: true,
        maintenance: "synchronous",
        state: "ready",
        certifiedAt: undefined,
      },
    ]);
    expect(session.state.head).toMatchObject({
      changesMade: `altered_table:${table}`,
      schemaVersion: 2n,
      schemaChangedTableIds: [table],
    });
    expect(session.snapshot.indexByName(table, "By_AB")?.id).toBe(id);
    expect(session.snapshot.indexByName(table, "by_ab")).toBeUndefined();
    expect(session.snapshot.indexBySchemaName(main, "by_ab")?.id).toBe(id);
    expect(session.snapshot.indexById(table, id)?.name).toBe("By_AB");
  });

  it("store orders only where they say something", () => {
    const { session, table } = start();
    const define = (more: Partial<CreateIndexDefinitionArguments>, name: string) =>
      session.commit((draft) => createIndexDefinition(draft, { table, name, columns: [column(1)], ...more }));
    const plain = define({ orders: [{ direction: "asc", nulls: "last" }] }, "i");
    const deferred = define({ maintenance: "deferred", state: "building" }, "j");
    expect(session.state.indexById(plain)).toMatchObject({
      columnDescending: [],
      columnNullsFirst: [],
      buildState: undefined,
      deferredMaintenance: undefined,
    });
    expect(session.state.indexById(deferred)).toMatchObject({ buildState: "building", deferredMaintenance: true });
    expect(session.snapshot.indexById(table, deferred)).toMatchObject({ maintenance: "deferred", state: "building" });
  });

  it("have names of their own in their schema, without regard to case", () => {
    const { session, table } = start();
    session.commit((draft) => createIndexDefinition(draft, { table, name: "Index", columns: [column(1)] }));
    const draft = session.draft();
    const other = createTable(draft, { schema: main, name: "u", columns: [{ name: "a", columnType: "BIGINT" }] });
    expect(codeOf(() => createIndexDefinition(draft, { table: other, name: "INDEX", columns: [column(1)] }))).toBe(
      "already_exists",
    );
    const schema = createSchema(draft, { name: "s" });
    const elsewhere = createTable(draft, { schema, name: "u", columns: [{ name: "a", columnType: "BIGINT" }] });
    expect(
      codeOf(() => createIndexDefinition(draft, { table: elsewhere, name: "INDEX", columns: [column(1)] })),
    ).toBeUndefined();
  });

  it("refuse what cannot be indexed, and say why", () => {
    const { session, table } = start();
    const draft = session.draft();
    const define = (columns: ColumnId[], more: Partial<CreateIndexDefinitionArguments> = {}) =>
      codeOf(() => createIndexDefinition(draft, { table, name: "i", columns, ...more }));
    expect(define([])).toBe("invalid_argument");
    expect(define([column(1), column(1)])).toBe("invalid_argument");
    expect(define([column(9)])).toBe("not_found");
    expect(define([column(3)])).toBe("constraint");
    expect(define([column(4)])).toBe("constraint");
    expect(define([column(5)])).toBe("constraint");
    expect(define([column(1)], { name: "" })).toBe("invalid_argument");
    expect(define([column(1), column(2)], { orders: [{}] })).toBe("invalid_argument");
    expect(define([column(1)], { unique: true, maintenance: "deferred" })).toBe("invalid_argument");
    expect(define([column(1)], { table: 99n as TableId })).toBe("not_found");
    expect(define([column(1)], { state: "poisoned" as "ready" })).toBe("invalid_argument");
    expect(define([column(1)], { unique: 1 as unknown as boolean })).toBe("invalid_argument");
    expect(draft.isEmpty).toBe(true);
    const message = errorOf(() =>
      createIndexDefinition(draft, { table, name: "i", columns: [column(1)], unique: 1 as unknown as boolean }),
    );
    expect(message?.message).not.toMatch(/unique/i);
  });

  it("end with a drop, and free their name", () => {
    const { session, table } = start();
    const first = session.commit((draft) => createIndexDefinition(draft, { table, name: "i", columns: [column(1)] }));
    session.commit((draft) => {
      dropIndex(draft, { index: first });
      createIndexDefinition(draft, { table, name: "I", columns: [column(2)] });
    });
    expect(session.snapshot.indexesOf(table).map((index) => index.name)).toEqual(["I"]);
    expect(
      session
        .at(2n)
        .indexesOf(table)
        .map((index) => index.id),
    ).toEqual([first]);
    expect(codeOf(() => dropIndex(session.draft(), { index: first }))).toBe("not_found");
    expect(codeOf(() => dropIndex(session.draft(), { index: 99n as IndexId }))).toBe("not_found");
  });
});
