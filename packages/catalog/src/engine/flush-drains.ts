import { CommitConflictError, ConstraintError, type EntityValue } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { TableFiles } from "../index/table-files.js";
import type { IndexUpkeep } from "../index/upkeep.js";
import { endOf, type InlineChunk, readTombstones, scanChunks, type Tombstones } from "../inline/chunks.js";
import { stageDrain } from "../inline/staging.js";
import type { CommitDraft, FlushOp } from "../operations.js";
import type { WriteSet } from "./pending-writes.js";
import type { RowDeletes } from "./row-deletes.js";

type DataFile = EntityValue["data_file"];

interface Drain {
  readonly tableId: bigint;
  readonly chunks: readonly InlineChunk[];
  readonly tombstones: Tombstones;
}

function foreignRows(op: FlushOp, lost: bigint, foreign: bigint): ConstraintError {
  return new ConstraintError(
    `the flush of table ${op.tableId} drains ${lost} live rows whose ids its files do not hold, and the files have ${foreign} ids of other rows or repeated ones`,
    {
      remedy:
        "Write rows of consecutive ids in their order, or their own ids into the files as DuckLake does, with the field id of its row id column.",
    },
  );
}

/** The chunks that one commit's flushes drain. */
export class FlushDrains {
  readonly #draft: CommitDraft;
  readonly #upkeep: IndexUpkeep;
  readonly #dataFiles: TableFiles | undefined;
  readonly #drains: Drain[] = [];

  constructor(draft: CommitDraft, upkeep: IndexUpkeep, dataFiles: TableFiles | undefined) {
    this.#draft = draft;
    this.#upkeep = upkeep;
    this.#dataFiles = dataFiles;
  }

  async read(view: ReadView, op: FlushOp): Promise<void> {
    const tombstones = await readTombstones(view, op.tableId);
    const through = op.throughSnapshot ?? this.#draft.base.head.snapshotId;
    const chunks: InlineChunk[] = [];
    const drained = new Set<bigint>();
    const live = new Set<bigint>();
    for await (const chunk of scanChunks(view, op.tableId)) {
      if (chunk.schemaVersion !== op.schemaVersion || chunk.beginSnapshot > through) continue;
      chunks.push(chunk);
      for (let offset = 0; offset < chunk.rowCount; offset++) {
        const rowId = chunk.rowIdStart + BigInt(offset);
        drained.add(rowId);
        const end = endOf(tombstones, rowId, chunk.beginSnapshot);
        if (end === undefined) live.add(rowId);
        else if (end > through) {
          throw new CommitConflictError(
            `rows of table ${op.tableId} were deleted after snapshot ${through}, at which they were read to be flushed`,
          );
        }
      }
    }
    const files = this.#filesOf(op);
    this.#checkCounts(op, files, BigInt(live.size));
    await this.#checkRowIds(op, files, drained, live);
    this.#drains.push({ tableId: op.tableId, chunks, tombstones });
  }

  /** A flush must not lose rows; on a table with indexes it must not bring dead ones back either, as they have no entries. */
  #checkCounts(op: FlushOp, files: readonly DataFile[], live: bigint): void {
    const records = files.reduce((sum, { recordCount }) => sum + recordCount, 0n);
    if (records > live && op.throughSnapshot !== undefined) {
      throw new CommitConflictError(
        `rows of table ${op.tableId} were flushed by another commit after they had been read`,
      );
    }
    const hasIndexes = this.#upkeep.of(op.tableId).length > 0;
    if (hasIndexes && records > 0n && op.throughSnapshot === undefined) {
      throw new ConstraintError(`table ${op.tableId} has indexes, and the flush does not say when its rows were read`, {
        remedy: "Pass throughSnapshot: the snapshot at which the rows were read that the files hold.",
      });
    }
    if (records < live || (hasIndexes && records > live)) {
      throw new ConstraintError(
        `the flush drains ${live} live rows of table ${op.tableId}, and its files hold ${records}`,
        { remedy: "Write every live row of the drained chunks to the files, and no other." },
      );
    }
  }

  /**
   * The files must hold exactly the drained rows under their ids: those that a file embeds, else those that its first one
   * opens, as readers will take them. A table without indexes may have rows in them that are dead by now. A lake without
   * access to its data files takes the caller's word for it.
   */
  async #checkRowIds(
    op: FlushOp,
    files: readonly DataFile[],
    drained: ReadonlySet<bigint>,
    live: ReadonlySet<bigint>,
  ): Promise<void> {
    if (this.#dataFiles === undefined) return;
    const held = new Set<bigint>();
    let rows = 0;
    const records = files.reduce((sum, { recordCount }) => sum + recordCount, 0n);
    if (records > BigInt(drained.size)) throw foreignRows(op, 0n, records - BigInt(drained.size));
    for (const file of files) {
      for (const rowId of await this.#rowIdsOf(this.#dataFiles, file)) {
        rows += 1;
        if (drained.has(rowId)) held.add(rowId);
      }
    }
    const lost = [...live].reduce((count, rowId) => (held.has(rowId) ? count : count + 1), 0);
    if (lost === 0 && held.size === rows) return;
    throw foreignRows(op, BigInt(lost), BigInt(rows - held.size));
  }

  async #rowIdsOf(dataFiles: TableFiles, file: DataFile): Promise<Iterable<bigint>> {
    if (file.recordCount === 0n) return [];
    if (await dataFiles.embedsRowIds(this.#draft, file)) return await dataFiles.rowIds(this.#draft, file);
    const start = file.rowIdStart ?? 0n;
    return Array.from({ length: Number(file.recordCount) }, (_, position) => start + BigInt(position));
  }

  #filesOf(op: FlushOp): DataFile[] {
    return op.dataFileIds.flatMap((dataFileId) => this.#draft.get("data_file", op.tableId, dataFileId) ?? []);
  }

  stage(deletes: RowDeletes | undefined, writes: WriteSet): void {
    for (const { tableId, chunks, tombstones } of this.#drains) {
      deletes?.refuseDrained(tableId, chunks);
      for (const chunk of chunks) stageDrain(tableId, chunk, tombstones, writes);
    }
  }
}
