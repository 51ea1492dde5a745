import type { DdlChange, DdlKind, RowChanges, TableChanges } from "@moraine/catalog";
import { batch } from "./batch.js";
import { type Field, list, oneOf, record, text } from "./fields.js";

const ddlKinds: Readonly<Record<DdlKind, number>> = {
  create_table: 1,
  drop_table: 2,
  create_schema: 3,
  drop_schema: 4,
  other: 5,
};

const ddlChange: Field<DdlChange> = record({
  kind: oneOf(ddlKinds, "kind of DDL"),
  schema: text,
  name: text,
  columns: list(record({ name: text, type: text })),
  sql: text,
});

const tableChanges: Field<TableChanges> = record({
  schema: text,
  name: text,
  columns: list(text),
  deleted: list(batch),
  before: list(batch),
  after: list(batch),
  inserted: list(batch),
});

/** What one DuckDB transaction did to the metadata tables: PROTOCOL.md, "Commit". */
export const rowChanges: Field<RowChanges> = record({ ddl: list(ddlChange), tables: list(tableChanges) });
