import {
  CorruptionError,
  decodeKey,
  decodeValue,
  InlineSchemaValue,
  inlineSchemaKey,
  inlineSchemaPrefix,
  schemaVersionPrefix,
  SchemaVersionValue,
  UnsupportedError,
} from "@moraine/codec";
import { getOne, type ReadView, rowKey, rowValue } from "@moraine/store";
import { inlineSchemaCacheEntries } from "../engine/limits.js";
import { rangeOfPrefix } from "../engine/load-state.js";
import { type InlineSchema, parseSchema } from "./arrow-schema.js";

/** The recorded Arrow schema of one (table, schema version), as bytes and parsed. */
export interface RegisteredSchema {
  readonly bytes: Uint8Array;
  readonly parsed: InlineSchema;
}

/** What holds about inline rows once a commit has landed. */
export interface InlineFacts {
  readonly versions: readonly (readonly [tableId: bigint, schemaVersion: bigint])[];
  readonly schemas: readonly (readonly [tableId: bigint, schemaVersion: bigint, schema: RegisteredSchema])[];
}

export const noFacts: InlineFacts = { versions: [], schemas: [] };

/**
 * Remembers, for the tables that take inline rows, the table's schema version and the Arrow schemas recorded for it, so
 * that a small insert reads nothing. `undefined` from a `known` method means "not remembered", `null` "not recorded".
 */
export class InlineRegistry {
  readonly #parent: InlineRegistry | undefined;
  readonly #versions = new Map<bigint, bigint>();
  readonly #schemas = new Map<bigint, Map<bigint, RegisteredSchema | null>>();

  constructor(parent?: InlineRegistry) {
    this.#parent = parent;
  }

  /** A registry that knows what this one knows, and whose own notes nobody else sees: for commits that may not land. */
  fork(): InlineRegistry {
    return new InlineRegistry(this);
  }

  knownVersion(tableId: bigint): bigint | undefined {
    return this.#versions.get(tableId) ?? this.#parent?.knownVersion(tableId);
  }

  knownSchema(tableId: bigint, schemaVersion: bigint): RegisteredSchema | null | undefined {
    const own = this.#schemas.get(tableId)?.get(schemaVersion);
    return own === undefined ? this.#parent?.knownSchema(tableId, schemaVersion) : own;
  }

  /** Takes over what a commit will have made true. */
  note(facts: InlineFacts): void {
    for (const [tableId, version] of facts.versions) this.noteVersion(tableId, version);
    for (const [tableId, version, schema] of facts.schemas) this.noteSchema(tableId, version, schema);
  }

  noteVersion(tableId: bigint, schemaVersion: bigint): void {
    this.#bound(this.#versions);
    this.#versions.set(tableId, schemaVersion);
  }

  noteSchema(tableId: bigint, schemaVersion: bigint, schema: RegisteredSchema | null): void {
    this.#bound(this.#schemas);
    const ofTable = this.#schemas.get(tableId) ?? new Map<bigint, RegisteredSchema | null>();
    ofTable.set(schemaVersion, schema);
    this.#schemas.set(tableId, ofTable);
  }

  /** Drops what is remembered of a table: a commit that was counted on did not land. */
  forget(tableId: bigint): void {
    this.#versions.delete(tableId);
    this.#schemas.delete(tableId);
  }

  /**
   * The table's schema version: the newest that is recorded for it, or under which rows of it are inlined. DuckLake may raise the
   * version for inlined rows alone, and drops an inlined table as soon as there is a newer one.
   */
  async version(view: ReadView, tableId: bigint, fallback: bigint): Promise<bigint> {
    const known = this.knownVersion(tableId);
    if (known !== undefined) return known;
    let version = fallback;
    for await (const block of view.scan(rangeOfPrefix(schemaVersionPrefix(tableId)), { reverse: true, limit: 1 })) {
      if (block.count > 0) version = decodeValue(SchemaVersionValue, rowValue(block, 0)).schemaVersion;
    }
    for await (const block of view.scan(rangeOfPrefix(inlineSchemaPrefix(tableId)), { reverse: true, limit: 1 })) {
      if (block.count === 0) continue;
      const key = decodeKey(rowKey(block, 0));
      if (key.subspace === "inline" && key.kind === "schema" && key.schemaVersion > version)
        version = key.schemaVersion;
    }
    // A commit that was staged while this read went on knows better.
    const newer = this.knownVersion(tableId);
    if (newer !== undefined) return newer;
    this.noteVersion(tableId, version);
    return version;
  }

  /** The schema recorded for a version, following the one reference that a record may hold. */
  async schema(view: ReadView, tableId: bigint, schemaVersion: bigint): Promise<RegisteredSchema | null> {
    const known = this.knownSchema(tableId, schemaVersion);
    if (known !== undefined) return known;
    let record = await readSchemaRecord(view, tableId, schemaVersion);
    if (record?.sameAsVersion !== undefined) {
      record = await readSchemaRecord(view, tableId, record.sameAsVersion);
      if (record === undefined || record.sameAsVersion !== undefined) {
        throw new CorruptionError(
          `the inline schema of table ${tableId}, version ${schemaVersion} refers to one that holds no bytes`,
        );
      }
    }
    const schema = record === undefined ? null : { bytes: record.arrowSchema, parsed: parseStored(record.arrowSchema) };
    const newer = this.knownSchema(tableId, schemaVersion);
    if (newer !== undefined) return newer;
    this.noteSchema(tableId, schemaVersion, schema);
    return schema;
  }

  #bound(map: Map<bigint, unknown>): void {
    if (map.size < inlineSchemaCacheEntries) return;
    const oldest = map.keys().next();
    if (oldest.done !== true) map.delete(oldest.value);
  }
}

/** Parses a schema that somebody has recorded: nobody records one that no chunk can have. */
function parseStored(bytes: Uint8Array): InlineSchema {
  try {
    return parseSchema(bytes);
  } catch (cause) {
    if (!(cause instanceof UnsupportedError)) throw cause;
    throw new CorruptionError("an inline schema record describes columns that no chunk can have", {
      remedy: "Restore the store: chunks of this schema version cannot be read.",
      cause,
    });
  }
}

async function readSchemaRecord(
  view: ReadView,
  tableId: bigint,
  schemaVersion: bigint,
): Promise<InlineSchemaValue | undefined> {
  const bytes = await getOne(view, inlineSchemaKey(tableId, schemaVersion));
  return bytes === undefined ? undefined : decodeValue(InlineSchemaValue, bytes);
}
