import { CommitConflictError, ConstraintError } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { IndexUpkeep } from "../index/upkeep.js";
import { endOf, type InlineChunk, readTombstones, scanChunks, type Tombstones } from "../inline/chunks.js";
import { stageDrain } from "../inline/staging.js";
import type { CommitDraft, FlushOp } from "../operations.js";
import type { WriteSet } from "./pending-writes.js";
import type { RowDeletes } from "./row-deletes.js";

interface Drain {
  readonly tableId: bigint;
  readonly chunks: readonly InlineChunk[];
  readonly tombstones: Tombstones;
}

/** The chunks that one commit's flushes drain. */
export class FlushDrains {
  readonly #draft: CommitDraft;
  readonly #upkeep: IndexUpkeep;
  readonly #drains: Drain[] = [];

  constructor(draft: CommitDraft, upkeep: IndexUpkeep) {
    this.#draft = draft;
    this.#upkeep = upkeep;
  }

  async read(view: ReadView, op: FlushOp): Promise<void> {
    const tombstones = await readTombstones(view, op.tableId);
    const through = op.throughSnapshot ?? this.#draft.base.head.snapshotId;
    const chunks: InlineChunk[] = [];
    let live = 0n;
    for await (const chunk of scanChunks(view, op.tableId)) {
      if (chunk.schemaVersion !== op.schemaVersion || chunk.beginSnapshot > through) continue;
      chunks.push(chunk);
      for (let offset = 0; offset < chunk.rowCount; offset++) {
        const end = endOf(tombstones, chunk.rowIdStart + BigInt(offset), chunk.beginSnapshot);
        if (end === undefined) live += 1n;
        else if (end > through) {
          throw new CommitConflictError(
            `rows of table ${op.tableId} were deleted after snapshot ${through}, at which they were read to be flushed`,
          );
        }
      }
    }
    this.#checkFiles(op, live);
    this.#drains.push({ tableId: op.tableId, chunks, tombstones });
  }

  /** A flush must not lose rows; on a table with indexes it must not bring dead ones back either, as they have no entries. */
  #checkFiles(op: FlushOp, live: bigint): void {
    const records = op.dataFileIds.reduce(
      (sum, dataFileId) => sum + (this.#draft.get("data_file", op.tableId, dataFileId)?.recordCount ?? 0n),
      0n,
    );
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

  stage(deletes: RowDeletes | undefined, writes: WriteSet): void {
    for (const { tableId, chunks, tombstones } of this.#drains) {
      deletes?.refuseDrained(tableId, chunks);
      for (const chunk of chunks) stageDrain(tableId, chunk, tombstones, writes);
    }
  }
}
