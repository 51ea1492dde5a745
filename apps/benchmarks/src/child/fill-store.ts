import { createLake, type LakeOptions, type LakePlace, registerRows } from "../lake.js";

export interface FillStoreInput {
  readonly folder: string;
  readonly indexes?: NonNullable<LakeOptions["indexes"]>;
  readonly rows: number;
  /** Values are 0, `step`, `2 * step` and so on. */
  readonly step: number;
  readonly rowsPerCommit: number;
}

/** Makes a lake with so many index entries and closes it. */
export async function fillStore({ folder, indexes, rows, step, rowsPerCommit }: FillStoreInput): Promise<LakePlace> {
  const lake = await createLake(folder, indexes === undefined ? {} : { indexes });
  for (let row = 0; row < rows; row += rowsPerCommit) {
    const count = Math.min(rowsPerCommit, rows - row);
    await registerRows(lake, `rows-${row}.parquet`, { first: row * step, step, count });
  }
  await lake.catalog.close();
  return lake.place;
}
