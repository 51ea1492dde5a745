/**
 * The functions of the addon (`packages/store/native`). Handles of a `Db` or `DbReader` are those of the binding's objects: an
 * external value or a bigint. A wrong one is memory corruption, so only `native-loops.ts` calls these, and checks the class of
 * each object first. The handle of a snapshot is a `NativePin`.
 */
export interface NativeAddon {
  /** Binds to the library at a path, which must be loaded already. `extraSymbol`: a function that must be there too, for tests. */
  load(libraryPath: string, extraSymbol?: string): LoadAnswer;
  /** Offset of each value, length of each, in 32 bits; then the values. */
  getMany(
    kind: ReadableKind,
    handle: unknown,
    keys: Uint8Array,
    ends: Uint32Array,
    window: number,
    inlineKeys: number,
    spinMicroseconds: number,
  ): ArrayBuffer | Promise<ArrayBuffer>;
  /** `range` and `options` are records of the library (see `records.ts`). */
  scan(kind: ReadableKind, handle: unknown, range: Uint8Array, options: Uint8Array): NativeCursor;
  /** Keys and values, padding to 4 bytes, their ends, then: bytes before the padding, rows, 1 at the end of the scan. */
  scanNext(
    cursor: NativeCursor,
    mostRows: number,
    mostBytes: number,
    inlineRows: number,
  ): ArrayBuffer | Promise<ArrayBuffer>;
  scanClose(cursor: NativeCursor): void;
  /** Opens a batch, which takes its place behind the earlier ones of the same `Db` now. */
  writeBegin(db: unknown): NativeBatch;
  /** Copies entries; `ends` count from `base`, where `data` begins. */
  writeAppend(batch: NativeBatch, data: Uint8Array, ends: Uint32Array, base: number): void;
  /** Gives the batch's sequence number once it is applied. */
  writeEnd(batch: NativeBatch): Promise<bigint>;
  writeAbort(batch: NativeBatch): void;
  flush(db: unknown): Promise<void>;
  moveToTables(db: unknown): Promise<void>;
  /** The sequence number up to which everything is durable. */
  durableSequence(db: unknown): bigint;
  snapshot(db: unknown): Promise<NativePin>;
  /** Reads under way go on; those that come later are refused. Releasing again does nothing. */
  releaseSnapshot(snapshot: NativePin): void;
  shutdown(kind: ReadableKind, handle: unknown): Promise<void>;
  /** Opens a folder, by its path in UTF-8: gives a descriptor that no end of a thread closes, or the negative number of an error. */
  openFolder(path: Uint8Array): number;
  closeFolder(descriptor: number): void;
}

declare const pinBrand: unique symbol;

/** A snapshot of a `Db`. Opaque; forgetting it releases it. */
export interface NativePin {
  readonly [pinBrand]: never;
}

declare const cursorBrand: unique symbol;

/** An open scan. Opaque; forgetting it closes it. */
export interface NativeCursor {
  readonly [cursorBrand]: never;
}

declare const batchBrand: unique symbol;

/** A batch that is being built. Opaque; forgetting it gives it up. */
export interface NativeBatch {
  readonly [batchBrand]: never;
}

export const readableKind = { db: 0, snapshot: 1, reader: 2 } as const;
export type ReadableKind = (typeof readableKind)[keyof typeof readableKind];

export type LoadAnswer =
  | {
      readonly loaded: true;
      /** Whether the library leaves memory behind with each future that it frees, which the addon then makes up for. */
      readonly futuresLeak: boolean;
    }
  | { readonly loaded: false; readonly reason: string; readonly details: readonly string[] };

/** What the addon's functions fail with: a plain `Error` with these two properties. */
export interface NativeFailure extends Error {
  readonly tag: string;
  readonly reason: string;
}

/** Whether a module has the addon's functions. */
export function isAddon(module: unknown): module is NativeAddon {
  const names: readonly (keyof NativeAddon)[] = [
    "load",
    "getMany",
    "scan",
    "scanNext",
    "scanClose",
    "writeBegin",
    "writeAppend",
    "writeEnd",
    "writeAbort",
    "flush",
    "moveToTables",
    "durableSequence",
    "snapshot",
    "releaseSnapshot",
    "shutdown",
    "openFolder",
    "closeFolder",
  ];
  if (typeof module !== "object" || module === null) return false;
  const functions = new Map<string, unknown>(Object.entries(module));
  return names.every((name) => typeof functions.get(name) === "function");
}
