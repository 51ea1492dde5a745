/** Every limit of this package, with its unit in its name. */
export const limits = {
  /** Reads of the binding in flight in one thread, over all stores (see CallSlots). */
  readsInFlight: 192,
  /** Gets of one `getMany` that run at the same time. */
  remoteGetWindowKeys: 64,
  /** The same where a get takes no round trip: more only adds switching between them (49 us a key with 8, 72 with 64). */
  localGetWindowKeys: 8,
  /** Gets of one `getMany` of the native loops that run at the same time: a get from a cached block waits for two threads. */
  nativeGetWindowKeys: 64,
  /** Keys of a `getMany` that the native loops look for on the JavaScript thread first: what is in memory is there at once. */
  nativeInlineKeys: 8,
  /** Rows of a scan that they look for there first. */
  nativeInlineRows: 128,
  /** Bytes of a batch that the native loops copy in one go: about half a millisecond. */
  nativeCopyBytes: 1024 * 1024,
  /**
   * How long a single get stays with a cached block that another thread is just reading, before it waits in the background.
   * Waking that thread takes about 50 us on a machine that has nothing else to do.
   */
  nativeSpinMicroseconds: 120,
  /** Values that snapshots of one open store have read and that are kept in front of it; about 200 bytes and the key each. */
  rowCacheRows: 65_536,
  /** Longest key that is kept there, and longest value. */
  rowCacheKeyBytes: 256,
  rowCacheValueBytes: 64,
  /** Entries of a batch beyond which all of them are forgotten, as looking for each would take longer. */
  rowCacheBatchEntries: 4096,
  /**
   * Keys of a `getMany` beyond which it goes past them: a key costs about 0.6 us to look for and to note, which is lost where
   * very many are asked for, as those are rarely the ones of the last time and displace others.
   */
  rowCacheGetKeys: 128,
  /** How long the engine need not be asked, which might have been displaced: as often it looks for that itself. */
  rowCacheTrustMs: 1_000,
  /** Calls of the binding after which timers and I/O get their turn: a few milliseconds. */
  callsPerTurn: 256,
  /** Rows in one block of a scan, unless the caller asks for another number. */
  scanBlockRows: 1000,
  /** Most rows in one block of a scan, however many the caller asks for. */
  mostBlockRows: 1_048_576,
  /** Bytes at which a block of a scan is handed over, however few rows it has. */
  scanBlockBytes: 4 * 1024 * 1024,
  /** A scan limited to so many rows reads block by block, without reading ahead. */
  smallScanRows: 100,
  /** How far other scans read ahead. */
  scanReadAheadBytes: 256 * 1024,
  /** Block fetches that a scan keeps in flight. */
  scanFetchTasks: 4,
  /** Longest key that SlateDB takes. */
  keyBytes: 65_535,
  /** Longest value. SlateDB's own limit is 4 GiB; offsets of a packed buffer are 32-bit. */
  valueBytes: 1024 * 1024 * 1024,
  /** Most bytes in one packed buffer: offsets are 32-bit and `absent` is reserved. */
  packedBytes: 0xffff_fff0,
  /** First size of a batch builder's buffer. */
  batchInitialBytes: 4096,
  /** How long one read may take, or one write until it is durable. */
  requestTimeoutMs: 60_000,
  /** How long opening may take to find out that the place cannot be used. */
  preflightTimeoutMs: 10_000,
  /** Tries of one preflight request, and the wait after the first; it grows with each. */
  preflightAttempts: 3,
  preflightRetryMs: 200,
  /** Least time after which a single request of the engine to S3 is given up and made again. */
  s3LeastTimeoutMs: 1_000,
  /** Connections of the client that runs the preflight and reads manifests. */
  s3Sockets: 4,
  /** How long the engine may take to open, replay included, before the attempt is given up. */
  openTimeoutMs: 120_000,
  /** How long a stuck write waits before the place is probed for the reason. */
  slowWriteProbeMs: 2_000,
  /** How long closing waits for the engine. */
  closeTimeoutMs: 30_000,
  /** Least age of a write-ahead object that garbage collection may delete, and the default. */
  walMinAgeMs: 3_600_000,
  /** Looks at the manifest in each half of the least age, so that one that fails does not matter. */
  heartbeatsPerHalfAge: 4,
  /** How often an idle writer looks whether its folder is still where it was. */
  folderWatchMs: 1_000,
  /** How long a reader trusts its last look at that, and a writer before it begins to write. */
  folderTrustMs: 100,
  /** How long a folder is held for what an engine that has ended may still be writing. */
  folderLingerMs: 5_000,
  /** How long closing waits for the engine of a store whose folder is gone. */
  goneCloseTimeoutMs: 1_000,
  /** Write-ahead objects after which the memtable is flushed, so that opening replays at most about so many. */
  walObjectsPerCheckpoint: 512,
  /** Reopenings after a stall that one write survives. */
  stallRecoveries: 4,
  /** Tries to read a manifest that is collected between listing and reading. */
  manifestReadAttempts: 5,
  /** Bytes of the file with which a folder is probed: about those that do not get through, within these bounds. */
  probeMinBytes: 64 * 1024,
  probeMaxBytes: 64 * 1024 * 1024,
  /** How often the engine looks for a newer writer and for compactions. */
  manifestPollIntervalMs: 1_000,
  /** How often the compactor looks for work. */
  compactorPollIntervalMs: 1_000,
  /** How often garbage is collected. */
  collectionIntervalMs: 60_000,
  /** How often tables are collected that compaction has replaced. */
  tableCollectionIntervalMs: 600_000,
  /** Tables of level 0 at which flushing waits for the compactor. */
  l0Tables: 32,
  /** Bytes at which a memtable becomes a table of level 0. */
  l0TableBytes: 64 * 1024 * 1024,
  /** Bytes not yet in tables at which writes wait. */
  unflushedBytes: 256 * 1024 * 1024,
  /** Fixed by the binding: memory for blocks of one open store. */
  blockCacheBytes: 512 * 1024 * 1024,
  /** Fixed by the binding: memory for filters and indexes of one open store. */
  metadataCacheBytes: 128 * 1024 * 1024,
  /** How long a reader's pin of its state lives in the store when the reader dies. */
  readerCheckpointLifetimeMs: 600_000,
  /** Bytes of one table in memory while a reader replays the write-ahead log. */
  readerMemtableBytes: 64 * 1024 * 1024,
  /** How often a reader looks for a newer state. */
  readerPollIntervalMs: 1000,
} as const;
