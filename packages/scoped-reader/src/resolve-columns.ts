import {
  DataFileError,
  type IndexableType,
  type IndexValue,
  InvalidArgumentError,
  parseColumnType,
  parseIndexValue,
} from "@moraine/codec";
import { hivePartitions, isHiveNull, percentDecode } from "./hive.js";
import type { ColumnRequest, FileSource, NameMapEntry } from "./interface.js";
import type { ParquetSchema, TopLevelField } from "./parquet/schema.js";

/** Reserved Parquet field id of DuckLake's embedded row-id column (`MultiFileReader::ROW_ID_FIELD_ID`). */
export const rowIdFieldId = 2_147_483_540n;

/** Where the values of a requested column come from in one file. */
export type ResolvedColumn =
  | { readonly kind: "stored"; readonly field: TopLevelField; readonly type: IndexableType }
  | { readonly kind: "constant"; readonly value: IndexValue; readonly type: IndexableType };

/**
 * Finds each requested column in a file (specification, "Scoped reads resolve each immutable input independently"). A
 * recorded name mapping decides alone, as in DuckLake: the field ids of a file from elsewhere mean nothing here. A file
 * without mapping is read by its field ids; columns that have none, by their historical names. Positions never count,
 * so nested neighbours shift nothing. What is in none of them has the column's initial default.
 */
export function resolveColumns(
  source: FileSource,
  schema: ParquetSchema,
  columns: readonly ColumnRequest[],
): ResolvedColumn[] {
  const byFieldId = fieldsById(source.path, schema);
  return columns.map((column) => {
    const type = parseColumnType(column.columnType);
    const { nameMap } = source;
    if (nameMap !== undefined) {
      const entry = nameMap.entries.find(
        (candidate) => candidate.targetFieldId === column.fieldId && candidate.parentColumn === undefined,
      );
      if (entry === undefined) return initialDefault(source, column, type);
      if (entry.isPartition) return partitionValue(source, column, entry, type);
      const mapped = fieldNamed(source.path, schema.fields, entry.sourceName);
      return mapped === undefined ? initialDefault(source, column, type) : stored(source, mapped, column, type);
    }
    const field = byFieldId.get(Number(column.fieldId)) ?? fieldByHistory(source, schema, column);
    return field === undefined ? initialDefault(source, column, type) : stored(source, field, column, type);
  });
}

/** The embedded row-id column of a file, if it has one. */
export function embeddedRowIds(source: FileSource, schema: ParquetSchema): TopLevelField | undefined {
  return fieldsById(source.path, schema).get(Number(rowIdFieldId));
}

function fieldsById(path: string, schema: ParquetSchema): Map<number, TopLevelField> {
  const fields = new Map<number, TopLevelField>();
  for (const field of schema.fields) {
    if (field.fieldId === undefined) continue;
    if (fields.has(field.fieldId)) {
      throw new DataFileError(`file ${path}: two columns have the field id ${field.fieldId}`, {
        remedy: "Write the file again with distinct field ids.",
      });
    }
    fields.set(field.fieldId, field);
  }
  return fields;
}

function fieldByHistory(source: FileSource, schema: ParquetSchema, column: ColumnRequest): TopLevelField | undefined {
  const unnumbered = schema.fields.filter((field) => field.fieldId === undefined);
  if (unnumbered.length === 0) return undefined;
  const { historicalNames } = column;
  if (historicalNames === undefined) {
    throw new DataFileError(
      `file ${source.path} has columns without field ids and no name mapping, and the name that column ${column.name} had then has expired`,
      { remedy: "Register the file again with field ids or a name mapping." },
    );
  }
  for (const name of historicalNames) {
    const field = fieldNamed(source.path, unnumbered, name);
    if (field !== undefined) return field;
  }
  return undefined;
}

/** By exact name, else without regard to case, as DuckDB compares names; two such columns are one too many. */
function fieldNamed(path: string, fields: readonly TopLevelField[], name: string): TopLevelField | undefined {
  const exact = fields.filter((field) => field.name === name);
  const lower = name.toLowerCase();
  const found = exact.length > 0 ? exact : fields.filter((field) => field.name.toLowerCase() === lower);
  if (found.length > 1) {
    throw new DataFileError(`file ${path} has ${found.length} columns named ${name}`, {
      remedy: "Write the file again with distinct column names.",
    });
  }
  return found[0];
}

function stored(source: FileSource, field: TopLevelField, column: ColumnRequest, type: IndexableType): ResolvedColumn {
  if (field.leaf === null) {
    throw new DataFileError(
      `file ${source.path}: column ${column.name} is nested there, and ${column.columnType} now`,
      {
        remedy: "Rewrite the file with values of the column's current type.",
      },
    );
  }
  return { kind: "stored", field, type };
}

function initialDefault(source: FileSource, column: ColumnRequest, type: IndexableType): ResolvedColumn {
  if (column.initialDefault === undefined) return { kind: "constant", value: null, type };
  return constant(source, column, type, column.initialDefault, "the initial default");
}

function partitionValue(
  source: FileSource,
  column: ColumnRequest,
  entry: NameMapEntry,
  type: IndexableType,
): ResolvedColumn {
  const raw = hivePartitions(`${source.store.location}/${source.path}`).get(entry.sourceName);
  if (raw === undefined) {
    throw new DataFileError(
      `file ${source.path} has no directory ${entry.sourceName}=..., which column ${column.name} is read from`,
      {
        remedy: "Register the file under the path that its name mapping was made for.",
      },
    );
  }
  if (isHiveNull(raw, type.logical === "string")) return { kind: "constant", value: null, type };
  const text = percentDecode(raw);
  if (text === undefined) {
    throw new DataFileError(`file ${source.path}: the directory ${entry.sourceName}=... is not valid UTF-8`, {
      remedy: "Register the file under a path that percent-encodes UTF-8.",
    });
  }
  return constant(source, column, type, text, `the directory ${entry.sourceName}=...`);
}

function constant(
  source: FileSource,
  column: ColumnRequest,
  type: IndexableType,
  text: string,
  origin: string,
): ResolvedColumn {
  try {
    return { kind: "constant", value: parseIndexValue(column.columnType, text), type };
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new DataFileError(
      `file ${source.path}: ${origin} of column ${column.name} is no value of type ${column.columnType}`,
      { remedy: "Rewrite the file with the column stored in it.", cause: error },
    );
  }
}
