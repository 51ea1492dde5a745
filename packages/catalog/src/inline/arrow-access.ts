import type { Data, DataType, Field, Struct, Table } from "apache-arrow";

// Apache Arrow types much of what it returns as `any`. These give the same values their types.

export function fieldType(field: Field): DataType {
  return field.type as DataType;
}

/** How Arrow writes a type, for comparing two of them: they are equal exactly when their texts are. */
export function typeText(type: DataType): string {
  return (type as { toString: () => string }).toString();
}

/** Data of a column of a table that consists of one batch. */
export function columnData(table: Table, position: number): Data {
  const data = table.getChildAt(position)?.data[0] as Data | undefined;
  if (data === undefined) throw new Error(`the Arrow table has no column ${position}`);
  return data;
}

/** The entries of a map as the struct field that Arrow puts between a map and its keys and values. */
export function mapEntriesField(field: Field<Struct>): Field<Struct<{ key: DataType; value: DataType }>> {
  return field as Field<Struct<{ key: DataType; value: DataType }>>;
}
