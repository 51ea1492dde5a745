import { CorruptionError } from "@moraine/codec";

/** What moraine needs of SlateDB's newest manifest. */
export interface ManifestHead {
  /** Grows by one with each writer that opens the store. */
  readonly writerEpoch: bigint;
  /** Write-ahead objects up to this number are in sorted tables; opening replays only later ones. */
  readonly replayAfterWalId: bigint;
}

/** A place where manifests can be read, apart from the binding, which offers no way to. */
export interface ManifestSource {
  /** The newest manifest's head, or `undefined` where there is no store. */
  readManifest(): Promise<ManifestHead | undefined>;
}

// Vtable slots of these fields, equal in both of SlateDB's manifest versions (schemas/root.fbs of SlateDB 0.12.1).
const writerEpochSlot = 10;
const replayAfterWalIdSlot = 14;
const knownVersions: readonly number[] = [1, 2];

/** Reads a manifest object: a 16-bit big-endian version, then a FlatBuffers table. Fails with `corruption`. */
export function decodeManifest(bytes: Uint8Array): ManifestHead {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    const version = view.getUint16(0);
    if (!knownVersions.includes(version)) throw new CorruptionError(`a SlateDB manifest has version ${version}`);
    const table = 2 + view.getUint32(2, true);
    const vtable = table - view.getInt32(table, true);
    const vtableBytes = view.getUint16(vtable, true);
    const field = (slot: number): bigint => {
      const offset = slot + 2 <= vtableBytes ? view.getUint16(vtable + slot, true) : 0;
      return offset === 0 ? 0n : view.getBigUint64(table + offset, true);
    };
    return { writerEpoch: field(writerEpochSlot), replayAfterWalId: field(replayAfterWalIdSlot) };
  } catch (error) {
    if (error instanceof RangeError)
      throw new CorruptionError(`a SlateDB manifest of ${bytes.length} bytes cannot be read`);
    throw error;
  }
}

const manifestName = /^(\d{20})\.manifest$/;

/** The name of the newest manifest among the names in a manifest folder. */
export function newestManifestName(names: Iterable<string>): string | undefined {
  let newest: string | undefined;
  // Twenty digits each, so the order of the text is the order of the numbers.
  for (const name of names) if (manifestName.test(name) && (newest === undefined || name > newest)) newest = name;
  return newest;
}
