import {
  ConstraintError,
  decodeKey,
  decodeValue,
  encodeValue,
  inlineFileDeletePrefix,
  inlineFileDeleteTableKey,
  InlineFileDeleteTableValue,
  inlineChunkPrefix,
  chunkLocatorPrefix,
  inlineRowTombstonePrefix,
  inlineSchemaDroppedKey,
  InlineSchemaDroppedValue,
  inlineSchemaKey,
  inlineSchemaPrefix,
  InlineSchemaValue,
  inlineSchemaDroppedPrefix,
} from "@moraine/codec";
import { type ReadView, rowKey, rowValue } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";
import type { InlineFacts, RegisteredSchema } from "../inline/registry.js";
import { quoted } from "../model/error-text.js";
import { inlineSchemaOf } from "./inline-columns.js";
import { inlinedDataTable, inlinedDeleteTable, parseInlinedTable } from "./inlined-names.js";
import type { MetadataChanges } from "./metadata-row.js";
import type { DdlChange } from "./row-changes.js";
import type { RowStaging } from "./row-staging.js";

/** A schema record as the store holds it. */
interface SchemaRecord {
  readonly version: bigint;
  readonly value: InlineSchemaValue;
  readonly dropped: boolean;
}

/**
 * Which inlined tables a commit creates and drops. A table of rows is a schema record; one that is dropped while its lake table
 * lives keeps the record under a marker (format.md 6.2), and with the last one of a dropped table everything goes.
 */
export class InlinedCatalog {
  readonly #staging: RowStaging;
  /** By name. */
  readonly created = new Map<string, RegisteredSchema>();
  readonly #dropped = new Set<string>();
  readonly #tables = new Set<bigint>();

  constructor(staging: RowStaging, ddl: readonly DdlChange[]) {
    this.#staging = staging;
    for (const change of ddl) this.#note(change);
  }

  /** The lake tables whose inlined tables the commit creates or drops. */
  get tableIds(): Iterable<bigint> {
    return this.#tables;
  }

  /** What may be taken for true about inline rows once the commit is staged. `versions`: schema versions that tables get by it. */
  facts(versions: InlineFacts["versions"]): InlineFacts {
    const schemas = [...this.created].flatMap(([name, schema]): InlineFacts["schemas"][number][] => {
      const table = parseInlinedTable(name);
      return table?.kind === "data" ? [[table.tableId, table.schemaVersion, schema]] : [];
    });
    const created = schemas.map(([tableId, version]) => [tableId, version] as const);
    // The last one noted of a table counts, which is to be the newest.
    return { versions: [...versions, ...created].sort((a, b) => Number(a[1] - b[1])), schemas };
  }

  isDropped(name: string): boolean {
    return this.#dropped.has(name);
  }

  #note({ kind, name, columns }: DdlChange): void {
    const table = parseInlinedTable(name);
    if (table === undefined || (kind !== "create_table" && kind !== "drop_table")) {
      throw new ConstraintError(
        `the metadata of the lake is changed by ${kind} of ${quoted(name)}, which cannot be kept`,
        {
          remedy: "Keep own tables in another database, and leave DuckLake's metadata tables as they are.",
        },
      );
    }
    this.#tables.add(table.tableId);
    if (kind === "drop_table") {
      if (!this.created.delete(name)) this.#dropped.add(name);
      return;
    }
    if (this.#dropped.has(name)) {
      throw new ConstraintError(`${name} is dropped and created again by one commit`, {
        remedy: "Do it in two transactions.",
      });
    }
    const schema = inlineSchemaOf(table.kind === "data" ? columns.slice(3) : []);
    this.created.set(name, schema);
  }

  /** Puts and removes the records. `registrations` are the rows of ducklake_inlined_data_tables. */
  async stage({ deleted, updated, inserted }: MetadataChanges): Promise<void> {
    for (const row of [...inserted, ...updated.map(({ after }) => after)]) {
      const name = inlinedDataTable(row.id("table_id"), row.id("schema_version"));
      if (row.text("table_name") === name && (this.created.has(name) || updated.length === 0)) continue;
      throw new ConstraintError(`a row of ducklake_inlined_data_tables names a table other than ${name}`, {
        remedy: "Leave this table to DuckLake.",
      });
    }
    // DuckLake takes the row of an empty table out first, and drops the table in a transaction of its own.
    for (const row of deleted) await this.#leave(row.id("table_id"), row.id("schema_version"));
    const registered = new Set(inserted.map((row) => row.text("table_name")));
    for (const name of this.created.keys()) {
      if (parseInlinedTable(name)?.kind === "delete" || registered.has(name)) continue;
      throw new ConstraintError(`${name} is created and does not come into ducklake_inlined_data_tables`, {
        remedy: "Leave the inlined tables to DuckLake.",
      });
    }
    for (const tableId of this.#tables) await this.#stageTable(tableId);
  }

  async #leave(tableId: bigint, version: bigint): Promise<void> {
    const name = inlinedDataTable(tableId, version);
    if (this.#dropped.has(name)) return;
    await this.#refuseRows(tableId, version);
    this.#dropped.add(name);
    this.#tables.add(tableId);
  }

  async #refuseRows(tableId: bigint, version: bigint): Promise<void> {
    const range = rangeOfPrefix(inlineChunkPrefix(tableId, version));
    for await (const block of this.#staging.view.scan(range, { limit: 1 })) {
      if (block.count === 0) continue;
      throw new ConstraintError(
        `${inlinedDataTable(tableId, version)} leaves ducklake_inlined_data_tables and holds rows`,
        { remedy: "Flush its rows before, or drop the table in the same transaction." },
      );
    }
  }

  async #stageTable(tableId: bigint): Promise<void> {
    const { draft, view, writes } = this.#staging;
    if (this.created.has(inlinedDeleteTable(tableId))) {
      writes.put(inlineFileDeleteTableKey(tableId), encodeValue(InlineFileDeleteTableValue, {}));
    }
    for (const [name, { bytes }] of this.created) {
      const table = parseInlinedTable(name);
      if (table?.kind !== "data" || table.tableId !== tableId) continue;
      const key = inlineSchemaKey(tableId, table.schemaVersion);
      writes.put(key, encodeValue(InlineSchemaValue, { arrowSchema: bytes, sameAsVersion: undefined }));
      writes.delete(inlineSchemaDroppedKey(tableId, table.schemaVersion));
    }
    const records = await readSchemas(view, tableId);
    const ends = (version: bigint): boolean => this.#dropped.has(inlinedDataTable(tableId, version));
    if (draft.get("table", tableId) !== undefined) {
      for (const record of records) {
        if (!record.dropped && ends(record.version)) this.#deregister(tableId, record, records);
      }
      if (this.#dropped.has(inlinedDeleteTable(tableId))) await this.#removeFileDeletes(tableId);
      return;
    }
    if (this.#dropped.has(inlinedDeleteTable(tableId))) await this.#removeFileDeletes(tableId);
    const dropped = records.filter(({ version }) => ends(version));
    if (dropped.length === 0) return;
    if (records.every(({ version, dropped: gone }) => gone || ends(version))) {
      await this.#removeTable(tableId);
      return;
    }
    // After a flush DuckLake drops the empty ones that are not the newest, also of a table that old snapshots alone still show.
    for (const record of dropped) {
      await this.#refuseRows(tableId, record.version);
      if (!record.dropped) this.#deregister(tableId, record, records);
    }
  }

  /** Marks a version as dropped. Its schema becomes a reference where another version has the same one. */
  #deregister(tableId: bigint, record: SchemaRecord, records: readonly SchemaRecord[]): void {
    const { writes } = this.#staging;
    const { version, value } = record;
    writes.put(inlineSchemaDroppedKey(tableId, version), encodeValue(InlineSchemaDroppedValue, {}));
    if (value.sameAsVersion !== undefined || records.some((other) => other.value.sameAsVersion === version)) return;
    const created = [...this.created].flatMap(([name, { bytes }]): SchemaRecord[] => {
      const table = parseInlinedTable(name);
      if (table?.kind !== "data" || table.tableId !== tableId) return [];
      const made = { arrowSchema: bytes, sameAsVersion: undefined };
      return [{ version: table.schemaVersion, value: made, dropped: false }];
    });
    const twin = [...records, ...created].findLast(
      (other) =>
        other.version !== version &&
        !other.dropped &&
        !this.#dropped.has(inlinedDataTable(tableId, other.version)) &&
        other.value.sameAsVersion === undefined &&
        Buffer.compare(other.value.arrowSchema, value.arrowSchema) === 0,
    );
    if (twin === undefined) return;
    const reference = { arrowSchema: new Uint8Array(0), sameAsVersion: twin.version };
    writes.put(inlineSchemaKey(tableId, version), encodeValue(InlineSchemaValue, reference));
  }

  async #removeFileDeletes(tableId: bigint): Promise<void> {
    await this.#removeAll(inlineFileDeletePrefix(tableId));
    this.#staging.writes.delete(inlineFileDeleteTableKey(tableId));
  }

  async #removeTable(tableId: bigint): Promise<void> {
    for (const prefix of [
      inlineSchemaPrefix(tableId),
      inlineSchemaDroppedPrefix(tableId),
      inlineChunkPrefix(tableId),
      chunkLocatorPrefix(tableId),
      inlineRowTombstonePrefix(tableId),
    ]) {
      await this.#removeAll(prefix);
    }
  }

  async #removeAll(prefix: Uint8Array): Promise<void> {
    const { view, writes } = this.#staging;
    for await (const block of view.scan(rangeOfPrefix(prefix))) {
      for (let i = 0; i < block.count; i++) writes.delete(rowKey(block, i).slice());
    }
  }
}

async function readSchemas(view: ReadView, tableId: bigint): Promise<SchemaRecord[]> {
  const dropped = new Set<bigint>();
  for await (const block of view.scan(rangeOfPrefix(inlineSchemaDroppedPrefix(tableId)))) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace === "inline" && key.kind === "schema_dropped") dropped.add(key.schemaVersion);
    }
  }
  const records: SchemaRecord[] = [];
  for await (const block of view.scan(rangeOfPrefix(inlineSchemaPrefix(tableId)))) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace !== "inline" || key.kind !== "schema") continue;
      const value = decodeValue(InlineSchemaValue, rowValue(block, i).slice());
      records.push({ version: key.schemaVersion, value, dropped: dropped.has(key.schemaVersion) });
    }
  }
  return records;
}
