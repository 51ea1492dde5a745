import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DataStoreSet, openStore } from "@moraine/store";
import { Catalog } from "../catalog.js";

/** A catalog in memory whose data files lie in a folder of its own, where DuckDB can read them. */
export interface FileCatalog {
  readonly catalog: Catalog;
  readonly folder: string;
  /** Closes the catalog and removes its files. */
  close(): Promise<void>;
}

let catalogs = 0;

export async function openFileCatalog(): Promise<FileCatalog> {
  const folder = await mkdtemp(join(tmpdir(), "moraine-files-"));
  catalogs += 1;
  const catalog = await Catalog.open({
    store: await openStore(`memory://files-${process.pid}-${catalogs}`),
    dataPath: folder,
    openDataFiles: (dataPath) => new DataStoreSet(dataPath),
  });
  return {
    catalog,
    folder,
    async close() {
      await catalog.close();
      await rm(folder, { recursive: true });
    },
  };
}
