import { type ColumnValue, ConstraintError, UnsupportedError } from "@moraine/codec";
import { quoted } from "../model/error-text.js";
import { maxColumnNestingLevels } from "../model/limits.js";
import {
  checkArray,
  checkBoolean,
  checkKnown,
  checkName,
  checkOptionalString,
  checkText,
  type Names,
  orDefault,
} from "./arguments.js";

/** A column to be made. A nested one brings its fields: a struct's fields, a list's `element`, a map's `key` and `value`. */
export interface ColumnDefinition {
  readonly name: string;
  /** A DuckLake type name, for instance `BIGINT`, `DECIMAL(10,2)`, `STRUCT`. */
  readonly columnType: string;
  /** Default `true`. */
  readonly nullsAllowed?: boolean;
  /** SQL text of the default value. */
  readonly defaultValue?: string;
  readonly children?: readonly ColumnDefinition[];
}

const columnDefinitionNames: Names<ColumnDefinition> = {
  name: true,
  columnType: true,
  nullsAllowed: true,
  defaultValue: true,
  children: true,
};

/** A checked column of a tree that has been laid out in pre-order: a parent stands before its fields. */
export interface FlatColumn {
  readonly name: string;
  readonly columnType: string;
  readonly nullsAllowed: boolean;
  readonly defaultValue: string | undefined;
  /** Position of the parent in the same list. */
  readonly parent: number | undefined;
}

/**
 * Checks a list of column trees and lays it out in pre-order, the order in which field ids and positions are given.
 * `constraint` for two siblings of one name, `unsupported` for VARIANT.
 */
export function flattenColumns(definitions: readonly ColumnDefinition[], argument: string): FlatColumn[] {
  const out: FlatColumn[] = [];
  addLevel(definitions, argument, undefined, 1, out);
  return out;
}

/** The same for one column with its fields. */
export function flattenColumn(definition: ColumnDefinition, argument: string): FlatColumn[] {
  const out: FlatColumn[] = [];
  addColumn(definition, argument, undefined, 1, new Set(), out);
  return out;
}

function addLevel(
  definitions: readonly ColumnDefinition[],
  argument: string,
  parent: number | undefined,
  level: number,
  out: FlatColumn[],
): void {
  if (level > maxColumnNestingLevels) {
    throw new ConstraintError(`columns are nested deeper than ${maxColumnNestingLevels} levels`, {
      remedy: "Flatten the type, and check that no definition holds itself.",
    });
  }
  const names = new Set<string>();
  for (const [at, definition] of checkArray(definitions, argument).entries())
    addColumn(definition, `${argument}[${at}]`, parent, level, names, out);
}

/** Adds a column and what is below it. `names` are those of its siblings so far. */
function addColumn(
  definition: ColumnDefinition,
  argument: string,
  parent: number | undefined,
  level: number,
  names: Set<string>,
  out: FlatColumn[],
): void {
  checkKnown(definition, columnDefinitionNames, argument);
  const name = checkName(definition.name, `${argument}.name`);
  if (names.has(name)) {
    throw new ConstraintError(`two columns of one level are called ${quoted(name)}`, {
      remedy: "Rename one of them.",
    });
  }
  names.add(name);
  const position = out.length;
  out.push({
    name,
    columnType: checkColumnType(definition.columnType, `${argument}.columnType`),
    nullsAllowed: checkBoolean(orDefault(definition.nullsAllowed, true), `${argument}.nullsAllowed`),
    defaultValue: checkOptionalString(definition.defaultValue, `${argument}.defaultValue`),
    parent,
  });
  if (definition.children !== undefined)
    addLevel(definition.children, `${argument}.children`, position, level + 1, out);
}

/** A type name as it stands in the catalog. VARIANT is refused: its shredded values have no place in inline data. */
export function checkColumnType(columnType: string, argument: string): string {
  checkText(columnType, argument);
  if (/^\s*VARIANT\s*($|[[(])/i.test(columnType)) {
    throw new UnsupportedError("columns of type VARIANT", { remedy: "Store the values as JSON, or as typed columns." });
  }
  return columnType;
}

/** The records of new columns. Ids and positions run on from the first ones given. */
export function columnValues(
  columns: readonly FlatColumn[],
  place: {
    readonly tableId: bigint;
    readonly firstId: bigint;
    readonly firstOrder: bigint;
    readonly beginSnapshot: bigint;
  },
): ColumnValue[] {
  return columns.map((column, at) => ({
    columnId: place.firstId + BigInt(at),
    beginSnapshot: place.beginSnapshot,
    endSnapshot: undefined,
    tableId: place.tableId,
    columnOrder: place.firstOrder + BigInt(at),
    columnName: column.name,
    columnType: column.columnType,
    initialDefault: undefined,
    defaultValue: column.defaultValue,
    nullsAllowed: column.nullsAllowed,
    parentColumn: column.parent === undefined ? undefined : place.firstId + BigInt(column.parent),
    defaultValueType: undefined,
    defaultValueDialect: undefined,
    tags: [],
  }));
}
