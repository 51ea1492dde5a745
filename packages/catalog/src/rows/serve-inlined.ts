import {
  type ColumnValue,
  CorruptionError,
  type DuckDbType,
  InlineFileDeleteTableValue,
  inlineFileDeleteTablePrefix,
  InlineSchemaDroppedValue,
  inlineSchemaDroppedPrefix,
  inlineSchemaPrefix,
  InlineSchemaValue,
  parseDuckDbType,
  schemaVersionPrefix,
  SchemaVersionValue,
} from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";
import type { InlineSchema } from "../inline/arrow-schema.js";
import { columnTree } from "../inline/columns.js";
import type { InlineRegistry } from "../inline/registry.js";
import type { CatalogState } from "../model/state.js";
import type { TableColumn } from "./follow-step.js";
import { inlineColumnTypes } from "./inline-columns.js";
import type { InlinedTableRow } from "./serve-cells.js";
import { pastVersions, scanRecords } from "./serve-entities.js";
import { duckdbTypeName } from "./serve-types.js";

/** The tables of inlined rows that DuckLake is shown. */
export interface InlinedTables {
  /** Schema versions that take or hold rows, by table. */
  readonly data: readonly InlinedTableRow[];
  /** Tables that have a table of deleted rows of files. */
  readonly deletes: readonly bigint[];
}

/** Reads which tables of inlined rows there are: a recorded schema makes one, unless it was dropped. */
export async function readInlinedTables(view: ReadView): Promise<InlinedTables> {
  const dropped = new Set<string>();
  for await (const records of scanRecords(view, rangeOfPrefix(inlineSchemaDroppedPrefix()), InlineSchemaDroppedValue))
    for (const [key] of records)
      if ("schemaVersion" in key && key.kind === "schema_dropped") dropped.add(`${key.tableId}/${key.schemaVersion}`);
  const data: InlinedTableRow[] = [];
  for await (const records of scanRecords(view, rangeOfPrefix(inlineSchemaPrefix()), InlineSchemaValue)) {
    for (const [key] of records) {
      if (!("schemaVersion" in key) || key.kind !== "schema" || dropped.has(`${key.tableId}/${key.schemaVersion}`))
        continue;
      data.push({ tableId: key.tableId, schemaVersion: key.schemaVersion });
    }
  }
  const deletes: bigint[] = [];
  for await (const records of scanRecords(
    view,
    rangeOfPrefix(inlineFileDeleteTablePrefix()),
    InlineFileDeleteTableValue,
  ))
    for (const [key] of records) if ("tableId" in key) deletes.push(key.tableId);
  return { data, deletes };
}

/** The table in which DuckLake keeps the positions of single rows that were deleted from files. */
export function inlinedDeleteTable(tableId: bigint): string {
  return `ducklake_inlined_delete_${tableId}`;
}

export const inlinedDeleteColumns: readonly TableColumn[] = [
  { name: "file_id", type: "BIGINT" },
  { name: "row_id", type: "BIGINT" },
  { name: "begin_snapshot", type: "BIGINT" },
];

/** The columns that every table of inlined rows begins with. */
export const inlinedRowColumns: readonly TableColumn[] = [
  { name: "row_id", type: "BIGINT" },
  { name: "begin_snapshot", type: "BIGINT" },
  { name: "end_snapshot", type: "BIGINT" },
];

/** A table of inlined rows of one schema version. */
export interface InlinedShape {
  readonly schema: InlineSchema;
  /** The table's own columns, without `inlinedRowColumns`. */
  readonly columns: readonly TableColumn[];
}

/** Where the shapes of inlined tables are read from: one cut of the store. */
export interface ShapeSources {
  readonly state: CatalogState;
  readonly view: ReadView;
  readonly registry: InlineRegistry;
}

/** Works out the columns of inlined tables. */
export class InlinedShapes {
  readonly #sources: ShapeSources;
  readonly #histories = new Map<bigint, Promise<ColumnHistory>>();
  readonly #shapes = new Map<string, Promise<InlinedShape>>();

  constructor(sources: ShapeSources) {
    this.#sources = sources;
  }

  /** Errors: `corruption` where no schema is recorded for the version. */
  of(tableId: bigint, schemaVersion: bigint): Promise<InlinedShape> {
    const name = `${tableId}/${schemaVersion}`;
    const known = this.#shapes.get(name);
    if (known !== undefined) return known;
    const shape = this.#work(tableId, schemaVersion);
    this.#shapes.set(name, shape);
    return shape;
  }

  async #work(tableId: bigint, schemaVersion: bigint): Promise<InlinedShape> {
    const { registry, view } = this.#sources;
    const recorded = await registry.schema(view, tableId, schemaVersion);
    if (recorded === null) throw new CorruptionError(`inline rows of table ${tableId} have no schema record`);
    const schema = recorded.parsed;
    const declared = await this.#declared(tableId, schemaVersion);
    const columns = inlineColumnTypes(schema).map(({ name, type }) => {
      const wanted = declared.get(name);
      return { name, type: wanted !== undefined && hasLayoutOf(wanted, type) ? wanted : type };
    });
    return { schema, columns };
  }

  /** The types of a table's columns at a schema version, by name, as DuckLake declares them. */
  async #declared(tableId: bigint, schemaVersion: bigint): Promise<Map<string, string>> {
    let history = this.#histories.get(tableId);
    if (history === undefined) this.#histories.set(tableId, (history = readColumnHistory(this.#sources, tableId)));
    const { versions, begins } = await history;
    const begin = begins.get(schemaVersion);
    if (begin === undefined) return new Map();
    const at = versions.filter(
      ({ beginSnapshot, endSnapshot }) => beginSnapshot <= begin && (endSnapshot === undefined || endSnapshot > begin),
    );
    return new Map(
      columnTree(at).flatMap((column) => {
        const type = duckdbTypeName(column);
        return type === undefined ? [] : [[column.name, type] as const];
      }),
    );
  }
}

interface ColumnHistory {
  readonly versions: readonly ColumnValue[];
  /** The snapshot at which each schema version of the table began. */
  readonly begins: ReadonlyMap<bigint, bigint>;
}

async function readColumnHistory({ state, view }: ShapeSources, tableId: bigint): Promise<ColumnHistory> {
  const past = await pastVersions(view, "column", tableId);
  const begins = new Map<bigint, bigint>();
  for await (const records of scanRecords(view, rangeOfPrefix(schemaVersionPrefix(tableId)), SchemaVersionValue))
    for (const [key, { schemaVersion }] of records)
      if (key.subspace === "schema_version") begins.set(schemaVersion, key.beginSnapshot);
  return { versions: [...past.map(({ value }) => value), ...state.list("column", tableId)], begins };
}

const byteTypes: ReadonlySet<string> = new Set(["VARCHAR", "JSON", "BLOB", "BIT", "BIGNUM", "GEOMETRY"]);

/**
 * Whether values of one type are laid out as those of another: an Arrow record tells JSON from text only where DuckDB itself
 * wrote it, so the column's own type is preferred to the one that the record gives.
 */
function hasLayoutOf(wanted: string, given: string): boolean {
  return sameLayout(parseDuckDbType(wanted), parseDuckDbType(given));
}

function sameLayout(a: DuckDbType, b: DuckDbType): boolean {
  if (byteTypes.has(a.name) && byteTypes.has(b.name)) return true;
  return (
    a.name === b.name &&
    a.precision === b.precision &&
    a.scale === b.scale &&
    a.size === b.size &&
    a.children.length === b.children.length &&
    a.children.every((child, at) => sameLayout(child.type, (b.children[at] as (typeof b.children)[number]).type))
  );
}
