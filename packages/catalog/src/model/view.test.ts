import {
  type ColumnId,
  type EntityKey,
  type EntityValue,
  type IndexId,
  type SchemaId,
  type TableId,
  DataFileValue,
  IndexDefinitionValue,
  MacroValue,
  SchemaValue,
  SnapshotValue,
  TableColumnStatsValue,
  TableStatsValue,
  TableValue,
  ViewValue,
} from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/errors.js";
import { Session } from "../testing/session.js";
import { createSchema } from "../verbs/schemas.js";
import { stateAt } from "./state-at.js";
import { CatalogState, type LoadedEntity } from "./state.js";
import { CatalogSnapshot } from "./view.js";

const main = 0n as SchemaId;
const t = 1n as TableId;

function entity<K extends EntityKey["kind"] & keyof EntityValue>(
  kind: K,
  ids: bigint[],
  value: EntityValue[K],
): LoadedEntity {
  return { key: { kind, ids }, value };
}

const span = (beginSnapshot: bigint, endSnapshot?: bigint) => ({ beginSnapshot, endSnapshot });
const schema = entity("schema", [0n], { ...SchemaValue.defaults, schemaName: "main" });
const table = entity("table", [1n], { ...TableValue.defaults, tableId: 1n, tableName: "t", ...span(1n) });
const file = (id: bigint, begin: bigint, end?: bigint) =>
  entity("data_file", [1n, id], { ...DataFileValue.defaults, tableId: 1n, dataFileId: id, ...span(begin, end) });
const index = (value: Partial<IndexDefinitionValue>) =>
  entity("index", [1n, 7n], {
    ...IndexDefinitionValue.defaults,
    tableId: 1n,
    indexId: 7n,
    indexName: "i",
    columnIds: [1n],
    ...value,
  });

const at = (snapshotId: bigint, ...entities: LoadedEntity[]): CatalogSnapshot =>
  new CatalogSnapshot(stateAt(entities, [], { ...SnapshotValue.defaults, snapshotId }, snapshotId));

const head = (...entities: LoadedEntity[]): CatalogSnapshot =>
  new CatalogSnapshot(CatalogState.load(entities, [], { ...SnapshotValue.defaults, snapshotId: 9n }, 9n));

describe("a past snapshot", () => {
  it("shows a version from its begin until before its end", () => {
    const entities = [schema, table, file(5n, 2n, 4n), file(6n, 3n)];
    const ids = (snapshotId: bigint): bigint[] =>
      at(snapshotId, ...entities)
        .dataFilesOf(t)
        .map((info) => info.id);
    expect([1n, 2n, 3n, 4n, 5n].map(ids)).toEqual([[], [5n], [5n, 6n], [6n], [6n]]);
    expect(at(0n, ...entities).tableById(t)).toBeUndefined();
  });

  it("shows views, macros and indexes of their time", () => {
    const view = (sql: string, begin: bigint, end?: bigint) =>
      entity("view", [2n], { ...ViewValue.defaults, viewId: 2n, viewName: "v", sql, ...span(begin, end) });
    const macro = entity("macro", [3n], { ...MacroValue.defaults, macroId: 3n, macroName: "m", ...span(1n, 3n) });
    const entities = [schema, table, view("old", 1n, 2n), view("new", 2n), macro, index(span(2n, 5n))];
    expect([1n, 2n].map((id) => at(id, ...entities).viewByName(main, "v")?.sql)).toEqual(["old", "new"]);
    expect([2n, 3n].map((id) => at(id, ...entities).macroByName(main, "m") !== undefined)).toEqual([true, false]);
    expect([1n, 2n, 4n, 5n].map((id) => at(id, ...entities).indexesOf(t).length)).toEqual([0, 1, 1, 0]);
  });

  it("shows statistics and mappings of the present", () => {
    const entities = [
      schema,
      table,
      entity("table_stats", [1n], { ...TableStatsValue.defaults, tableId: 1n, recordCount: 7n, nextRowId: 9n }),
      entity("table_column_stats", [1n, 1n], {
        ...TableColumnStatsValue.defaults,
        tableId: 1n,
        columnId: 1n,
        maxValue: "9",
      }),
      entity("mapping", [1n, 4n], {
        mappingId: 4n,
        tableId: 1n,
        mapType: "map_by_name",
        nameMappings: [
          { columnId: 0n, sourceName: "A", targetFieldId: 1n, parentColumn: undefined, isPartition: false },
        ],
      }),
    ];
    const past = at(1n, ...entities);
    expect(past.tableStats(t)?.recordCount).toBe(7n);
    expect(past.columnStats(t, 1n as ColumnId)?.max).toBe("9");
    expect(past.mappingsOf(t)[0]?.nameMappings[0]).toEqual({
      sourceName: "A",
      targetFieldId: 1n,
      parent: undefined,
      isPartition: false,
    });
    expect(past.mappingsOf(2n as TableId)).toEqual([]);
  });

  it("tells apart the versions of a poisoned index, which overlap", () => {
    // The mark mints a version but leaves the begin as it was (format.md 7.5).
    const entities = [
      schema,
      table,
      index({ ...span(2n), buildState: "building", poisoned: true }),
      index({ ...span(2n, 4n), buildState: "building" }),
    ];
    for (const order of [entities, entities.toReversed()]) {
      expect([2n, 3n, 4n].map((id) => at(id, ...order).indexesOf(t)[0]?.state)).toEqual([
        "building",
        "building",
        "poisoned",
      ]);
    }
  });

  it("keeps instants before the epoch", () => {
    const record = { ...SnapshotValue.defaults, snapshotId: 3n, snapshotTimeMicros: -1_500_000n, schemaVersion: 2n };
    const view = new CatalogSnapshot(CatalogState.load([schema], [], record, 3n));
    expect(view.currentSnapshot).toEqual({ id: 3n, timeMicros: -1_500_000n, schemaVersion: 2n });
  });
});

describe("the state of an index", () => {
  it.each([
    [{}, "ready"],
    [{ buildState: "building" }, "building"],
    [{ buildState: "maintaining" }, "maintaining"],
    [{ buildState: "something newer" }, "building"],
    [{ poisoned: true }, "poisoned"],
    [{ poisoned: true, buildState: "building" }, "poisoned"],
    [{ poisoned: false, buildState: "building" }, "building"],
  ])("of %o is %s", (value, state) => {
    expect(head(schema, table, index(value)).indexById(t, 7n as IndexId)?.state).toBe(state);
  });
});

describe("lookups", () => {
  it("refuse an index name that several answer to, and find each by its table", () => {
    const other = entity("table", [2n], { ...TableValue.defaults, tableId: 2n, tableName: "u" });
    const twin = entity("index", [2n, 8n], {
      ...IndexDefinitionValue.defaults,
      tableId: 2n,
      indexId: 8n,
      indexName: "I",
      columnIds: [1n],
    });
    const view = head(schema, table, other, index({}), twin);
    expect(codeOf(() => view.indexBySchemaName(main, "i"))).toBe("constraint");
    expect(view.indexByName(t, "i")?.id).toBe(7n);
    expect(view.indexByName(2n as TableId, "I")?.id).toBe(8n);
    expect(view.indexBySchemaName(5n as SchemaId, "i")).toBeUndefined();
  });

  it("do not see an index whose table is gone", () => {
    expect(head(schema, index({})).indexBySchemaName(main, "i")).toBeUndefined();
  });

  it("give the lower id of two tables of one name, as others may have written them", () => {
    const twin = entity("table", [3n], { ...TableValue.defaults, tableId: 3n, tableName: "t" });
    expect(head(schema, twin, table).tableByName(main, "t")?.id).toBe(1n);
  });

  it("are exact and see case", () => {
    const view = head(schema, table);
    expect(view.schemaByName("Main")).toBeUndefined();
    expect(view.tableByName(main, "T")).toBeUndefined();
    expect(view.tableByName(main, "t")?.id).toBe(1n);
  });

  it("of a draft see what it would leave, from the snapshot that it began at", () => {
    const session = new Session();
    const draft = session.draft();
    const view = new CatalogSnapshot(draft);
    expect(view.schemaByName("s")).toBeUndefined();
    createSchema(draft, { name: "s" });
    expect(view.schemaByName("s")?.id).toBe(1n);
    expect(view.currentSnapshot.id).toBe(0n);
    expect(view.snapshotId).toBe(1n);
  });

  it("of an older snapshot object are unmoved by later commits", () => {
    const session = new Session();
    const held = session.snapshot;
    session.commit((draft) => createSchema(draft, { name: "s" }));
    expect(held.schemas().map((info) => info.name)).toEqual(["main"]);
    expect(session.snapshot.schemas().map((info) => info.name)).toEqual(["main", "s"]);
  });
});

describe("arguments of reads", () => {
  const view = head(schema, table);
  const wrong = undefined as never;

  it.each([
    ["schemaByName", () => view.schemaByName(wrong)],
    ["schemaById", () => view.schemaById(wrong)],
    ["tablesIn", () => view.tablesIn(wrong)],
    ["tableByName", () => view.tableByName(main, wrong)],
    ["tableById", () => view.tableById("1" as never)],
    ["columnsOf", () => view.columnsOf(1 as never)],
    ["viewsIn", () => view.viewsIn(wrong)],
    ["viewByName", () => view.viewByName(wrong, "v")],
    ["viewById", () => view.viewById(wrong)],
    ["macrosIn", () => view.macrosIn(wrong)],
    ["macroByName", () => view.macroByName(main, "m", "other" as never)],
    ["macroById", () => view.macroById(wrong)],
    ["mappingsOf", () => view.mappingsOf(wrong)],
    ["partitioningOf", () => view.partitioningOf(wrong)],
    ["sortingOf", () => view.sortingOf(wrong)],
    ["indexesOf", () => view.indexesOf(wrong)],
    ["indexByName", () => view.indexByName(t, wrong)],
    ["indexById", () => view.indexById(t, wrong)],
    ["indexBySchemaName", () => view.indexBySchemaName(wrong, "i")],
    ["option", () => view.option({ table: wrong }, "k")],
    ["option", () => view.option("global", wrong)],
    ["tagsOf", () => view.tagsOf(wrong)],
    ["dataFilesOf", () => view.dataFilesOf(wrong)],
    ["deleteFilesOf", () => view.deleteFilesOf(wrong)],
    ["tableStats", () => view.tableStats(wrong)],
    ["columnStats", () => view.columnStats(t, wrong)],
  ])("%s refuses what is no id or name", (_name, read) => {
    expect(codeOf(read)).toBe("invalid_argument");
  });
});
