import { CorruptionError, InvalidArgumentError } from "@moraine/codec";
import { type RecordBatch, type Schema, Table, tableToIPC } from "apache-arrow";

const continuation = 0xffff_ffff;

/** Bodies of the record batches of an IPC stream, in the form in which inline chunks are stored. The schema message is skipped. */
function bodiesOfStream(stream: Uint8Array): Uint8Array[] {
  const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength);
  const bodies: Uint8Array[] = [];
  let position = 0;
  let messages = 0;
  while (position + 8 <= stream.byteLength) {
    if (view.getUint32(position, true) !== continuation)
      throw new CorruptionError("Arrow stream without a continuation marker");
    const messageBytes = view.getInt32(position + 4, true);
    if (messageBytes === 0) break;
    const bodyStart = position + 8 + messageBytes;
    if (messageBytes < 0 || bodyStart > stream.byteLength) throw new CorruptionError("Arrow stream cut short");
    const bodyBytes = bodyLengthOf(view, position + 8, messageBytes);
    if (bodyStart + bodyBytes > stream.byteLength) throw new CorruptionError("Arrow stream cut short");
    if (messages > 0) bodies.push(stream.slice(position + 4, bodyStart + bodyBytes));
    messages += 1;
    position = bodyStart + bodyBytes;
  }
  return bodies;
}

function bodyLengthOf(view: DataView, start: number, bytes: number): number {
  const table = start + view.getUint32(start, true);
  if (table + 4 > start + bytes) throw new CorruptionError("Arrow message cut short");
  const vtable = table - view.getInt32(table, true);
  const slot = vtable + 10;
  if (vtable < start || slot + 2 > start + bytes || view.getUint16(vtable, true) < 12) return 0;
  const offset = view.getUint16(slot, true);
  if (offset === 0) return 0;
  return Number(view.getBigInt64(table + offset, true));
}

/** Rows that a caller supplies as Arrow, ready for inline chunks. */
export interface ArrowRows {
  readonly schema: Schema;
  readonly chunks: readonly { readonly body: Uint8Array; readonly rowCount: number }[];
}

/** Turns an Arrow table or record batch into chunk bodies, one for each non-empty batch. */
export function arrowRows(input: Table | RecordBatch): ArrowRows {
  const table = input instanceof Table ? input : new Table([input]);
  const batches = table.batches.filter((batch) => batch.numRows > 0);
  const chunks = batches.map((batch) => {
    const bodies = bodiesOfStream(tableToIPC(new Table([batch]), "stream"));
    const body = bodies[0];
    if (body === undefined || bodies.length !== 1) {
      throw new InvalidArgumentError("rows: the record batch holds dictionary columns", {
        remedy: "Decode dictionary columns before inserting them.",
      });
    }
    return { body, rowCount: batch.numRows };
  });
  return { schema: table.schema, chunks };
}
