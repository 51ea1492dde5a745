import { cp } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ColumnVector, IndexId, TableId } from "@moraine/codec";
import type { FlushPolicy } from "@moraine/store";
import { Catalog, mainSchema } from "moraine";

/** Where a lake of a benchmark lies, and the ids of its table. Crosses to other processes as JSON. */
export interface LakePlace {
  readonly store: string;
  readonly dataPath: string;
  readonly table: number;
  /** The unique index on `v`; the non-unique one on `g`, where there is one. */
  readonly byValue: number;
  readonly byGroup: number;
}

export interface LakeOptions {
  readonly flush?: FlushPolicy;
  /** Default: the unique index alone. */
  readonly indexes?: "none" | "unique" | "unique and group";
}

/** An open lake with the one table of the benchmarks: `v BIGINT`, `g BIGINT`, `name VARCHAR`. Disposing of it closes it. */
export interface Lake extends AsyncDisposable {
  readonly catalog: Catalog;
  readonly place: LakePlace;
  readonly table: TableId;
  readonly byValue: IndexId;
  readonly byGroup: IndexId;
}

const tableName = "events";
/** Path of a file of the table below the lake's data path. */
export const tableFolder = join("main", tableName);

/** Makes a lake in a folder: store and data side by side, on the local disk. */
export async function createLake(folder: string, { flush, indexes = "unique" }: LakeOptions = {}): Promise<Lake> {
  const store = pathToFileURL(join(folder, "store")).href;
  const dataPath = join(folder, "data");
  const catalog = await Catalog.open({ store, dataPath, ...(flush === undefined ? {} : { flush }) });
  const { value } = await catalog.commit((tx) => {
    const table = tx.createTable({
      schema: mainSchema,
      name: tableName,
      columns: [
        { name: "v", columnType: "BIGINT" },
        { name: "g", columnType: "BIGINT" },
        { name: "name", columnType: "VARCHAR" },
      ],
    });
    const byValue =
      indexes === "none" ? noIndex : tx.createIndex({ table, name: "by_value", columns: ["v"], unique: true });
    const byGroup =
      indexes === "unique and group" ? tx.createIndex({ table, name: "by_group", columns: ["g"] }) : noIndex;
    return { table, byValue, byGroup };
  });
  const { table, byValue, byGroup } = value;
  const place = { store, dataPath, table: Number(table), byValue: Number(byValue), byGroup: Number(byGroup) };
  return lakeOf(catalog, place);
}

/** Opens a lake that was made before. */
export async function openLake(place: LakePlace): Promise<Lake> {
  return lakeOf(await Catalog.open({ store: place.store }), place);
}

function lakeOf(catalog: Catalog, place: LakePlace): Lake {
  return {
    catalog,
    place,
    table: BigInt(place.table) as TableId,
    byValue: BigInt(place.byValue) as IndexId,
    byGroup: BigInt(place.byGroup) as IndexId,
    [Symbol.asyncDispose]: () => catalog.close(),
  };
}

const noIndex = 0n as IndexId;

/** Most rows that `fillLake` registers with one commit. */
const rowsPerFill = 100_000;

/** Makes a lake whose unique index holds so many values, and closes it. */
export async function fillLake(folder: string, { first, step, count }: ValueRun): Promise<LakePlace> {
  await using lake = await createLake(folder);
  for (let row = 0; row < count; row += rowsPerFill) {
    const part = { first: first + row * step, step, count: Math.min(rowsPerFill, count - row) };
    await registerRows(lake, `rows-${row}.parquet`, part);
  }
  return lake.place;
}

/** Copies the store of a closed lake to another folder. Data files stay where they are. */
export async function copyLake(place: LakePlace, folder: string): Promise<LakePlace> {
  const store = join(folder, "store");
  await cp(new URL(place.store), store, { recursive: true });
  return { ...place, store: pathToFileURL(store).href };
}

/** The values of rows that are registered together: `first`, `first + step`, and so on. */
export interface ValueRun {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

/** Registers rows with entries for every index of the lake. Nothing reads the file, so none is written. */
export async function registerRows(lake: Lake, path: string, run: ValueRun, fanOut = 1): Promise<void> {
  const values = bigints(run.count, (i) => run.first + i * run.step);
  const entries = [{ index: lake.byValue, columns: [values] }];
  if (lake.byGroup !== noIndex) {
    const groups = bigints(run.count, (i) => Math.floor((run.first / run.step + i) / fanOut));
    entries.push({ index: lake.byGroup, columns: [groups] });
  }
  await lake.catalog.commit((tx) =>
    tx.registerDataFile({
      table: lake.table,
      file: { path, recordCount: run.count, fileSizeBytes: run.count * 8, footerSize: 512 },
      entries,
    }),
  );
}

/** A BIGINT column without NULLs. */
export function bigints(count: number, valueAt: (row: number) => number): ColumnVector {
  const values = BigInt64Array.from({ length: count }, (_, i) => BigInt(valueAt(i)));
  return { type: "int64", length: count, validity: null, values, offsets: null };
}
