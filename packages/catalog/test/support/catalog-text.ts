import type { CatalogReads } from "../../src/index.js";
import type { CatalogSnapshot } from "../../src/model/view.js";

/** Everything that a catalog shows at its head, as text: two catalogs are the same when their texts are. */
export async function catalogText(catalog: CatalogReads): Promise<string> {
  return snapshotText(await catalog.snapshot());
}

export function snapshotText(snapshot: CatalogSnapshot): string {
  const content = {
    head: snapshot.currentSnapshot,
    schemas: snapshot.schemas().map((schema) => ({
      schema,
      views: snapshot.viewsIn(schema.id),
      macros: snapshot.macrosIn(schema.id),
      tables: snapshot.tablesIn(schema.id).map((table) => ({
        table,
        columns: snapshot.columnsOf(table.id),
        dataFiles: snapshot.dataFilesOf(table.id),
        deleteFiles: snapshot.deleteFilesOf(table.id),
        indexes: snapshot.indexesOf(table.id),
        partitioning: snapshot.partitioningOf(table.id),
        sorting: snapshot.sortingOf(table.id),
        stats: snapshot.tableStats(table.id),
        mappings: snapshot.mappingsOf(table.id),
      })),
    })),
  };
  return JSON.stringify(
    content,
    (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value === undefined ? "undefined" : value),
    1,
  );
}
