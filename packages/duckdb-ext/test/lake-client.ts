import {
  type MetadataTable,
  metadataTables,
  type RowBatch,
  type RowChanges,
  type TableChanges,
} from "@moraine/catalog";
import { type Message, type MessageOf, ServiceClient } from "../src/index.js";
import { column, type TestValue } from "./support/columns.js";

/** A request that the service refused. */
export class Refused extends Error {
  readonly failed: MessageOf<"failed">;

  constructor(failed: MessageOf<"failed">) {
    super(failed.message);
    this.failed = failed;
  }
}

/** What a `Follow` brought. */
export interface Followed {
  readonly kind: "unchanged" | "changes" | "full";
  readonly revision: bigint | undefined;
  readonly statements: readonly string[];
  readonly rows: readonly { readonly table: string; readonly batch: RowBatch }[];
}

interface Position {
  readonly snapshot: bigint;
  readonly schemaVersion: bigint;
  readonly nextCatalogId: bigint;
  readonly nextFileId: bigint;
}

const uuid = (n: bigint): Uint8Array => Buffer.from(`5eed0000000040008000${n.toString(16).padStart(12, "0")}`, "hex");
const time = (snapshot: bigint): bigint => 1_700_000_000_000_000n + snapshot;

/** Does to a service what the shim does, for a lake whose tables are all made by clients like it. */
export class LakeClient {
  readonly wire: ServiceClient;
  attachment = 0n;
  exists = false;
  /** Where its copy of the metadata tables stands. */
  revision: bigint | undefined;
  /** Of the head, as the copy has it. */
  position: Position = { snapshot: 0n, schemaVersion: 0n, nextCatalogId: 1n, nextFileId: 0n };

  readonly #inlinedTables = new Map<bigint, string>();

  private constructor(wire: ServiceClient) {
    this.wire = wire;
  }

  static async connect(socket: string): Promise<LakeClient> {
    return new LakeClient(await ServiceClient.connect(socket, "test"));
  }

  static async attach(socket: string, store: string, more: Partial<MessageOf<"attach">> = {}): Promise<LakeClient> {
    const client = await LakeClient.connect(socket);
    const attached = await client.ask("attached", {
      type: "attach",
      store,
      cwd: process.cwd(),
      lake: "lake",
      readOnly: false,
      options: new Map(),
      storeSecret: new Map(),
      dataSecret: new Map(),
      ...more,
    });
    client.attachment = attached.attachment;
    client.exists = attached.exists;
    return client;
  }

  /** Sends a request and gives its answer, which has to be of this kind. A refusal is thrown. */
  async ask<Name extends Message["type"]>(expected: Name, request: Message): Promise<MessageOf<Name>> {
    const answer = await this.wire.request(request);
    if (answer.type === "failed") throw new Refused(answer);
    if (answer.type !== expected) throw new Error(`a ${answer.type} came in place of a ${expected}`);
    return answer as MessageOf<Name>;
  }

  async follow({
    retry = false,
    mayBeOlder = false,
    oldestInUse = undefined as bigint | undefined,
  } = {}): Promise<Followed> {
    const { attachment, revision } = this;
    const flags = { retry, mayBeOlder };
    const first = await this.wire.request({ type: "follow", attachment, revision, oldestInUse, flags });
    if (first.type === "failed") throw new Refused(first);
    if (first.type === "unchanged") return { kind: "unchanged", revision, statements: [], rows: [] };
    if (first.type !== "changes_begin") throw new Error(`a ${first.type} came in place of changes`);
    const statements: string[] = [];
    const rows: { table: string; batch: RowBatch }[] = [];
    for (let next = await this.wire.receive(); ; next = await this.wire.receive()) {
      if (next.type === "statements") statements.push(next.sql);
      else if (next.type === "rows") rows.push({ table: next.table, batch: next.batch });
      else if (next.type === "changes_end") {
        this.revision = next.revision;
        this.#moveOn(rows);
        return { kind: first.full ? "full" : "changes", revision: next.revision, statements, rows };
      } else throw new Error(`a ${next.type} came among changes`);
    }
  }

  async commit(changes: RowChanges, { base = this.revision, mayHaveLanded = false } = {}): Promise<bigint> {
    const { attachment } = this;
    const { revision } = await this.ask("committed", {
      type: "commit",
      attachment,
      base,
      flags: { mayHaveLanded },
      changes,
    });
    this.revision = revision;
    return revision;
  }

  /** The transaction by which DuckLake makes a lake. */
  genesis(dataPath: string): RowChanges {
    const { snapshot, schemaVersion, nextCatalogId, nextFileId } = this.position;
    return {
      ddl: Object.entries(metadataTables).map(([name, columns]) => ({
        kind: "create_table",
        schema: "main",
        name,
        columns: columns.map((one) => ({ name: one.name, type: one.type })),
        sql: `CREATE TABLE ${name}`,
      })),
      tables: [
        inserted(
          "ducklake_metadata",
          ["version", "1.0"],
          ["created_by", "DuckDB test"],
          ["data_path", dataPath],
          ["encrypted", "false"],
        ),
        inserted("ducklake_snapshot", [snapshot, time(snapshot), schemaVersion, nextCatalogId, nextFileId]),
        inserted("ducklake_snapshot_changes", [snapshot, 'created_schema:"main"']),
        inserted("ducklake_schema", [0n, uuid(0n), 0n, null, "main", "main/", true]),
      ],
    };
  }

  async create(dataPath: string): Promise<void> {
    await this.commit(this.genesis(dataPath), { base: undefined });
  }

  /** The transaction that makes a table of one BIGINT column `id` and a VARCHAR column `name`. */
  createTable(table: string): { readonly id: bigint; readonly changes: RowChanges } {
    const { nextCatalogId: id, schemaVersion } = this.position;
    const snapshot = this.position.snapshot + 1n;
    this.position = { ...this.position, snapshot, schemaVersion: schemaVersion + 1n, nextCatalogId: id + 1n };
    const ofColumn = (at: bigint, name: string, type: string): readonly TestValue[] => [
      at,
      snapshot,
      null,
      id,
      at,
      name,
      type,
      null,
      "NULL",
      true,
      null,
      "literal",
      "duckdb",
    ];
    return {
      id,
      changes: {
        ddl: [],
        tables: [
          ...this.#snapshotRows(`created_table:"main"."${table}"`),
          inserted("ducklake_table", [id, uuid(id), snapshot, null, 0n, table, `${table}/`, true]),
          inserted("ducklake_column", ofColumn(1n, "id", "int64"), ofColumn(2n, "name", "varchar")),
          inserted("ducklake_schema_versions", [snapshot, schemaVersion + 1n, id]),
        ],
      },
    };
  }

  /** The transaction that inserts inlined rows. The first one of a table makes the table of them. */
  insertInlined(
    table: bigint,
    firstRowId: bigint,
    rows: readonly (readonly [id: bigint | null, name: string])[],
  ): RowChanges {
    const { schemaVersion } = this.position;
    const snapshot = this.position.snapshot + 1n;
    this.position = { ...this.position, snapshot };
    // One table of inlined rows serves until the columns change, which they never do here.
    if (firstRowId === 0n) this.#inlinedTables.set(table, `ducklake_inlined_data_${table}_${schemaVersion}`);
    const name = this.#inlinedTables.get(table) ?? "";
    const columns = ["row_id", "begin_snapshot", "end_snapshot", "id", "name"];
    const types = ["BIGINT", "BIGINT", "BIGINT", "BIGINT", "VARCHAR"];
    const isFirst = firstRowId === 0n;
    const values = rows.map((row, at): readonly TestValue[] => [firstRowId + BigInt(at), snapshot, null, ...row]);
    const next = firstRowId + BigInt(rows.length);
    const stats: TableChanges = isFirst
      ? inserted("ducklake_table_stats", [table, next, next, 0n])
      : {
          ...inserted("ducklake_table_stats"),
          before: [batchOf("ducklake_table_stats", [table, firstRowId, firstRowId, 0n])],
          after: [batchOf("ducklake_table_stats", [table, next, next, 0n])],
        };
    return {
      ddl: isFirst
        ? [
            {
              kind: "create_table",
              schema: "main",
              name,
              columns: columns.map((one, at) => ({ name: one, type: types[at] ?? "" })),
              sql: `CREATE TABLE ${name}`,
            },
          ]
        : [],
      tables: [
        ...this.#snapshotRows(`inlined_insert:${table}`),
        ...(isFirst ? [inserted("ducklake_inlined_data_tables", [table, name, schemaVersion])] : []),
        stats,
        {
          schema: "main",
          name,
          columns,
          deleted: [],
          before: [],
          after: [],
          inserted: [
            {
              rows: rows.length,
              columns: types.map((type, at) =>
                column(
                  type,
                  values.map((row) => row[at] ?? null),
                ),
              ),
            },
          ],
        },
      ],
    };
  }

  #snapshotRows(made: string): TableChanges[] {
    const { snapshot, schemaVersion, nextCatalogId, nextFileId } = this.position;
    return [
      inserted("ducklake_snapshot", [snapshot, time(snapshot), schemaVersion, nextCatalogId, nextFileId]),
      inserted("ducklake_snapshot_changes", [snapshot, made]),
    ];
  }

  /** The newest snapshot among rows that have come. */
  #moveOn(rows: Followed["rows"]): void {
    for (const { table, batch } of rows) {
      if (table !== "ducklake_snapshot") continue;
      const last = batch.rows - 1;
      const at = (name: string): bigint => {
        const { values } = batch.columns[metadataTables.ducklake_snapshot.findIndex((one) => one.name === name)]!;
        return new DataView(values!.buffer, values!.byteOffset).getBigInt64(last * 8, true);
      };
      this.position = {
        snapshot: at("snapshot_id"),
        schemaVersion: at("schema_version"),
        nextCatalogId: at("next_catalog_id"),
        nextFileId: at("next_file_id"),
      };
    }
  }
}

function inserted(table: MetadataTable, ...rows: readonly (readonly TestValue[])[]): TableChanges {
  return {
    schema: "main",
    name: table,
    columns: metadataTables[table].map(({ name }) => name),
    deleted: [],
    before: [],
    after: [],
    inserted: rows.length === 0 ? [] : [batchOf(table, ...rows)],
  };
}

/** Values that are missing at the end of a row are NULL. */
function batchOf(table: MetadataTable, ...rows: readonly (readonly TestValue[])[]): RowBatch {
  return {
    rows: rows.length,
    columns: metadataTables[table].map(({ type }, at) =>
      column(
        type,
        rows.map((row) => row[at] ?? null),
      ),
    ),
  };
}

/** A column of 64-bit integers as values. */
export function integers(batch: RowBatch, at: number): (bigint | null)[] {
  const { values, validity, rows } = batch.columns[at]!;
  const view = new DataView(values!.buffer, values!.byteOffset);
  return Array.from({ length: rows }, (_, row) =>
    validity === undefined || ((validity[row >> 3]! >> (row & 7)) & 1) === 1 ? view.getBigInt64(row * 8, true) : null,
  );
}
