import {
  CorruptionError,
  currentPrefix,
  decodeValue,
  type FieldColumn,
  FileColumnStatsValue,
  ValueColumns,
} from "@moraine/codec";
import { type ReadView, rowValue, type RowBlock } from "@moraine/store";
import { rangeOfPrefix } from "../engine/load-state.js";
import type { ColumnData, RowBatch } from "./column-data.js";
import { allSet } from "./encode-column.js";
import type { FollowStep, TableColumn } from "./follow-step.js";
import { bytesPerBatch, rowsPerBatch } from "./limits.js";
import { metadataTables } from "./metadata-tables.js";
import { servedKinds } from "./serve-kinds.js";
import { RowLists } from "./serve-table.js";

const table = "ducklake_file_column_stats";

/**
 * Column statistics of files. There are as many as all files have columns, so their records go straight into columns: the fields
 * of the record are the columns of the table, in the same order.
 */
export async function* fileColumnStatsRows(view: ReadView): AsyncIterableIterator<FollowStep> {
  const { addParts } = servedKinds.file_column_stats;
  const columns = new ValueColumns(FileColumnStatsValue, rowsPerBatch);
  const parts = new RowLists();
  const blocks = view.scan(rangeOfPrefix(currentPrefix("file_column_stats")), { blockRows: rowsPerBatch });
  for await (const block of oneAhead(blocks)) {
    for (let i = 0; i < block.count; i++) {
      const hasVariants = columns.append(block.data, block.ends[2 * i]!, block.ends[2 * i + 1]!);
      if (hasVariants) addParts(decodeValue(FileColumnStatsValue, rowValue(block, i)), parts);
      if (columns.isFull || columns.textBytes > bytesPerBatch) yield { kind: "rows", table, batch: take(columns) };
    }
    yield* parts.take();
  }
  if (columns.rows > 0) yield { kind: "rows", table, batch: take(columns) };
}

/** How many NULLs and values a column has is not always known: the record then says so in a field of its own. */
const countColumns: ReadonlySet<string> = new Set(["value_count", "null_count"]);

function take(columns: ValueColumns): RowBatch {
  const { rows } = columns;
  const fields = columns.take();
  const countsUnknown = fields[FileColumnStatsValue.fields.length - partsFields - 1]!;
  const known = countsUnknown.values.some((byte) => byte !== 0) ? inverted(countsUnknown.values, rows) : undefined;
  return {
    rows,
    columns: metadataTables[table].map((column, at) => {
      const data = columnData(column, fields[at]!, rows);
      return countColumns.has(column.name) ? { ...data, validity: known } : data;
    }),
  };
}

/** Fields of the record that are lists, and so have no column. */
const partsFields = FileColumnStatsValue.fields.filter(({ message }) => message !== undefined).length;

function inverted(bits: Uint8Array, rows: number): Uint8Array {
  return allSet(rows).map((byte, at) => byte & ~bits[at]!);
}

function columnData({ name, type }: TableColumn, { presence, values, offsets }: FieldColumn, rows: number): ColumnData {
  if (type === "BIGINT") {
    const integers = new BigInt64Array(values.buffer, values.byteOffset, rows);
    for (let row = 0; row < rows; row++) {
      const integer = integers[row]!;
      if (integer < 0n) throw new CorruptionError(`${name} is ${BigInt.asUintN(64, integer)}, which no BIGINT holds`);
    }
  }
  return { type, rows, validity: presence, values, offsets, children: [] };
}

/** Asks for the next block before the last one is used: the store reads while this thread encodes. */
async function* oneAhead(blocks: AsyncIterableIterator<RowBlock>): AsyncIterableIterator<RowBlock> {
  let next = ask(blocks);
  try {
    for (;;) {
      const block = await next;
      if (block.done === true) return;
      next = ask(blocks);
      yield block.value;
    }
  } finally {
    await blocks.return?.();
  }
}

/** A block that cannot be read is told of when it is waited for, and that may be later, or never. */
function ask(blocks: AsyncIterator<RowBlock>): Promise<IteratorResult<RowBlock>> {
  const next = blocks.next();
  next.catch(() => undefined);
  return next;
}
