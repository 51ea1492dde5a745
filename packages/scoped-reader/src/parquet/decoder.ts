import { createRequire } from "node:module";
import { limits } from "../limits.js";
import { ConversionFailed, MalformedFile } from "../malformed.js";
import type { RawColumn } from "../values/raw-column.js";
import type { PlainLayout } from "./single-column-file.js";

type ParquetWasm = typeof import("parquet-wasm/node");

const moduleRequire = createRequire(import.meta.url);
const moduleName = "parquet-wasm/node";

let decoder: ParquetWasm | undefined;

/** A decoder of our own: nobody else's mistake can break it, and it can be thrown away. */
function freshDecoder(): ParquetWasm {
  const path = moduleRequire.resolve(moduleName);
  const shared = moduleRequire.cache[path];
  delete moduleRequire.cache[path];
  try {
    return moduleRequire(moduleName) as ParquetWasm;
  } finally {
    if (shared === undefined) delete moduleRequire.cache[path];
    else moduleRequire.cache[path] = shared;
  }
}

/**
 * Decodes a file of one column (`singleColumnFile`) and hands its values to `use` as borrowed memory.
 *
 * Only synchronous entry points of the WebAssembly module are used: there a trap on damaged input is an exception that
 * is caught here, while in its asynchronous ones it surfaces in a microtask and ends the process. After a trap the
 * instance counts as broken and is replaced, and so is one whose memory has grown past the limit.
 */
export function decodeSingleColumn<T>(
  file: Uint8Array,
  rows: number,
  layout: PlainLayout,
  use: (raw: RawColumn) => T,
): T {
  const wasm = (decoder ??= freshDecoder());
  try {
    const stream = wasm.readParquet(file, { batchSize: Math.max(rows, 1) }).intoFFI();
    let result: T;
    try {
      result = use(readStream(wasm, stream, rows, layout));
    } finally {
      stream.drop();
    }
    if (memoryOf(wasm).byteLength > limits.decoderMemoryBytes) decoder = undefined;
    return result;
  } catch (error) {
    if (!isOrdinary(error)) decoder = undefined;
    throw error;
  }
}

/** An error that the decoder returned, or one of ours. Traps, exhausted memory and exhausted stack have classes of their own. */
function isOrdinary(error: unknown): boolean {
  if (error instanceof MalformedFile || error instanceof ConversionFailed) return true;
  return error instanceof Error && Object.getPrototypeOf(error) === Error.prototype;
}

type Stream = ReturnType<ReturnType<ParquetWasm["readParquet"]>["intoFFI"]>;

function readStream(wasm: ParquetWasm, stream: Stream, rows: number, layout: PlainLayout): RawColumn {
  const batches = stream.numArrays();
  if (batches === 0 && rows === 0) return emptyColumn;
  if (batches !== 1) throw new MalformedFile(`its pages decoded to ${batches} batches`);
  const address = stream.arrayAddr(0);
  // The view comes last: any call into the module can move its memory.
  const memory = memoryOf(wasm);
  const view = new DataView(memory);
  const record = readArray(view, address);
  const child = readArray(view, view.getUint32(record.children, true));
  if (record.length !== rows || child.length !== rows) {
    throw new MalformedFile(`its pages hold ${child.length} rows where their headers say ${rows}`);
  }
  const buffer = (index: number): number => view.getUint32(child.buffers + 4 * index, true);
  const { offset } = child;
  const validityAddress = buffer(0);
  const validity =
    child.nullCount === 0 || validityAddress === 0
      ? null
      : new Uint8Array(memory, validityAddress, bitmapBytes(offset + rows));
  const common = { length: rows, validity, validityOffset: offset };
  switch (layout.type) {
    case "TEXT":
    case "BYTES": {
      const offsets = new Int32Array(memory, buffer(1) + 4 * offset, rows + 1);
      const bytes = new Uint8Array(memory, buffer(2), offsets[rows] ?? 0);
      return { ...common, values: bytes, valuesOffset: 0, offsets };
    }
    case "BOOLEAN": {
      const values = new Uint8Array(memory, buffer(1), bitmapBytes(offset + rows));
      return { ...common, values, valuesOffset: offset, offsets: null };
    }
    case "INT32":
    case "INT64":
    case "FLOAT":
    case "DOUBLE":
    case "FIXED": {
      const width = { INT32: 4, INT64: 8, FLOAT: 4, DOUBLE: 8, FIXED: layout.byteWidth }[layout.type];
      const values = new Uint8Array(memory, buffer(1) + width * offset, width * rows);
      return { ...common, values, valuesOffset: 0, offsets: null };
    }
  }
}

const emptyColumn: RawColumn = {
  length: 0,
  validity: null,
  validityOffset: 0,
  values: new Uint8Array(0),
  valuesOffset: 0,
  offsets: new Int32Array(1),
};

/** The module's memory as it is now. Its declared type needs the browser's type library, hence the cast. */
function memoryOf(wasm: ParquetWasm): ArrayBuffer {
  return (wasm.wasmMemory() as unknown as { readonly buffer: ArrayBuffer }).buffer;
}

function bitmapBytes(bits: number): number {
  return Math.ceil(bits / 8);
}

/** Fields of an `ArrowArray` of the Arrow C data interface, on a machine with 32-bit pointers. */
function readArray(
  view: DataView,
  at: number,
): { length: number; nullCount: number; offset: number; buffers: number; children: number } {
  return {
    length: Number(view.getBigInt64(at, true)),
    nullCount: Number(view.getBigInt64(at + 8, true)),
    offset: Number(view.getBigInt64(at + 16, true)),
    buffers: view.getUint32(at + 40, true),
    children: view.getUint32(at + 44, true),
  };
}
