import { type Db, type DbReader, DbReaderBuilder } from "@slatedb/uniffi";
import { onTestFinished } from "vitest";
import { buildDb, endQuietly, type Place } from "./databases.js";

/** A database that is shut down when the test has finished. */
export async function openDb(place: Place): Promise<Db> {
  const db = await buildDb(place);
  onTestFinished(() => endQuietly(db));
  return db;
}

/** A reader that is shut down when the test has finished. */
export async function openDbReader({ objectStore, path }: Place): Promise<DbReader> {
  const builder = new DbReaderBuilder(path, objectStore);
  try {
    const reader = await builder.build();
    onTestFinished(() => endQuietly(reader));
    return reader;
  } finally {
    builder.dispose();
  }
}
