import { DataFileError, StoreError } from "@moraine/codec";
import type { ByteRange } from "@moraine/store";
import type { FileSource } from "./interface.js";

/**
 * Ranges of a file, all of them in full. A data store reports a range beyond the end as a failure of its own; when the
 * object turns out to have another size than recorded, that is what is wrong, and the error says so.
 */
export async function readExactly(source: FileSource, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
  const { store, path, sizeBytes } = source;
  try {
    const fetched = await store.readRanges(path, ranges);
    if (ranges.every(({ length }, i) => fetched[i]?.length === length)) return fetched;
    throw changed(path, `is shorter than its recorded ${sizeBytes} bytes`);
  } catch (error) {
    if (error instanceof StoreError) await checkSize(source, error);
    throw error;
  }
}

/** Says so where an object has another size than recorded, which explains why what was read of it makes no sense. */
export async function checkSize({ store, path, sizeBytes }: FileSource, cause: Error): Promise<void> {
  const found = await store.head(path);
  if (found.sizeBytes === sizeBytes) return;
  throw changed(path, `has ${found.sizeBytes} bytes and its catalog record says ${sizeBytes}`, cause);
}

function changed(path: string, what: string, cause?: unknown): DataFileError {
  return new DataFileError(`file ${path} ${what}`, {
    remedy: "Register a file with the size that it has; one that is registered must not change: restore it.",
    cause,
  });
}
