const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** Bounds and defaults of data-file access. Those that `DataStoreOptions` names can be set per store. */
export const dataLimits = {
  /** One request to S3, its retries included, before it fails. A put gets the time for its bytes on top. */
  requestTimeoutMs: 30_000,
  /** Silence of the server after which a read or listing is cut and tried again. */
  stallTimeoutMs: 10_000,
  /** Slowest upload that is still waited for. */
  uploadBytesPerSecond: mebibyte,
  /** Tries of one S3 request, the first included. */
  requestAttempts: 4,
  /** Wait before the second try; it doubles with each further one, and half of it is random. */
  retryBaseMs: 50,
  retryMaxMs: 2_000,
  /** Requests in flight of one S3 store, and its sockets. */
  s3RequestsInFlight: 32,
  /** File operations in flight of one local store. Node runs four at a time unless UV_THREADPOOL_SIZE says otherwise. */
  localRequestsInFlight: 8,
  memoryRequestsInFlight: 8,
  /** Unwanted bytes between two ranges that are read to save a request: about what S3 sends in the time of one round trip. */
  s3GapBytes: mebibyte,
  /** The same for a local file: a read costs about 20 us, in which about so many bytes are copied (measured). */
  localGapBytes: 8 * kibibyte,
  /** Longest single read. Longer ranges are split, so that they arrive in parallel and no buffer of unwanted bytes is larger. */
  s3ReadBytes: 8 * mebibyte,
  localReadBytes: 8 * mebibyte,
  /** Ranges and bytes that one `readRanges` may ask for. */
  rangesPerRead: 1_048_576,
  bytesPerRead: 1024 * mebibyte,
  /** Files that one local store keeps open. */
  openFiles: 64,
  /** Stores that one `DataStoreSet` keeps open beside its root. */
  openStores: 8,
  /** Longest path, in UTF-8 bytes: the longest key of S3. */
  pathBytes: 1_024,
  /** File sizes that a local listing looks up at a time. */
  listSizesInFlight: 8,
  /** Objects that one S3 listing request returns. */
  listPageObjects: 1_000,
} as const;
