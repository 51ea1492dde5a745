import { ConstraintError, UnsupportedError } from "@moraine/codec";
import { isMetadataTable, type MetadataRow, readMetadataChanges } from "./metadata-row.js";
import { type MetadataTable, metadataTables } from "./metadata-tables.js";
import type { RowChanges } from "./row-changes.js";

/** What DuckLake says of a lake when it creates it. */
export interface Genesis {
  readonly schemaUuid: string;
  /** Of snapshot 0, in microseconds since the epoch, UTC. */
  readonly snapshotTimeMicros: bigint;
  /** As DuckLake resolved it, with a slash at the end. */
  readonly dataPath: string;
  readonly encrypted: boolean;
}

/** The version of DuckLake's catalog whose tables moraine serves. */
const catalogVersion = "1.0";

/** Rows of each table in the transaction by which DuckLake creates a lake; all others are empty. */
const expectedRows: Readonly<Partial<Record<MetadataTable, number>>> = {
  ducklake_metadata: 4,
  ducklake_snapshot: 1,
  ducklake_snapshot_changes: 1,
  ducklake_schema: 1,
};

/**
 * Reads the transaction by which DuckLake creates a lake. Source: DuckLake, `DuckLakeMetadataManager::InitializeDuckLake`.
 *
 * Errors: `unsupported` for another version of DuckLake's catalog, which names both; `constraint` for any other transaction: a lake
 * that is not there yet can only be created.
 */
export function genesisOf(changes: RowChanges): Genesis {
  const created = new Set(changes.ddl.filter(({ kind }) => kind === "create_table").map(({ name }) => name));
  const others = changes.ddl.filter(
    ({ kind, name }) => kind !== "create_schema" && !(kind === "create_table" && isMetadataTable(name)),
  );
  const rows = new Map<string, readonly MetadataRow[]>();
  for (const table of changes.tables) {
    if (!isMetadataTable(table.name)) throw notGenesis(`rows of ${table.name}`);
    const { deleted, updated, inserted } = readMetadataChanges(table.name, table);
    if (deleted.length > 0 || updated.length > 0) throw notGenesis(`changes of rows of ${table.name}`);
    rows.set(table.name, [...(rows.get(table.name) ?? []), ...inserted]);
  }
  const metadata = new Map(
    (rows.get("ducklake_metadata") ?? [])
      .filter((row) => row.isNull("scope"))
      .map((row) => [row.text("key"), row.text("value")]),
  );
  checkVersion(metadata.get("version"));
  const missing = Object.keys(metadataTables).filter((name) => !created.has(name));
  if (missing.length > 0) throw notGenesis(`no CREATE TABLE ${missing[0] ?? ""}`);
  if (others.length > 0) throw notGenesis(`${others.length} other statements that create or drop something`);
  for (const name of Object.keys(metadataTables) as MetadataTable[]) {
    const count = rows.get(name)?.length ?? 0;
    const expected = expectedRows[name] ?? 0;
    if (count !== expected) throw notGenesis(`${count} rows of ${name} in place of ${expected}`);
  }
  const snapshot = only(rows, "ducklake_snapshot");
  const schema = only(rows, "ducklake_schema");
  checkStart(snapshot, only(rows, "ducklake_snapshot_changes"), schema);
  const dataPath = metadata.get("data_path");
  const encrypted = metadata.get("encrypted");
  if (dataPath === undefined || (encrypted !== "true" && encrypted !== "false")) {
    throw notGenesis("no data path, or no word on encryption, in ducklake_metadata");
  }
  return {
    schemaUuid: schema.uuid("schema_uuid"),
    snapshotTimeMicros: snapshot.time("snapshot_time"),
    dataPath,
    encrypted: encrypted === "true",
  };
}

function checkVersion(version: string | undefined): void {
  if (version === undefined) throw notGenesis("no version in ducklake_metadata");
  if (version === catalogVersion) return;
  throw new UnsupportedError(
    `DuckLake creates a catalog of version ${version}, and this version of moraine serves ${catalogVersion}`,
    { remedy: "Use a version of moraine made for that DuckLake, or the DuckLake that DuckDB 1.5 installs." },
  );
}

/** Snapshot 0 with one schema, as `bootstrap` writes them. */
function checkStart(snapshot: MetadataRow, changes: MetadataRow, schema: MetadataRow): void {
  const starts =
    snapshot.id("snapshot_id") === 0n &&
    snapshot.id("schema_version") === 0n &&
    snapshot.id("next_catalog_id") === 1n &&
    snapshot.id("next_file_id") === 0n &&
    changes.id("snapshot_id") === 0n &&
    changes.optionalText("changes_made") === 'created_schema:"main"' &&
    schema.id("schema_id") === 0n &&
    schema.id("begin_snapshot") === 0n &&
    schema.isNull("end_snapshot") &&
    schema.text("schema_name") === "main" &&
    schema.text("path") === "main/" &&
    schema.flag("path_is_relative");
  if (!starts) throw notGenesis("a first snapshot or schema that is not DuckLake's");
}

function only(rows: ReadonlyMap<string, readonly MetadataRow[]>, table: MetadataTable): MetadataRow {
  const row = rows.get(table)?.[0];
  if (row === undefined) throw notGenesis(`no row of ${table}`);
  return row;
}

function notGenesis(what: string): ConstraintError {
  return new ConstraintError(`the lake does not exist yet, and the transaction does not create it: it has ${what}`, {
    remedy: "Attach the lake through DuckLake, which creates it, before anything else is written.",
  });
}
