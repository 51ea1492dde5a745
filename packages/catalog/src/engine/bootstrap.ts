import {
  CorruptionError,
  currentKey,
  decodeValue,
  encodeValue,
  FormatValue,
  HeadValue,
  MigrationRequiredError,
  OptionScopeValue,
  SchemaValue,
  snapshotKey,
  SnapshotValue,
  sysFormatKey,
  sysHeadKey,
  sysMigrationKey,
  UnsupportedError,
} from "@moraine/codec";
import { BatchBuilder, packKeys, type ReadView, valueAt, type WritableStore } from "@moraine/store";
import { formatVersion, writerVersion } from "../version.js";

/** What is recorded when a store is created, and only then. */
export interface GenesisOptions {
  readonly encrypted: boolean;
  readonly dataPath: string | undefined;
  readonly nowMicros: bigint;
  readonly newUuid: () => string;
}

/**
 * Checks that the store holds a catalog of the one format that this version reads. Returns false for a store that holds none.
 * Fails with `migration_required` for an older format and for a migration that was left half done, with `unsupported` for a
 * newer format.
 */
export async function checkFormat(view: ReadView): Promise<boolean> {
  const values = await view.getMany(packKeys([sysFormatKey, sysMigrationKey, sysHeadKey]));
  const format = valueAt(values, 0);
  if (valueAt(values, 1) !== undefined) {
    throw new MigrationRequiredError("a migration of this store has begun and not ended", {
      remedy: "Finish the migration with the version that started it.",
    });
  }
  if (format === undefined) {
    if (valueAt(values, 2) !== undefined) throw new CorruptionError("the store has a head and no format record");
    return false;
  }
  const version = decodeValue(FormatValue, format).formatVersion;
  if (version < formatVersion) {
    throw new MigrationRequiredError(`the store has format ${version}, which predates format ${formatVersion}`, {
      remedy: `Migrate the store to format ${formatVersion} with a version of moraine that reads format ${version}.`,
    });
  }
  if (version > formatVersion) {
    throw new UnsupportedError(
      `the store has format ${version}, newer than the ${formatVersion} that this version reads`,
      {
        remedy: "Use a newer version of moraine.",
      },
    );
  }
  return true;
}

/** Writes the records of an empty lake in one atomic batch (format.md 4.4). */
export async function bootstrap(store: WritableStore, options: GenesisOptions): Promise<void> {
  const batch = new BatchBuilder();
  batch.put(sysFormatKey, encodeValue(FormatValue, { formatVersion, writerVersion }));
  batch.put(
    snapshotKey(0n),
    encodeValue(SnapshotValue, {
      snapshotId: 0n,
      snapshotTimeMicros: options.nowMicros,
      schemaVersion: 0n,
      nextCatalogId: 1n,
      nextFileId: 0n,
      changesMade: 'created_schema:"main"',
      author: undefined,
      commitMessage: undefined,
      commitExtraInfo: undefined,
      schemaChangedTableIds: [],
      deletedDataFileIds: [],
    }),
  );
  batch.put(
    currentKey("schema", 0n),
    encodeValue(SchemaValue, {
      schemaId: 0n,
      schemaUuid: options.newUuid(),
      beginSnapshot: 0n,
      endSnapshot: undefined,
      schemaName: "main",
      path: "main/",
      pathIsRelative: true,
    }),
  );
  const recorded = new Map([["encrypted", String(options.encrypted)]]);
  if (options.dataPath !== undefined) recorded.set("data_path", options.dataPath);
  batch.put(currentKey("option", 0n, 0n), encodeValue(OptionScopeValue, { options: recorded }));
  batch.put(sysHeadKey, encodeValue(HeadValue, { snapshotId: 0n, batchSeq: 0n }));
  await store.write(batch.finish());
}
