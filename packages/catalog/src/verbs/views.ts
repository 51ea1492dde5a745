import type { SchemaId, ViewId } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { checkId, checkKnown, checkPathName, checkText, type Names } from "./arguments.js";
import { requireFreeRelationName, requireSchema, requireView } from "./require.js";

export interface CreateViewArguments {
  readonly schema: SchemaId;
  /** Free among the schema's tables and views. */
  readonly name: string;
  /** The SQL dialect of `sql`, for instance `duckdb`. */
  readonly dialect: string;
  readonly sql: string;
}

const createViewNames: Names<CreateViewArguments> = { schema: true, name: true, dialect: true, sql: true };

export interface AlterViewArguments {
  readonly view: ViewId;
  readonly dialect: string;
  readonly sql: string;
}

const alterViewNames: Names<AlterViewArguments> = { view: true, dialect: true, sql: true };

export interface DropViewArguments {
  readonly view: ViewId;
}

const dropViewNames: Names<DropViewArguments> = { view: true };

/** Creates a view. `already_exists` when a table or view of the schema has the name. The SQL is stored, not checked. */
export function createView(draft: Draft, args: CreateViewArguments): ViewId {
  checkKnown(args, createViewNames, "arguments");
  const schema = requireSchema(draft, checkId(args.schema, "schema"));
  const name = checkPathName(args.name, "name");
  const dialect = checkText(args.dialect, "dialect");
  const sql = checkText(args.sql, "sql");
  requireFreeRelationName(draft, schema.schemaId, name);
  const viewId = draft.allocateCatalogId();
  draft.put("view", [viewId], {
    viewId,
    viewUuid: draft.newUuid(),
    beginSnapshot: draft.snapshotId,
    endSnapshot: undefined,
    schemaId: schema.schemaId,
    viewName: name,
    dialect,
    sql,
    columnAliases: undefined,
  });
  draft.record({ op: "create_view", viewId, schemaId: schema.schemaId, schemaName: schema.schemaName, name });
  return viewId as ViewId;
}

/** Replaces a view's definition; its name, id and tags stay. */
export function alterView(draft: Draft, args: AlterViewArguments): void {
  checkKnown(args, alterViewNames, "arguments");
  const view = requireView(draft, checkId(args.view, "view"));
  const dialect = checkText(args.dialect, "dialect");
  const sql = checkText(args.sql, "sql");
  draft.put("view", [view.viewId], { ...view, beginSnapshot: draft.snapshotId, dialect, sql });
  draft.record({ op: "alter_view", viewId: view.viewId });
}

export function dropView(draft: Draft, args: DropViewArguments): void {
  const { viewId } = requireView(draft, checkId(checkKnown(args, dropViewNames, "arguments").view, "view"));
  draft.remove("view", [viewId]);
  draft.record({ op: "drop_view", viewId });
}
