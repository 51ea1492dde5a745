export { BatchBuilder } from "./batch-builder.js";
export { type LoopsInUse, loopsInUse } from "./choose-loops.js";
export { DataStoreSet, type ResolvedPath, resolveDataPath } from "./data/data-store-set.js";
export { dataLimits } from "./data/limits.js";
export { dropMemoryDataStore } from "./data/memory-data-store.js";
export { type DataStoreOptions, openDataStore } from "./data/open-data-store.js";
export type { S3Options } from "./data/s3-client.js";
export type { RecoveryEvent } from "./diagnostics.js";
export {
  absent,
  type ByteRange,
  type DataObject,
  type DataStore,
  type FlushPolicy,
  type KeyRange,
  type PackedKeys,
  type PackedValues,
  type ReadableStore,
  type ReaderOptions,
  type ReadView,
  type RowBlock,
  type ScanOptions,
  type StoreOptions,
  type StoreSnapshot,
  type WritableStore,
  type WriteBatch,
  type WriteReceipt,
} from "./interface.js";
export { limits as storeLimits } from "./limits.js";
export { dropMemoryStore } from "./memory-backend.js";
export { openStore, openStoreReader } from "./open-store.js";
export {
  collectRows,
  getOne,
  keyAt,
  packKey,
  packKeys,
  packValues,
  rowKey,
  rowValue,
  valueAt,
  type Row,
} from "./packed.js";
export { nextTurn } from "./within.js";
