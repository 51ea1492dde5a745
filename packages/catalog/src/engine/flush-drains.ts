import { CommitConflictError, ConstraintError, type EntityValue } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { TableFiles } from "../index/table-files.js";
import type { IndexUpkeep } from "../index/upkeep.js";
import { endOf, type InlineChunk, readTombstones, scanChunks, type Tombstones } from "../inline/chunks.js";
import { stageDrain } from "../inline/staging.js";
import { quoted } from "../model/error-text.js";
import type { CommitDraft, FlushOp } from "../operations.js";
import type { WriteSet } from "./pending-writes.js";
import type { RowDeletes } from "./row-deletes.js";

type DataFile = EntityValue["data_file"];

interface Drain {
  readonly tableId: bigint;
  readonly chunks: readonly InlineChunk[];
  readonly tombstones: Tombstones;
}

/** Whether the rows are exactly those that the files' first row ids and record counts name. */
function areDense(files: readonly DataFile[], live: bigint[]): boolean {
  const ids = live.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  let at = 0;
  const byStart = files.toSorted((a, b) => ((a.rowIdStart ?? 0n) < (b.rowIdStart ?? 0n) ? -1 : 1));
  for (const { rowIdStart, recordCount } of byStart) {
    const last = at + Number(recordCount) - 1;
    // Row ids are distinct: a run whose ends fit has no gap.
    if (recordCount > 0n && (ids[at] !== rowIdStart || ids[last] !== (rowIdStart ?? 0n) + recordCount - 1n))
      return false;
    at = last + 1;
  }
  return true;
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
    const live: bigint[] = [];
    for await (const chunk of scanChunks(view, op.tableId)) {
      if (chunk.schemaVersion !== op.schemaVersion || chunk.beginSnapshot > through) continue;
      chunks.push(chunk);
      for (let offset = 0; offset < chunk.rowCount; offset++) {
        const rowId = chunk.rowIdStart + BigInt(offset);
        const end = endOf(tombstones, rowId, chunk.beginSnapshot);
        if (end === undefined) live.push(rowId);
        else if (end > through) {
          throw new CommitConflictError(
            `rows of table ${op.tableId} were deleted after snapshot ${through}, at which they were read to be flushed`,
          );
        }
      }
    }
    const files = this.#filesOf(op);
    this.#checkCounts(op, files, BigInt(live.length));
    await this.#checkRowIds(files, live);
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
   * Rows whose ids do not follow one another keep them only in files that embed them. A lake without access to its data
   * files takes the caller's word for it.
   */
  async #checkRowIds(files: readonly DataFile[], live: bigint[]): Promise<void> {
    if (this.#dataFiles === undefined || areDense(files, live)) return;
    for (const file of files) {
      if (await this.#dataFiles.embedsRowIds(this.#draft, file)) continue;
      throw new ConstraintError(
        `data file ${quoted(file.path)} does not embed row ids, and the rows that the flush drains do not have consecutive ones`,
        { remedy: "Write the ids of the rows into the file as DuckLake does, with the field id of its row id column." },
      );
    }
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
