import { ConstraintError, NotFoundError } from "@moraine/codec";
import type { EntryBuilder } from "../index/entry-builder.js";
import type { FileUpkeep } from "../index/file-upkeep.js";
import { locateRow } from "../index/locate-row.js";
import type { TableFiles } from "../index/table-files.js";
import { IndexUpkeep } from "../index/upkeep.js";
import { findLiveRow, type InlineChunk, sameChunk } from "../inline/chunks.js";
import { denseRowIds } from "../inline/decode.js";
import type { RowReader } from "../inline/row-reader.js";
import { stageFileRowDeletes, stageTombstone } from "../inline/staging.js";
import type { CommitDraft, DeleteRowOp } from "../operations.js";
import type { WriteSet } from "./pending-writes.js";
import type { ReadView } from "@moraine/store";

/** Rows of one commit that die one by one: where each of them is, and what its death writes. */
export class RowDeletes {
  readonly #draft: CommitDraft;
  readonly #upkeep: IndexUpkeep;
  readonly #rows: RowReader;
  readonly #files: TableFiles | undefined;
  /** The chunk of each row that is inline. */
  readonly #inline = new Map<DeleteRowOp, InlineChunk>();
  /** Positions of rows that stand in data files, by table and file. */
  readonly #inFiles = new Map<bigint, Map<bigint, Set<number>>>();

  constructor(draft: CommitDraft, upkeep: IndexUpkeep, rows: RowReader, files: TableFiles | undefined) {
    this.#draft = draft;
    this.#upkeep = upkeep;
    this.#rows = rows;
    this.#files = files;
  }

  /** Finds a row and takes its entries out. */
  async read(view: ReadView, op: DeleteRowOp): Promise<void> {
    const live = await findLiveRow(view, op.tableId, op.rowId);
    if (live === undefined) {
      await this.#readFromFile(view, op);
      return;
    }
    this.#inline.set(op, live.chunk);
    const builders = this.#standing(op.tableId);
    if (builders.length === 0) return;
    const vectors = await this.#rows.columns(op.tableId, live.chunk, IndexUpkeep.columnsOf(builders));
    const rowIds = denseRowIds(live.chunk.rowIdStart, live.chunk.rowCount);
    for (const builder of builders) builder.removeRows(vectors, rowIds, Uint32Array.of(live.offset));
  }

  /** Positions that this commit deletes in a file beside its delete files. */
  positionsIn(tableId: bigint, dataFileId: bigint): ReadonlySet<number> {
    return this.#inFiles.get(tableId)?.get(dataFileId) ?? noPositions;
  }

  /** Takes the entries of rows in files out. */
  async removeFileEntries(upkeep: FileUpkeep): Promise<void> {
    for (const [tableId, files] of this.#inFiles) {
      for (const [dataFileId, positions] of files) await upkeep.removeRows(tableId, dataFileId, positions);
    }
  }

  /** Refuses a row that the same commit moves to a file: the file was written with it. */
  refuseDrained(tableId: bigint, drained: readonly InlineChunk[]): void {
    for (const [op, chunk] of this.#inline) {
      if (op.tableId === tableId && drained.some((candidate) => sameChunk(candidate, chunk))) {
        throw new ConstraintError(`row ${op.rowId} is deleted by the commit that flushes it`, {
          remedy: "Delete the row in a commit of its own, before or after the flush.",
        });
      }
    }
  }

  stage(snapshotId: bigint, writes: WriteSet): void {
    for (const op of this.#inline.keys()) stageTombstone(op.tableId, op.rowId, snapshotId, writes);
    for (const [tableId, files] of this.#inFiles) stageFileRowDeletes(tableId, files, snapshotId, writes);
  }

  async #readFromFile(view: ReadView, op: DeleteRowOp): Promise<void> {
    // The row is looked for as it stood before this commit: other verbs of the commit may end it as well.
    const { base } = this.#draft;
    const located =
      this.#files === undefined ? undefined : await locateRow(this.#files, base, view, op.tableId, op.rowId);
    if (located === undefined) {
      throw new NotFoundError(`row ${op.rowId} of table ${op.tableId} is not live`, {
        remedy:
          this.#files === undefined
            ? "Open the catalog with dataPath, so that rows of data files can be found."
            : "Read the table again: the row has ended, or it stands in a file that this very commit registers.",
      });
    }
    const { file, position } = located;
    if (this.#draft.get("data_file", op.tableId, file.dataFileId) === undefined) return;
    const files = this.#inFiles.get(op.tableId) ?? new Map<bigint, Set<number>>();
    this.#inFiles.set(op.tableId, files);
    files.set(file.dataFileId, (files.get(file.dataFileId) ?? new Set()).add(position));
  }

  #standing(tableId: bigint): EntryBuilder[] {
    return this.#upkeep.of(tableId).filter((builder) => !builder.isNew);
  }
}

const noPositions: ReadonlySet<number> = new Set();
