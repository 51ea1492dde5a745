import { CorruptionError, InvalidArgumentError, UnsupportedError } from "@moraine/codec";
import type { FileSource } from "./interface.js";
import { limits } from "./limits.js";
import { MalformedFile, inFile } from "./malformed.js";
import { type ParquetFooter, footerLength, magicBytes, parseFooter, trailerBytes } from "./parquet/footer.js";
import { checkSize, readExactly } from "./read-exactly.js";

/**
 * The parsed footer of a file, from the cache when the source has one. Refuses encrypted files (`unsupported`), files
 * that are no complete Parquet file (`data_file`), and files whose row count is not the catalog's (`corruption`).
 */
export async function readFooter(source: FileSource): Promise<ParquetFooter> {
  if (source.encrypted) {
    throw new UnsupportedError(`file ${source.path} is encrypted`, {
      remedy: "Write data files without encryption, or drop the table's indexes.",
    });
  }
  if (!Number.isSafeInteger(source.sizeBytes) || source.sizeBytes < 0) {
    throw new InvalidArgumentError("sizeBytes is not a number of bytes", {
      remedy: "Pass the size of the file in bytes.",
    });
  }
  const key = `${source.store.location}\u0000${source.path}\u0000${source.sizeBytes}`;
  const footer = await (source.footers === undefined
    ? fetchFooter(source)
    : source.footers.get(key, () => fetchFooter(source)));
  if (BigInt(footer.rowCount) !== source.recordCount) {
    throw new CorruptionError(
      `file ${source.path} has ${footer.rowCount} rows and its catalog record says ${source.recordCount}`,
      {
        remedy: "Register a file with the number of rows that it has; of one that is registered, restore what it was.",
      },
    );
  }
  return footer;
}

async function fetchFooter(source: FileSource): Promise<ParquetFooter> {
  const { path, sizeBytes } = source;
  try {
    if (sizeBytes < magicBytes + trailerBytes) throw new MalformedFile(`it has only ${sizeBytes} bytes`);
    const recorded = source.footerSizeBytes;
    const isRecorded = recorded !== undefined && Number.isSafeInteger(recorded) && recorded > 0;
    const wanted = isRecorded ? recorded + trailerBytes : limits.footerProbeBytes;
    const tail = await readTail(source, Math.min(wanted, sizeBytes));
    const length = footerLength(tail.subarray(tail.length - trailerBytes));
    if (length + trailerBytes + magicBytes > sizeBytes) throw new MalformedFile("its footer is longer than the file");
    const whole = length + trailerBytes <= tail.length ? tail : await readTail(source, length + trailerBytes);
    return parseFooter(whole.subarray(whole.length - trailerBytes - length, whole.length - trailerBytes));
  } catch (error) {
    if (error instanceof MalformedFile) await checkSize(source, error);
    throw inFile(path, error);
  }
}

async function readTail(source: FileSource, length: number): Promise<Uint8Array> {
  const [tail] = await readExactly(source, [{ offset: source.sizeBytes - length, length }]);
  return tail ?? new Uint8Array(0);
}
