import { pathToFileURL } from "node:url";
import { type Db, DbBuilder, type DbReader, FlushType, ObjectStore } from "@slatedb/uniffi";
import { limits } from "../../src/limits.js";
import { writerSettings } from "../../src/slate-settings.js";

/** A place for databases of the binding. */
export interface Place {
  readonly objectStore: ObjectStore;
  readonly path: string;
}

export function memoryPlace(): Place {
  return { objectStore: ObjectStore.resolve("memory:///"), path: "store" };
}

export function folderPlace(folder: string): Place {
  return { objectStore: ObjectStore.resolve(pathToFileURL(folder).href), path: "" };
}

/** A database of the binding with the settings of a writer, without anything of ours around it. */
export async function buildDb({ objectStore, path }: Place): Promise<Db> {
  const builder = new DbBuilder(path, objectStore);
  const settings = writerSettings(limits.walMinAgeMs);
  try {
    builder.with_settings(settings);
    return await builder.build();
  } finally {
    settings.dispose();
    builder.dispose();
  }
}

/** Moves what is in memory to tables. */
export function flushMemory(db: Db): Promise<void> {
  return db.flush_with_options({ flush_type: FlushType.MemTable });
}

/** Shuts down and disposes, whatever state it is in: closed, fenced or disposed already. */
export async function endQuietly(db: Db | DbReader): Promise<void> {
  try {
    await db.shutdown();
  } catch {
    // The state that a test has brought it into.
  }
  db.dispose();
}
