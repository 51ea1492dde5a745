import {
  ConstraintError,
  encodeValue,
  inlineFileDeleteKey,
  inlineFileDeletePrefix,
  inlineFileDeleteTableKey,
  InlineFileDeleteTableValue,
  InlineFileDeleteValue,
} from "@moraine/codec";
import { rowKey } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";
import type { RowBatch } from "./column-data.js";
import { ids, otherColumns } from "./inlined-rows.js";
import type { RowStaging } from "./row-staging.js";
import type { TableChanges } from "./row-changes.js";

const columnNames = ["file_id", "row_id", "begin_snapshot"];
const none: ReadonlySet<number> = new Set();

/** Positions of rows in data files that a commit deletes without a delete file, or lists no longer, by table and file. */
export class FileDeletes {
  readonly #staging: RowStaging;
  readonly #added = new Map<string, Set<number>>();
  readonly #removed = new Map<string, Set<number>>();

  constructor(staging: RowStaging) {
    this.#staging = staging;
  }

  /** Stages the rows of `ducklake_inlined_delete_<table>`: file id, position (which DuckLake calls row id), begin. */
  stage(tableId: bigint, changes: TableChanges): void {
    const { writes, snapshotId, draft } = this.#staging;
    if (changes.columns.length !== columnNames.length || columnNames.some((name, at) => name !== changes.columns[at])) {
      throw otherColumns(changes.name);
    }
    if (changes.before.length > 0) {
      throw new ConstraintError(`rows of ${changes.name} are edited`, {
        remedy: "Delete rows through the lake's table.",
      });
    }
    for (const [fileId, position] of this.#rowsOf(changes.name, changes.deleted)) {
      writes.delete(inlineFileDeleteKey(tableId, fileId, position));
      note(this.#removed, tableId, fileId, position);
    }
    for (const [fileId, position, begin] of this.#rowsOf(changes.name, changes.inserted)) {
      const file = draft.get("data_file", tableId, fileId);
      if (snapshotId === undefined || begin !== snapshotId || file === undefined || position >= file.recordCount) {
        throw new ConstraintError(
          `a row of ${changes.name} names snapshot ${begin} or data file ${fileId} in a way that the lake does not have`,
          { remedy: "Delete rows through the lake's table." },
        );
      }
      const value = encodeValue(InlineFileDeleteValue, { beginSnapshot: begin });
      writes.put(inlineFileDeleteKey(tableId, fileId, position), value);
      note(this.#added, tableId, fileId, position);
    }
    writes.put(inlineFileDeleteTableKey(tableId), encodeValue(InlineFileDeleteTableValue, {}));
  }

  /** Removes the records of a data file that is gone for good. */
  async removeOf(tableId: bigint, fileId: bigint): Promise<void> {
    const { view, writes } = this.#staging;
    for await (const block of view.scan(rangeOfPrefix(inlineFileDeletePrefix(tableId, fileId)))) {
      for (let i = 0; i < block.count; i++) writes.delete(rowKey(block, i).slice());
    }
  }

  /** Table and file ids of the files that have any. */
  *files(): IterableIterator<readonly [tableId: bigint, fileId: bigint]> {
    for (const key of new Set([...this.#added.keys(), ...this.#removed.keys()])) {
      const [tableId = 0n, fileId = 0n] = key.split("/").map(BigInt);
      yield [tableId, fileId];
    }
  }

  added(tableId: bigint, fileId: bigint): ReadonlySet<number> {
    return this.#added.get(`${tableId}/${fileId}`) ?? none;
  }

  removed(tableId: bigint, fileId: bigint): ReadonlySet<number> {
    return this.#removed.get(`${tableId}/${fileId}`) ?? none;
  }

  *#rowsOf(
    name: string,
    batches: readonly RowBatch[],
  ): IterableIterator<readonly [fileId: bigint, position: bigint, begin: bigint]> {
    for (const { columns, rows } of batches) {
      if (columns.length !== columnNames.length || columns.some((column) => column.rows !== rows)) {
        throw otherColumns(name);
      }
      const [fileIds, positions, begins] = columns.map((column, at) => ids(name, columnNames[at] ?? "", column));
      for (let row = 0; row < rows; row++) yield [fileIds?.[row] ?? 0n, positions?.[row] ?? 0n, begins?.[row] ?? 0n];
    }
  }
}

function note(into: Map<string, Set<number>>, tableId: bigint, fileId: bigint, position: bigint): void {
  const key = `${tableId}/${fileId}`;
  const known = into.get(key) ?? new Set<number>();
  into.set(key, known);
  known.add(Number(position));
}
