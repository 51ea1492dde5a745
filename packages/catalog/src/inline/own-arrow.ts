import { InvalidArgumentError } from "@moraine/codec";
import { Data, DataType, RecordBatch, Table } from "apache-arrow";

/** Whether rows are an Arrow table or record batch. Apache Arrow answers for the classes of every copy of itself. */
export function isArrow(rows: object): rows is Table | RecordBatch {
  return rows instanceof Table || rows instanceof RecordBatch;
}

/**
 * Refuses Arrow data of another copy of Apache Arrow, its CommonJS build for one. Such objects pass for our own, and then the
 * writer leaves their buffers out without a word, as it tells what it is given by classes that are not theirs.
 *
 * Errors: `invalid_argument`.
 */
export function checkOwnArrow(rows: Table | RecordBatch): void {
  const batches = isOf(Table, rows) ? rows.batches : isOf(RecordBatch, rows) ? [rows] : undefined;
  if (batches?.every((batch) => isOwnData(batch.data as Data)) === true) return;
  throw new InvalidArgumentError("rows is of another copy of apache-arrow than the one that moraine imports", {
    remedy: "Import apache-arrow as an ES module, in the version that moraine has, or pass plain objects or a chunk.",
  });
}

function isOwnData(data: Data): boolean {
  const children = data.children as readonly Data[];
  return isOf(Data, data) && (data.type as unknown) instanceof DataType && children.every(isOwnData);
}

/** Like `instanceof`, without the answer that a class may give itself. */
function isOf<T extends object>(type: { readonly prototype: T }, value: object): value is T {
  return Object.prototype.isPrototypeOf.call(type.prototype, value);
}
