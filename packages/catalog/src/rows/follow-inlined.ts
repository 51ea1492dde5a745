import {
  type DataFileId,
  decodeKey,
  decodeValue,
  InlineChunkValue,
  InlineFileDeleteValue,
  inlineFileDeletePrefix,
  inlineSchemaDroppedKey,
  inlineSchemaKey,
  inlineSchemaPrefix,
  InlineSchemaValue,
  type SnapshotId,
} from "@moraine/codec";
import { packKeys, type ReadView, rowKey, valueAt } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";
import { chunkOf, type ChunkId, type InlineChunk, scanChunks } from "../inline/chunks.js";
import type { InlineRegistry } from "../inline/registry.js";
import type { ChangedRecords } from "./follow-changes.js";
import type { FollowOutput } from "./follow-output.js";
import { inlinedDataTable } from "./serve-cells.js";
import { inlinedDeleteColumns, inlinedDeleteTable, inlinedRowColumns, InlinedShapes } from "./serve-inlined.js";
import { ChunkRows, deletedFileRowSteps, inlinedDeleteRows, inlinedRows } from "./serve-inlined-rows.js";

/** The steps for tables of inlined rows and their rows. */
export async function followInlined(
  changed: ChangedRecords,
  registry: InlineRegistry,
  out: FollowOutput,
): Promise<void> {
  const follower = new InlinedFollower(changed, registry, out);
  await follower.dataTables();
  await follower.deleteTables();
  await follower.chunks();
  await follower.tombstones();
  await follower.fileDeletes();
}

interface DataTable {
  readonly tableId: bigint;
  readonly schemaVersion: bigint;
}

class InlinedFollower {
  readonly #changed: ChangedRecords;
  readonly #out: FollowOutput;
  readonly #shapes: InlinedShapes;
  /** Tables that go, or come with all their rows: what happened to single rows of theirs is told by that. */
  readonly #settled = new Set<string>();
  readonly #served = new Map<bigint, Promise<ReadonlySet<bigint>>>();

  constructor(changed: ChangedRecords, registry: InlineRegistry, out: FollowOutput) {
    this.#changed = changed;
    this.#out = out;
    const { after: state } = changed.landed;
    this.#shapes = new InlinedShapes({ state, view: changed.afterView, registry });
  }

  /** Tables that a schema record or its marker brought, took or changed. */
  async dataTables(): Promise<void> {
    const touched = new Map<string, DataTable>();
    for (const { key } of [...this.#changed.inline("schema"), ...this.#changed.inline("schema_dropped")])
      touched.set(inlinedDataTable(key.tableId, key.schemaVersion), key);
    for (const [name, table] of touched) {
      const was = await schemaOf(this.#changed.landed.beforeView, table);
      const is = await schemaOf(this.#changed.afterView, table);
      if (was !== undefined && is !== undefined && sameSchema(was, is)) continue;
      this.#settled.add(name);
      const { tableId, schemaVersion } = table;
      if (was !== undefined) {
        this.#out.drop(name);
        this.#out.delete("ducklake_inlined_data_tables", [
          ["table_id", tableId],
          ["schema_version", schemaVersion],
        ]);
      }
      if (is === undefined) continue;
      const shape = await this.#shapes.of(tableId, schemaVersion);
      this.#out.create({ kind: "create", table: name, columns: [...inlinedRowColumns, ...shape.columns] });
      this.#out.rows.add("ducklake_inlined_data_tables", table);
      for await (const step of inlinedRows(this.#changed.afterView, tableId, schemaVersion, shape))
        this.#out.addRows(step);
    }
  }

  /** Tables of deleted file rows that their marker brought or took. */
  async deleteTables(): Promise<void> {
    for (const { key, before, after } of this.#changed.inline("file_delete_table")) {
      if ((before === undefined) === (after === undefined)) continue;
      const name = inlinedDeleteTable(key.tableId);
      this.#settled.add(name);
      if (after === undefined) {
        this.#out.drop(name);
        continue;
      }
      this.#out.create({ kind: "create", table: name, columns: inlinedDeleteColumns });
      for await (const step of inlinedDeleteRows(this.#changed.afterView, key.tableId)) this.#out.addRows(step);
    }
  }

  async chunks(): Promise<void> {
    const byTable = new Map<string, { table: DataTable; gone: ChunkId[]; added: InlineChunk[] }>();
    for (const { key, before, after } of this.#changed.inline("chunk")) {
      const { tableId, schemaVersion } = key;
      const name = inlinedDataTable(tableId, schemaVersion);
      if (key.archived || this.#settled.has(name) || !(await this.#servedVersions(tableId)).has(schemaVersion))
        continue;
      const known = byTable.get(name) ?? { table: { tableId, schemaVersion }, gone: [], added: [] };
      byTable.set(name, known);
      if (before !== undefined || after === undefined) known.gone.push(key);
      if (after !== undefined) known.added.push(chunkOf(key, decodeValue(InlineChunkValue, after)));
    }
    for (const [name, { table, gone, added }] of byTable) {
      if (gone.length > 0) await this.#deleteChunks(name, table, gone);
      if (added.length === 0) continue;
      const rows = new ChunkRows(await this.#shapes.of(table.tableId, table.schemaVersion), new Map());
      for (const chunk of added.sort(byBegin)) {
        rows.add(chunk);
        if (rows.isFull) for (const batch of rows.take()) this.#out.addRows({ kind: "rows", table: name, batch });
      }
      for (const batch of rows.take()) this.#out.addRows({ kind: "rows", table: name, batch });
    }
  }

  /**
   * Takes the rows of chunks out: all rows of the table at once where nothing else was in it, as after most flushes, else by the
   * snapshots at which they began, else one by one.
   */
  async #deleteChunks(name: string, { tableId, schemaVersion }: DataTable, gone: readonly ChunkId[]): Promise<void> {
    const left = new Map<string, InlineChunk>();
    for await (const chunk of scanChunks(this.#changed.landed.beforeView, tableId, schemaVersion))
      left.set(chunkName(chunk), chunk);
    const drained: InlineChunk[] = [];
    for (const key of gone) {
      const chunk = left.get(chunkName(key));
      if (chunk === undefined) continue;
      left.delete(chunkName(key));
      drained.push(chunk);
    }
    if (left.size === 0) {
      if (drained.length > 0) this.#out.delete(name, []);
      return;
    }
    const stillBegun = new Set([...left.values()].map(({ beginSnapshot }) => beginSnapshot));
    const begins = new Set(drained.map(({ beginSnapshot }) => beginSnapshot));
    for (const begin of begins) if (!stillBegun.has(begin)) this.#out.delete(name, [["begin_snapshot", begin]]);
    for (const { beginSnapshot, rowIdStart, rowCount } of drained) {
      if (!stillBegun.has(beginSnapshot)) continue;
      for (let row = 0; row < rowCount; row++) {
        this.#out.delete(name, [
          ["row_id", rowIdStart + BigInt(row)],
          ["begin_snapshot", beginSnapshot],
        ]);
      }
    }
  }

  /** Which version of a row a tombstone ends follows from the rows themselves, so it is told to every table that may have it. */
  async tombstones(): Promise<void> {
    const added = this.#changed
      .inline("row_tombstone")
      .filter(({ before, after }) => before === undefined && after !== undefined)
      .map(({ key }) => key)
      .sort((a, b) => (a.endSnapshot < b.endSnapshot ? -1 : 1));
    for (const { tableId, rowId, endSnapshot } of added) {
      for (const version of await this.#servedVersions(tableId)) {
        const name = inlinedDataTable(tableId, version);
        if (!this.#settled.has(name)) this.#out.end(name, rowId, endSnapshot);
      }
    }
  }

  async fileDeletes(): Promise<void> {
    const gone = new Map<string, { tableId: bigint; dataFileId: bigint; positions: bigint[] }>();
    const added = new Map<bigint, { dataFileId: DataFileId; position: bigint; beginSnapshot: SnapshotId }[]>();
    for (const { key, before, after } of this.#changed.inline("file_delete")) {
      const { archived, tableId, dataFileId, position } = key;
      if (archived || this.#settled.has(inlinedDeleteTable(tableId))) continue;
      const was = before === undefined ? undefined : decodeValue(InlineFileDeleteValue, before).beginSnapshot;
      const is = after === undefined ? undefined : decodeValue(InlineFileDeleteValue, after).beginSnapshot;
      if (was === is) continue;
      if (was !== undefined) {
        const known = gone.get(`${tableId}/${dataFileId}`) ?? { tableId, dataFileId, positions: [] };
        gone.set(`${tableId}/${dataFileId}`, known);
        known.positions.push(position);
      }
      if (is === undefined) continue;
      const rows = added.get(tableId) ?? [];
      added.set(tableId, rows);
      rows.push({ dataFileId: dataFileId as DataFileId, position, beginSnapshot: is as SnapshotId });
    }
    for (const { tableId, dataFileId, positions } of gone.values())
      await this.#deleteFileRows(tableId, dataFileId, positions);
    for (const [tableId, rows] of added) for (const step of deletedFileRowSteps(tableId, rows)) this.#out.addRows(step);
  }

  /** Most files lose all their rows here at once: they have got a delete file, or are gone themselves. */
  async #deleteFileRows(tableId: bigint, dataFileId: bigint, positions: readonly bigint[]): Promise<void> {
    let known = 0;
    const range = rangeOfPrefix(inlineFileDeletePrefix(tableId, dataFileId));
    for await (const block of this.#changed.landed.beforeView.scan(range)) known += block.count;
    const table = inlinedDeleteTable(tableId);
    if (known === positions.length) {
      this.#out.delete(table, [["file_id", dataFileId]]);
      return;
    }
    for (const position of positions) {
      this.#out.delete(table, [
        ["file_id", dataFileId],
        ["row_id", position],
      ]);
    }
  }

  /** The schema versions of a table that have a table of inlined rows after the commits. */
  #servedVersions(tableId: bigint): Promise<ReadonlySet<bigint>> {
    const known = this.#served.get(tableId);
    if (known !== undefined) return known;
    const versions = readServedVersions(this.#changed.afterView, tableId);
    this.#served.set(tableId, versions);
    return versions;
  }
}

function chunkName({ beginSnapshot, chunkSeq }: ChunkId): string {
  return `${beginSnapshot}/${chunkSeq}`;
}

function byBegin(a: InlineChunk, b: InlineChunk): number {
  if (a.beginSnapshot !== b.beginSnapshot) return a.beginSnapshot < b.beginSnapshot ? -1 : 1;
  return a.chunkSeq < b.chunkSeq ? -1 : 1;
}

/** The schema record of a table of inlined rows; `undefined` where there is no such table. */
async function schemaOf(view: ReadView, { tableId, schemaVersion }: DataTable): Promise<InlineSchemaValue | undefined> {
  const keys = [inlineSchemaKey(tableId, schemaVersion), inlineSchemaDroppedKey(tableId, schemaVersion)];
  const values = await view.getMany(packKeys(keys));
  const schema = valueAt(values, 0);
  if (schema === undefined || valueAt(values, 1) !== undefined) return undefined;
  return decodeValue(InlineSchemaValue, schema);
}

/** A record that refers to another version has the schema that it had: it is only ever put in the place of equal bytes. */
function sameSchema(a: InlineSchemaValue, b: InlineSchemaValue): boolean {
  if (a.sameAsVersion !== undefined || b.sameAsVersion !== undefined) return true;
  return Buffer.compare(a.arrowSchema, b.arrowSchema) === 0;
}

async function readServedVersions(view: ReadView, tableId: bigint): Promise<ReadonlySet<bigint>> {
  const versions: bigint[] = [];
  for await (const block of view.scan(rangeOfPrefix(inlineSchemaPrefix(tableId)))) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace === "inline" && key.kind === "schema") versions.push(key.schemaVersion);
    }
  }
  const dropped = await view.getMany(packKeys(versions.map((version) => inlineSchemaDroppedKey(tableId, version))));
  return new Set(versions.filter((_, at) => valueAt(dropped, at) === undefined));
}
