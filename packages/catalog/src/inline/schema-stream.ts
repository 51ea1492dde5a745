import { CorruptionError } from "@moraine/codec";
import { maxColumnNestingLevels } from "../model/limits.js";
import { FlatTable } from "./flat-table.js";

const continuation = 0xffff_ffff;
const framingBytes = 8;
const headerTypeSchema = 1;
const unionType = 14;
const leastTableBytes = 8;
const what = "inline schema record";

/**
 * Checks that bytes begin with the schema message of an Arrow IPC stream which can be walked within its own bounds. Apache
 * Arrow's reader takes the lengths of vectors on trust: one changed byte makes it collect fields until memory ends.
 *
 * Errors: `corruption`.
 */
export function checkSchemaStream(bytes: Uint8Array): void {
  const stream = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (stream.byteLength < framingBytes || stream.getUint32(0, true) !== continuation) {
    throw new CorruptionError(`${what}: no Arrow stream`);
  }
  const messageBytes = stream.getInt32(4, true);
  if (messageBytes <= 0 || framingBytes + messageBytes > stream.byteLength) {
    throw new CorruptionError(`${what}: cut short`);
  }
  const message = FlatTable.root(new DataView(bytes.buffer, bytes.byteOffset + framingBytes, messageBytes), what);
  const schema = message.table(2);
  if (message.uint8(1) !== headerTypeSchema || schema === undefined) throw new CorruptionError(`${what}: no schema`);
  const walk = new Walk(Math.floor(messageBytes / leastTableBytes));
  walk.metadata(message, 4);
  walk.metadata(schema, 2);
  walk.fields(schema, 1, 1);
}

/** Visits what a reader would visit. Tables may be shared, so that the number of visits needs a bound of its own. */
class Walk {
  #visitsLeft: number;

  constructor(mostVisits: number) {
    this.#visitsLeft = mostVisits;
  }

  fields(parent: FlatTable, index: number, level: number): void {
    if (level > maxColumnNestingLevels) throw new CorruptionError(`${what}: nested too deep`);
    for (const field of this.#visit(parent, index)) {
      const type = field.table(3);
      // The type ids of a union are the one vector of numbers that a type can have.
      if (field.uint8(2) === unionType) type?.vector(1, 4);
      this.metadata(field, 6);
      this.fields(field, 5, level + 1);
    }
  }

  metadata(parent: FlatTable, index: number): void {
    for (const pair of this.#visit(parent, index)) {
      pair.vector(0, 1);
      pair.vector(1, 1);
    }
  }

  #visit(parent: FlatTable, index: number): FlatTable[] {
    this.#visitsLeft -= parent.vector(index, 4).count;
    if (this.#visitsLeft < 0) throw new CorruptionError(`${what}: more fields than it has room for`);
    return parent.tables(index);
  }
}
