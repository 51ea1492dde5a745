export { type AppendEntriesOptions, appendFileEntries, type EntrySink, type EntryTarget } from "./append-entries.js";
export { defaultVector } from "./default-vector.js";
export { type DeleteFileSource, type DeleteTarget, readDeletePositions } from "./delete-positions.js";
export { embedsRowIds } from "./embeds-row-ids.js";
export { FileCache } from "./file-cache.js";
export { FooterCache } from "./footer-cache.js";
export { holdsPosition } from "./positions.js";
export type {
  ColumnRequest,
  FileSource,
  NameMap,
  NameMapEntry,
  Positions,
  RowIdMode,
  ScanOptions,
  ScopedBatch,
} from "./interface.js";
export { limits as scopedReaderLimits } from "./limits.js";
export { markUuidColumns } from "./parquet/mark-uuid-columns.js";
export { readRows, type ReadRowsOptions } from "./read-rows.js";
export { rowIdFieldId } from "./resolve-columns.js";
export { scanFile } from "./scan-file.js";
export { vectorFromArrow } from "./vector-from-arrow.js";
