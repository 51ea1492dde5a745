import type { ObjectStore } from "@slatedb/uniffi";
import type { MoraineError } from "@moraine/codec";
import type { HeldFolder } from "./held-folder.js";
import type { StoreLocation } from "./location.js";
import type { ManifestSource } from "./manifest.js";

/** Whether a read that is not cached takes a round trip over the network. */
export function isRemote(location: StoreLocation): boolean {
  return location.kind === "s3";
}

/** What differs between the places in which a store can lie. One object for each open handle. */
export interface Backend extends ManifestSource {
  readonly location: StoreLocation;
  /** The binding's object store, and the path of this store inside it. */
  readonly objectStore: ObjectStore;
  readonly path: string;
  /** What a place that can be moved away is held by, once it has been prepared; `null` for any other place. */
  readonly folder: HeldFolder | null;
  /** Proves that a store can be written here and that a second writer would be noticed. Fails with a typed error within the time. */
  prepareForWriting(timeoutMs: number): Promise<void>;
  /** Proves that there is a store to read. Fails with a typed error within the time, `not_found` without a store. */
  prepareForReading(timeoutMs: number): Promise<void>;
  /** Runs the opening of a writer, alone if this place needs that. */
  openWriter<T>(open: () => Promise<T>): Promise<T>;
  /** Why writing so many bytes to this place does not succeed, if that can be found out within the time. */
  diagnose(timeoutMs: number, bytes: number): Promise<MoraineError | undefined>;
  /** What an engine still uses is let go when that has ended. */
  close(): void;
}
