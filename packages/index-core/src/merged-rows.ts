import type { KeyRangeBytes } from "@moraine/codec";
import type { ReadView, RowBlock } from "@moraine/store";
import { compareRanges } from "./bytes.js";
import { scanBlockRows } from "./limits.js";
import { RowIdList } from "./row-id-words.js";
import { appendRowId, type EntryShape, indexKeyPrefixBytes } from "./stored-row-ids.js";

export interface EntryOrder {
  readonly reverse: boolean;
  /** Most rows in all; `undefined`: no limit. */
  readonly limit: number | undefined;
}

/** Blocks of the rows of several ranges of one shape, in the order asked for. `ranges` ascend and do not overlap. */
async function* scanRanges(
  view: ReadView,
  ranges: readonly KeyRangeBytes[],
  { reverse, limit }: EntryOrder,
): AsyncGenerator<RowBlock, void, undefined> {
  let left = limit;
  for (const range of reverse ? ranges.toReversed() : ranges) {
    if (left === 0) return;
    const options = { reverse, blockRows: Math.min(scanBlockRows, left ?? scanBlockRows) };
    for await (const block of view.scan(range, left === undefined ? options : { ...options, limit: left })) {
      if (block.count === 0) continue;
      if (left !== undefined) left -= block.count;
      yield block;
    }
  }
}

/** Row ids of the entries of one shape, block by block. */
export async function* rowsOfShape(
  view: ReadView,
  shape: EntryShape,
  ranges: readonly KeyRangeBytes[],
  order: EntryOrder,
): AsyncGenerator<BigUint64Array, void, undefined> {
  for await (const block of scanRanges(view, ranges, order)) {
    const rows = new RowIdList(block.count);
    for (let row = 0; row < block.count; row++) appendRowId(block, row, shape, rows);
    yield rows.finish();
  }
}

/** A position in a stream of blocks. */
class BlockCursor {
  readonly shape: EntryShape;
  readonly #blocks: AsyncGenerator<RowBlock, void, undefined>;
  block: RowBlock | undefined;
  row = 0;

  constructor(shape: EntryShape, blocks: AsyncGenerator<RowBlock, void, undefined>) {
    this.shape = shape;
    this.#blocks = blocks;
  }

  get exhaustedBlock(): boolean {
    return this.block !== undefined && this.row === this.block.count;
  }

  async nextBlock(): Promise<void> {
    const next = await this.#blocks.next();
    this.block = next.done === true ? undefined : next.value;
    this.row = 0;
  }

  async close(): Promise<void> {
    await this.#blocks.return(undefined);
  }
}

/**
 * Row ids of the entries of both shapes of a unique index, merged by value. A row of a unique index that has a NULL in a
 * later column is stored in the other shape; a range must not miss it. Both kinds of key order their values alike after
 * the ten bytes of shape and index id, and a value with a NULL never equals one without, so the row id at the end of a
 * multi-shaped key never takes part in a comparison.
 */
export async function* rowsOfBothShapes(
  view: ReadView,
  valueKeyed: readonly KeyRangeBytes[],
  multi: readonly KeyRangeBytes[],
  order: EntryOrder,
): AsyncGenerator<BigUint64Array, void, undefined> {
  const left = new BlockCursor("unique", scanRanges(view, valueKeyed, order));
  const right = new BlockCursor("multi", scanRanges(view, multi, order));
  try {
    await Promise.all([left.nextBlock(), right.nextBlock()]);
    let remaining = order.limit ?? Number.POSITIVE_INFINITY;
    while (remaining > 0 && (left.block !== undefined || right.block !== undefined)) {
      const rows = new RowIdList(Math.min(scanBlockRows, remaining));
      while (rows.count < Math.min(scanBlockRows, remaining)) {
        const cursor = nextCursor(left, right, order.reverse);
        if (cursor?.block === undefined) break;
        appendRowId(cursor.block, cursor.row++, cursor.shape, rows);
        if (cursor.exhaustedBlock) await cursor.nextBlock();
      }
      remaining -= rows.count;
      if (rows.count > 0) yield rows.finish();
    }
  } finally {
    await Promise.all([left.close(), right.close()]);
  }
}

function nextCursor(left: BlockCursor, right: BlockCursor, reverse: boolean): BlockCursor | undefined {
  const leftBlock = left.block;
  const rightBlock = right.block;
  if (leftBlock === undefined) return rightBlock === undefined ? undefined : right;
  if (rightBlock === undefined) return left;
  const difference = compareRanges(
    leftBlock.data,
    keyStart(leftBlock, left.row) + indexKeyPrefixBytes,
    leftBlock.ends[2 * left.row]!,
    rightBlock.data,
    keyStart(rightBlock, right.row) + indexKeyPrefixBytes,
    rightBlock.ends[2 * right.row]!,
  );
  const leftFirst = reverse ? difference > 0 : difference < 0;
  return leftFirst ? left : right;
}

function keyStart(block: RowBlock, row: number): number {
  return row === 0 ? 0 : block.ends[2 * row - 1]!;
}
