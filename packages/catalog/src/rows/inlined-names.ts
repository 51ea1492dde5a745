/** A table that DuckLake makes beside its metadata tables, by what its name says. */
export type InlinedTable =
  | { readonly kind: "data"; readonly tableId: bigint; readonly schemaVersion: bigint }
  | { readonly kind: "delete"; readonly tableId: bigint };

const dataName = /^ducklake_inlined_data_(\d{1,19})_(\d{1,19})$/;
const deleteName = /^ducklake_inlined_delete_(\d{1,19})$/;

/** What the name of a table says; `undefined` for one that DuckLake does not make. */
export function parseInlinedTable(name: string): InlinedTable | undefined {
  const data = dataName.exec(name);
  if (data !== null) return { kind: "data", tableId: BigInt(data[1] ?? 0), schemaVersion: BigInt(data[2] ?? 0) };
  const deletes = deleteName.exec(name);
  return deletes === null ? undefined : { kind: "delete", tableId: BigInt(deletes[1] ?? 0) };
}

export function inlinedDataTable(tableId: bigint, schemaVersion: bigint): string {
  return `ducklake_inlined_data_${tableId}_${schemaVersion}`;
}

export function inlinedDeleteTable(tableId: bigint): string {
  return `ducklake_inlined_delete_${tableId}`;
}
