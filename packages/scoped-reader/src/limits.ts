/** Every limit of this package, with its unit in its name. */
export const limits = {
  /** Rows in one batch of a scan, unless the caller asks for another number. One row group as DuckDB writes it. */
  batchRows: 122_880,
  /** Most rows that one batch may be asked to hold. */
  maxBatchRows: 1_048_576,
  /** Rows of neighbouring pages that are decoded in one go. A single larger page is still decoded whole. */
  decodeRows: 131_072,
  /** Uncompressed bytes of neighbouring pages that are decoded in one go, a single page excepted. */
  decodeBytes: 64 * 1024 * 1024,
  /** Bytes fetched from the end of a file whose footer size is not recorded. */
  footerProbeBytes: 64 * 1024,
  /** Longest footer that is parsed. A footer of a wide table with many row groups has a few MiB. */
  maxFooterBytes: 256 * 1024 * 1024,
  /** Depth at which a footer counts as damaged; the format needs six levels. */
  thriftDepth: 16,
  /** Row groups are fetched together until they reach this size; one such window is read ahead. */
  fetchWindowBytes: 8 * 1024 * 1024,
  /** A column chunk of at most this size is read whole, without first asking its page index. */
  pageIndexMinChunkBytes: 64 * 1024,
  /** Largest page, uncompressed, that is decoded. DuckDB ends a page at 100 MB. */
  maxPageBytes: 512 * 1024 * 1024,
  /** WebAssembly memory above which the decoder is replaced by a fresh one, since such memory never shrinks. */
  decoderMemoryBytes: 256 * 1024 * 1024,
  /** How long a scan runs before it lets timers and I/O run between two batches. */
  yieldAfterMs: 8,
  /** Default size of a footer cache. A parsed footer counts with the bytes it had in the file. */
  footerCacheBytes: 32 * 1024 * 1024,
} as const;
