export type { ByteRange, DataObject, DataStore } from "./interface.js";
export { DataStoreSet, type ResolvedPath, resolveDataPath } from "./data/data-store-set.js";
export { dataLimits } from "./data/limits.js";
export { type DataStoreOptions, openDataStore } from "./data/open-data-store.js";
export type { S3Options } from "./data/s3-client.js";
