import { MalformedFile } from "../malformed.js";
import { ThriftReader, thriftType } from "./thrift-reader.js";

const trailerBytes = 8;
/** Fields of FileMetaData and SchemaElement in the Parquet format. */
const fileSchemaField = 2;
const elementTypeLengthField = 2;
const elementFieldIdField = 9;
const elementLogicalTypeField = 10;
const uuidBytes = 16;
/** The union member UUIDType (14), an empty struct, and the union's end, as the compact protocol writes them. */
const uuidUnion = Uint8Array.of(0xec, 0x00, 0x00);

/**
 * Gives 16-byte columns of a Parquet file the UUID annotation, by field id. Arrow has no UUID type of its own, so a writer
 * that goes through Arrow leaves it out, and readers then take the column for a blob. Only the footer changes.
 */
export function markUuidColumns(file: Uint8Array, fieldIds: ReadonlySet<number>): Uint8Array {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.byteLength < trailerBytes) throw new MalformedFile("the file is shorter than a Parquet trailer");
  const footerBytes = view.getUint32(file.byteLength - trailerBytes, true);
  const footerStart = file.byteLength - trailerBytes - footerBytes;
  if (footerStart < 0) throw new MalformedFile("the footer is longer than the file");
  const footer = file.subarray(footerStart, file.byteLength - trailerBytes);
  const insertions = findElements(footer, fieldIds);
  const added = insertions.length * (1 + uuidUnion.length);
  const out = new Uint8Array(file.byteLength + added);
  out.set(file.subarray(0, footerStart));
  let from = 0;
  let to = footerStart;
  for (const { at, lastId } of insertions) {
    out.set(footer.subarray(from, at), to);
    to += at - from;
    out[to] = ((elementLogicalTypeField - lastId) << 4) | thriftType.struct;
    out.set(uuidUnion, to + 1);
    to += 1 + uuidUnion.length;
    from = at;
  }
  out.set(footer.subarray(from), to);
  out.set(file.subarray(file.byteLength - trailerBytes), out.byteLength - trailerBytes);
  new DataView(out.buffer).setUint32(out.byteLength - trailerBytes, footerBytes + added, true);
  return out;
}

/** Where the stop byte of each matching schema element stands, and the id of the field before it. */
function findElements(
  footer: Uint8Array,
  fieldIds: ReadonlySet<number>,
): { readonly at: number; readonly lastId: number }[] {
  const found: { readonly at: number; readonly lastId: number }[] = [];
  const reader = new ThriftReader(footer);
  reader.struct((id, type) => {
    if (id !== fileSchemaField) return false;
    reader.list(type, () => {
      let fieldId: number | undefined;
      let length = 0;
      let lastId = 0;
      reader.struct((elementField, elementType) => {
        lastId = elementField;
        if (elementField === elementFieldIdField) fieldId = reader.i32(elementType);
        else if (elementField === elementTypeLengthField) length = reader.i32(elementType);
        else return false;
        return true;
      });
      if (fieldId !== undefined && fieldIds.has(fieldId) && length === uuidBytes && lastId < elementLogicalTypeField) {
        found.push({ at: reader.at - 1, lastId });
      }
    });
    return true;
  });
  return found;
}
