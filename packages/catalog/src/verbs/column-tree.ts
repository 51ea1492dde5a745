import { type ColumnValue, InvalidArgumentError } from "@moraine/codec";
import { quoted } from "../model/error-text.js";
import { maxColumnNestingLevels } from "../model/limits.js";
import { foldSqlName } from "../model/name-index.js";
import {
  checkArray,
  checkBoolean,
  checkKnown,
  checkName,
  checkOptionalString,
  invalid,
  type Names,
  orDefault,
} from "./arguments.js";
import { checkColumnType, type ColumnKind, columnKind, fixedFields } from "./column-type.js";

/** A column to be made. A nested one brings its fields: a struct's fields, a list's `element`, a map's `key` and `value`. */
export interface ColumnDefinition {
  readonly name: string;
  /** A type of DuckLake (`int64`, `decimal(10,2)`, `struct`) or DuckDB's name for it (`BIGINT`), in any case. */
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
 * `invalid_argument` for two siblings of one name in whatever case, and for a type that there is not; `unsupported` for VARIANT.
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
    throw new InvalidArgumentError(`columns are nested deeper than ${maxColumnNestingLevels} levels`, {
      remedy: "Flatten the type, and check that no definition holds itself.",
    });
  }
  const names = new Set<string>();
  for (const [at, definition] of checkArray(definitions, argument).entries())
    addColumn(definition, `${argument}[${at}]`, parent, level, names, out);
}

/** Adds a column and what is below it. `names` are those of its siblings so far, folded. */
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
  if (names.has(foldSqlName(name))) {
    throw new InvalidArgumentError(`${argument}.name: two columns of one level are called ${quoted(name)}`, {
      remedy: "Rename one of them. DuckDB compares names without regard to case.",
    });
  }
  names.add(foldSqlName(name));
  const position = out.length;
  const columnType = checkColumnType(definition.columnType, `${argument}.columnType`);
  out.push({
    name,
    columnType,
    nullsAllowed: checkBoolean(orDefault(definition.nullsAllowed, true), `${argument}.nullsAllowed`),
    defaultValue: checkOptionalString(definition.defaultValue, `${argument}.defaultValue`),
    parent,
  });
  const fields = orDefault(definition.children, []);
  addLevel(fields, `${argument}.children`, position, level + 1, out);
  checkFields(columnType, fields, `${argument}.children`);
}

/** Fields that the type does not have would never be read, and without those that it has nothing could be. */
function checkFields(columnType: string, fields: readonly ColumnDefinition[], argument: string): void {
  const kind = columnKind(columnType);
  const names = fixedFields[kind];
  if (names === undefined ? fields.length > 0 : fields.length === names.length) {
    if (names === undefined || fields.every((field, at) => field.name === names[at])) return;
  }
  throw invalid(argument, names === undefined ? "an array of the struct's fields" : fieldsText(kind, names));
}

function fieldsText(kind: ColumnKind, names: readonly string[]): string {
  return names.length === 0 ? "left out of a scalar column" : `the fields of a ${kind}: ${names.join(", ")}`;
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
