/* oxlint-disable max-lines -- the whole public contract is meant to be one file */
/**
 * The public contract of `moraine`, all of it in this one file: how a catalog is opened, every read, every verb of a commit,
 * every type that goes in or comes out, every error code. `test/contract.test.ts` makes the compiler prove that the implementation
 * keeps it, and a test compiles and runs each example below.
 *
 * Rules that hold everywhere
 *
 * - Names are camelCase, options are objects. A `?` property may be left out; `null` never stands for "left out".
 * - 64-bit ids are `bigint`, branded by kind: a `TableId` is no `IndexId`. Counts may be passed as `number` too.
 * - Values of rows, keys and entries have one form for each column type, the same in every read; what is read can be inserted
 *   or looked up again. The table below has them, with what else is accepted.
 * - Every call checks its arguments before it does anything. What it throws is a `MoraineError`: `code` says which kind,
 *   `retryable` whether the same call can succeed later, `remedy` what to do. No message holds an indexed value.
 * - What the arguments alone show to be wrong is `invalid_argument`, and the message names the argument; what a rule of the
 *   catalog, of an index or of its rows forbids is `constraint`.
 * - Names of schemas, tables, views, macros, columns and indexes are unique without regard to case, as DuckDB compares them;
 *   reads find exactly what is written. A column type is one of DuckLake or DuckDB's name for it.
 * - What `commit` has resolved is durable, in the sense of the store's backend (README, "What durable means").
 *
 * Values
 *
 * | column type                                | read as                                  | accepted as well                            |
 * | ------------------------------------------ | ---------------------------------------- | ------------------------------------------- |
 * | TINYINT to INTEGER, UTINYINT to UINTEGER   | `number`                                 | `bigint`                                    |
 * | BIGINT, UBIGINT                            | `bigint`                                 | `number`, if it is a safe integer           |
 * | FLOAT, DOUBLE                              | `number`                                 |                                             |
 * | BOOLEAN                                    | `boolean`                                |                                             |
 * | VARCHAR, JSON                              | `string`                                 |                                             |
 * | BLOB                                       | `Uint8Array`                             |                                             |
 * | UUID                                       | `"00112233-4455-6677-8899-aabbccddeeff"` | its 16 bytes                                |
 * | DECIMAL(p,s)                               | `"12.50"`, with all s digits             | `bigint`; `number` of at most s digits      |
 * | DATE                                       | `"2026-02-28"`                           | `Date` at midnight UTC; `bigint` of days    |
 * | TIME, TIME_NS                              | `"12:34:56.789"`                         | `bigint` count in the type's unit           |
 * | TIMESTAMP, TIMESTAMP_S, _MS, _NS           | `"2026-02-28 12:34:56.789"`              | `Date`; `bigint` count in the type's unit   |
 * | TIMESTAMPTZ                                | `"2026-02-28 12:34:56.789+00"`           | `Date`; `bigint` microseconds; other offset |
 * | STRUCT                                     | object of its fields                     |                                             |
 * | LIST                                       | array                                    |                                             |
 * | MAP                                        | `Map`                                    |                                             |
 * | SQL NULL                                   | `null`                                   | a property that is missing                  |
 *
 * Text of dates and times is DuckDB's, in UTC: `"0044-03-15 (BC)"`, `"infinity"`. A plain `number` is refused for them, as it could
 * be days, milliseconds or a count. Counts are from 1970-01-01 or from midnight. Nothing is rounded but FLOAT. Columns of other
 * types (HUGEINT, UHUGEINT, INTERVAL, TIMETZ, GEOMETRY) have no plain form: rows of such tables come from data files. No
 * column of them can be indexed, nor a nested one.
 *
 * Every example runs as it stands after this beginning, on a new store each; `// =>` shows what a line gives. `dataFile`,
 * `deleteFile` and `flushedFile` describe Parquet files that DuckDB has written into the table's folder: flights 4 and 5,
 * the death of the first of these two, and flights 1 to 3.
 *
 * @prelude
 * import { Catalog, mainSchema } from "moraine";
 * const catalog = await Catalog.open({ store: "memory://lake", dataPath: "lake-data" });
 * const { value: { table, byNumber, byDelay } } = await catalog.commit((tx) => {
 *   const table = tx.createTable({
 *     schema: mainSchema,
 *     name: "flights",
 *     columns: [
 *       { name: "number", columnType: "BIGINT", nullsAllowed: false },
 *       { name: "origin", columnType: "VARCHAR" },
 *       { name: "delay", columnType: "INTEGER" },
 *     ],
 *   });
 *   tx.inlineInsert({
 *     table,
 *     rows: [
 *       { number: 1, origin: "OSL", delay: 12 },
 *       { number: 2, origin: "OSL", delay: null },
 *       { number: 3, origin: "BGO", delay: 40 },
 *     ],
 *   });
 *   const byNumber = tx.createIndex({ table, name: "flights_number", columns: ["number"], unique: true });
 *   const byDelay = tx.createIndex({
 *     table,
 *     name: "flights_delay",
 *     columns: ["origin", "delay"],
 *     orders: [{ direction: "asc" }, { direction: "desc" }],
 *   });
 *   return { table, byNumber, byDelay };
 * });
 */
import type {
  ColumnId,
  ColumnVector,
  DataFileId,
  DeleteFileId,
  IndexId,
  MacroId,
  MappingId,
  PartitionId,
  RowId,
  SchemaId,
  SnapshotId,
  SortId,
  TableId,
  ViewId,
} from "@moraine/codec";
import type { RecordBatch, Table } from "apache-arrow";
// oxlint-disable-next-line typescript/ban-ts-comment -- stays in the declarations: an optional package may be missing where they are read
/** @ts-ignore Optional: only `openDuckDB` needs it. */
import type { DuckDBConnection, DuckDBInstance } from "@duckdb/node-api";

// ---------------------------------------------------------------------------------------------------------------------
// Opening
// ---------------------------------------------------------------------------------------------------------------------

/** How a catalog is opened: the static side of `Catalog`. */
export interface CatalogFactory {
  /**
   * Opens a catalog for reading and writing, and makes it where the store is empty. A store has one writer: a handle that
   * had it open before, in this process or on another machine, is fenced, and its next call fails with `fenced`. A live
   * writer in another process of this machine is not fenced but named in a `store_locked`, unless `takeOver` is set. An
   * opening that is refused for its arguments, its data path or the store's format fences nobody.
   *
   * Errors: `invalid_argument` (an option that is unknown or of the wrong type), `configuration` (a location that cannot
   * work, a data path other than the recorded one, or one that overlaps the store), `store_locked`, `store_unavailable`,
   * `store`, `migration_required` (an older format, or a migration that has begun and not ended), `unsupported` (a newer
   * format, or a data path of an unknown scheme), `open_raced` (another writer made the store at the same instant), `fenced`
   * (another writer opened it at the same instant), `corruption`.
   *
   * Source: specification, "Format gate"; newest-writer rule of the store.
   *
   * @example
   * import { Catalog } from "moraine";
   * await using other = await Catalog.open({ store: "memory://other" });
   * (await other.snapshot()).schemas().map((schema) => schema.name); // => ["main"]
   */
  open(options: OpenOptions): Promise<Catalog>;

  /**
   * Connects to the service that holds a store, and starts it where none runs, as DuckDB's extension does: any number of
   * applications and DuckDB processes of one user and machine work on the store at once. The handle does all that one of `open`
   * does. Closures of commits run in this process, on the head; where another process commits meanwhile, they run again.
   *
   * What differs from `open`:
   *
   * - Each read asks the service for the head, over a socket; entities are kept here, and only what has changed is read again.
   * - Commits of one handle land one after the other. `commitGroup` makes several with one write.
   * - A lost race is always repeated, as long as the ten runs last, also where the closure had waited for something.
   * - When the service ends, reads connect anew, and scopes of `reads` fail with `closed`. A commit whose answer was lost is
   *   repeated if it certainly did not land, and is `store_unavailable` if it may have.
   * - When the store's folder is moved away, calls fail with `store_gone` or `not_found` until it is back; nothing is made in its place, and
   *   another lake that is put there is not touched.
   * - Credentials of S3 are the service's: those of the process that started it.
   *
   * Errors: as `open`, and `store_unavailable` where no service can be started, or one of another version runs;
   * `store_locked` where a handle of `open` has the store.
   *
   * @example
   * import { Catalog } from "moraine";
   * await using first = await Catalog.connect({ store: "shared-lake" });
   * await using second = await Catalog.connect({ store: "shared-lake" });
   * const notes = { schema: mainSchema, name: "notes", columns: [{ name: "text", columnType: "VARCHAR" }] };
   * const { value: made } = await first.commit((tx) => tx.createTable(notes));
   * await second.commit((tx) => tx.inlineInsert({ table: made, rows: [{ text: "hello" }] }));
   * const [row] = await first.recentRows({ table: made });
   * row?.values["text"]; // => "hello"
   */
  connect(options: ConnectOptions): Promise<Catalog>;

  /**
   * Opens a catalog for reading only. It fences nobody, changes nothing of the catalog, and follows the writer with a delay
   * of about `pollIntervalMs`. Any number of such handles may be open, in any number of processes.
   *
   * The store keeps what a reader reads from being collected by a note in its manifest, which the reader writes: it needs
   * the right to write below `manifest/` of the store (on S3: list and get, and put there).
   *
   * Errors: `not_found` where there is no store, `invalid_argument`, `configuration`, `store_unavailable` (also where the
   * right to write manifests is missing), `store`, `migration_required` and `unsupported` as for `open`, `corruption` (also
   * where a store holds no catalog).
   *
   * @example
   * import { Catalog } from "moraine";
   * await using reader = await Catalog.openReadOnly({ store: "memory://lake" });
   * await reader.indexLookup({ index: byNumber, key: [2] }); // => [1n]
   */
  openReadOnly(options: OpenReadOnlyOptions): Promise<ReadOnlyCatalog>;
}

export interface OpenOptions {
  /**
   * Where the catalog's store lies: `s3://bucket/prefix`, `file:///absolute/path`, a plain path, or `memory://name` (in this
   * process, gone with it). Endpoint, region and credentials of S3 come from the environment and the AWS files.
   */
  readonly store: string;
  /**
   * Where data files lie: a folder or URL of the same kinds. Recorded when the store is made, or at the first open that
   * names one; from then on it may be left out, and another one is refused. A relative path is made absolute. It must not
   * contain the store nor lie within it. Without a data path only inline rows and files with entries of the caller's can
   * be indexed.
   */
  readonly dataPath?: string;
  /**
   * Whether new data files are to be encrypted, for other writers to see. Recorded when the store is made, and passed over
   * where there is one. Default `false`.
   */
  readonly encrypted?: boolean;
  /** When commits become durable. Default `"eager"`. */
  readonly flush?: FlushPolicy;
  /** Opens the store although a live process of this machine is writing to it, and fences that one. Default `false`. */
  readonly takeOver?: boolean;
  /** How long one read of the store, or one write until it is durable, may take, in milliseconds. Default 60,000. */
  readonly requestTimeoutMs?: number;
  /** Whether blocks of the store that were read stay in memory (at most 512 MiB a store). Default `true`. */
  readonly blockCache?: boolean;
}

export interface ConnectOptions {
  /** As for `open`. A store in memory is the service's, and gone with it. */
  readonly store: string;
  /** As for `open`, but that it may contain the store. */
  readonly dataPath?: string;
  /** As for `open`. */
  readonly encrypted?: boolean;
  /** How long one read, or one commit until it is durable, may take, in milliseconds. Default 60,000. */
  readonly requestTimeoutMs?: number;
}

export interface OpenReadOnlyOptions {
  /** As for `open`. */
  readonly store: string;
  /** How often to look for newer commits, in milliseconds. Default 1,000. */
  readonly pollIntervalMs?: number;
  /** How long one read of the store may take, in milliseconds. Default 60,000. */
  readonly requestTimeoutMs?: number;
}

/**
 * `"eager"`: a commit is written at once. `{ intervalMs }`: there is at most one write in so many milliseconds, and commits
 * that come sooner after the one before wait and are written together, which saves requests to S3. Either way a commit
 * resolves when it is durable.
 */
export type FlushPolicy = "eager" | { readonly intervalMs: number };

// ---------------------------------------------------------------------------------------------------------------------
// Reading
// ---------------------------------------------------------------------------------------------------------------------

/**
 * What every handle can read. Each call reads one cut of the catalog: all of a commit or nothing of it. Use
 * `Catalog.reads` for several reads that must agree. A handle that only reads has no such scope, as it cannot pin the store:
 * each of its reads is checked, and repeated when the writer overtook it.
 *
 * Errors of every method: `closed`, `fenced`, `store_gone`, `store_unavailable` (also when a read was overtaken eight times), `store`,
 * `corruption`. Those that read data files: also `not_found` for a missing object, `data_file` for one that cannot be read,
 * `corruption` for one with another number of rows than recorded, `unsupported` for an encrypted one.
 */
export interface ReadOnlyCatalog extends AsyncDisposable {
  /**
   * The catalog's entities at the head.
   *
   * @example
   * const snapshot = await catalog.snapshot();
   * snapshot.tablesIn(mainSchema).map(({ name }) => name); // => ["flights"]
   */
  snapshot(): Promise<CatalogSnapshot>;

  /**
   * The catalog's entities as they were at an earlier snapshot.
   *
   * Errors: `not_found` above the head, `snapshot_expired` where the snapshot's record is gone.
   *
   * Source: DuckLake, time travel.
   *
   * @example
   * const before = (await catalog.snapshot()).currentSnapshot.id;
   * await catalog.commit((tx) => tx.renameTable({ table, name: "departures" }));
   * (await catalog.snapshotAt(before)).tableById(table)?.name; // => "flights"
   */
  snapshotAt(snapshot: SnapshotId): Promise<CatalogSnapshot>;

  /**
   * Snapshots that are retained, the newest first, with what each one changed.
   *
   * @example
   * await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ number: 4 }] }), { author: "Ada" });
   * const [newest] = await catalog.snapshots({ limit: 1 });
   * newest?.author; // => "Ada"
   * newest?.changes; // => `inserted_into_table:${table}`
   */
  snapshots(args?: SnapshotsArguments): Promise<SnapshotRecord[]>;

  /**
   * Row ids of the rows whose indexed columns equal the key, ascending. Rows with NULL are found with `indexNulls`.
   *
   * Errors: `not_found` (no such index, or a poisoned one), `index_building`, `invalid_argument` (too few or too many values,
   * a NULL among them, or one that its column cannot hold), `constraint` (a key of more than 1,024 bytes, which no row has),
   * `unsupported` (another snapshot than the head).
   *
   * Source: specification, "Lookups".
   *
   * @example
   * await catalog.indexLookup({ index: byNumber, key: [3] }); // => [2n]
   * await catalog.indexLookup({ index: byDelay, key: ["OSL", 12] }); // => [0n]
   */
  indexLookup(args: IndexLookupArguments): Promise<RowId[]>;

  /**
   * Row ids for any of the keys, ascending, each once: SQL's `IN`. Errors: as `indexLookup`, but a NULL is none: such a key
   * finds nothing.
   *
   * @example
   * await catalog.indexLookupMany({ index: byNumber, keys: [[3], [1], [99]] }); // => [0n, 2n]
   */
  indexLookupMany(args: IndexLookupManyArguments): Promise<RowId[]>;

  /**
   * Row ids of the rows between two bounds, in the index's order. A bound gives values of leading columns; a side that is
   * left out is open. `lower` is the smaller value, whatever the direction of its column: that says only in which order the
   * rows come. In a composite index give both bounds the same leading values, and a bound that stops after them is open
   * within them. Rows with NULL in a bounded column are not in the range, nor those with NULL in the first one where no bound
   * is given: `indexNulls` reads them. Errors: as `indexLookup`, and `invalid_argument` for bounds that do not make one range, for instance in an index of both directions.
   *
   * Source: specification, "Range and comparison queries".
   *
   * @example
   * await catalog.indexRange({ index: byNumber, lower: { values: [2] } }); // => [1n, 2n]
   * const fromOslo = { values: ["OSL"] };
   * await catalog.indexRange({ index: byDelay, lower: fromOslo, upper: fromOslo }); // => [0n, 1n]
   * const over10 = { values: ["OSL", 10], inclusive: false };
   * await catalog.indexRange({ index: byDelay, lower: over10, upper: fromOslo }); // => [0n]
   */
  indexRange(args: IndexRangeArguments): Promise<RowId[]>;

  /**
   * Row ids of the rows with NULL where the prefix has `null`, in the index's order. Errors: as `indexLookup`, and
   * `invalid_argument` for a prefix without `null`.
   *
   * @example
   * await catalog.indexNulls({ index: byDelay, prefix: ["OSL", null] }); // => [1n]
   */
  indexNulls(args: IndexNullsArguments): Promise<RowId[]>;

  /**
   * Live inline rows of a table, at the head or as they were at an earlier snapshot, by row id. Rows in data files are not
   * among them. Errors: `not_found` for a snapshot above the head.
   *
   * Source: DuckLake, data inlining.
   *
   * @example
   * const rows = await catalog.recentRows({ table });
   * rows.map((row) => row.values["origin"]); // => ["OSL", "OSL", "BGO"]
   */
  recentRows(args: RecentRowsArguments): Promise<RecentRow[]>;

  /**
   * One live inline row; `undefined` when no live row of that id is inline.
   *
   * @example
   * const row = await catalog.recentRow({ table, rowId: 2n });
   * row?.values["number"]; // => 3n
   */
  recentRow(args: RecentRowArguments): Promise<RecentRow | undefined>;

  /**
   * Versions of inline rows, dead ones too, by one of the four ways in which DuckLake reads them. Errors: `not_found` for a
   * snapshot above the head.
   *
   * @example
   * const { snapshotId } = await catalog.commit((tx) => tx.inlineDelete({ table, rowId: 0n }));
   * const gone = await catalog.scanInline({ table, scan: { kind: "deletions", start: snapshotId, at: snapshotId } });
   * gone.map((row) => row.rowId); // => [0n]
   */
  scanInline(args: ScanInlineArguments): Promise<RecentRow[]>;

  /**
   * Rows of data files that were deleted one by one (`inlineDelete`), by file and position: a reader of the files leaves them
   * out beside those that delete files name.
   *
   * @example
   * await catalog.commit((tx) =>
   *   tx.registerDataFile({ table, file: dataFile, entries: "scoped-read" }),
   * );
   * await catalog.commit((tx) => tx.inlineDelete({ table, rowId: 4n }));
   * const [row] = await catalog.deletedFileRows({ table });
   * row?.position; // => 1n
   */
  deletedFileRows(args: DeletedFileRowsArguments): Promise<DeletedFileRow[]>;

  /**
   * The entries that a data file would have in every index of its table, read from the file before it is registered, in the
   * form that `registerDataFile` takes. `constraint` for a file that embeds row ids, for partition values that do not match
   * the table's spec, and for more entries than one commit may have; `configuration` without a data path.
   *
   * Source: specification, "Rewrite files: row-id resolution" (ordinal mode).
   *
   * @example
   * const entries = await catalog.scopedFileIndexEntries({ table, file: dataFile });
   * await catalog.commit((tx) => tx.registerDataFile({ table, file: dataFile, entries }));
   * await catalog.indexLookup({ index: byNumber, key: [5] }); // => [4n]
   */
  scopedFileIndexEntries(args: ScopedFileIndexEntriesArguments): Promise<FileIndexVectors[]>;

  /**
   * Entries of every live row of a table's data files, over the given columns: what `createIndex` takes as `backfill`.
   * `constraint` for more rows than one commit may index, `configuration` without a data path.
   *
   * @example
   * await catalog.commit((tx) =>
   *   tx.registerDataFile({ table, file: dataFile, entries: "scoped-read" }),
   * );
   * const columns = (await catalog.snapshot()).columnsOf(table).map((column) => column.id);
   * await catalog.scopedBackfillEntries({ table, columns: columns.slice(0, 1) });
   * // => [{ rowId: 3n, values: [4n] }, { rowId: 4n, values: [5n] }]
   */
  scopedBackfillEntries(args: BackfillEntriesArguments): Promise<IndexEntry[]>;

  /**
   * Entries of every live inline row of a table, over the given columns. `createIndex` reads inline rows by itself; this shows
   * what it finds.
   *
   * @example
   * const columns = (await catalog.snapshot()).columnsOf(table).map((column) => column.id);
   * const [first] = await catalog.inlineBackfillEntries({ table, columns: columns.slice(0, 2) });
   * first; // => { rowId: 0n, values: [1n, "OSL"] }
   */
  inlineBackfillEntries(args: BackfillEntriesArguments): Promise<IndexEntry[]>;

  /**
   * Entries and bytes of every part of the store and of every index, dropped ones that wait for `maintain` included. Reads
   * the whole store. Bytes are those of keys and values before compression.
   *
   * Source: specification, "Reclamation"; reference, `store_census`.
   *
   * @example
   * const census = await catalog.census();
   * census.indexes.map(({ name, entries }) => `${name}: ${entries}`); // => ["flights_number: 3", "flights_delay: 3"]
   */
  census(options?: CensusOptions): Promise<Census>;

  /**
   * Maintenance passes that were recorded, the newest first. The newest 16 are kept.
   *
   * @example
   * const pass = { startedAtMicros: 0n, trigger: "manual", steps: [] };
   * await catalog.recordMaintenancePass(pass);
   * await catalog.maintenanceStatus(); // => [pass]
   */
  maintenanceStatus(): Promise<MaintenancePass[]>;

  /** Closes the handle; its calls then fail with `closed`. Closing twice is harmless. `await using` does it by itself. */
  close(): Promise<void>;
}

/** A catalog open for reading and writing. */
export interface Catalog extends ReadOnlyCatalog {
  /**
   * Runs the closure's verbs as one atomic commit, and resolves when that is durable. When the closure waits for something
   * and other commits are made meanwhile, it depends on what they changed: one that touched the same state makes this commit
   * fail with `commit_conflict`; otherwise the closure runs again on the newer state. It runs at most ten times for that, and
   * again whenever an index refuses a commit that it was built on, which does not count. So it must have no effects of its
   * own. Independent commits that are made at the same time land together, with one write of the store. A closure that
   * stages nothing makes no snapshot.
   *
   * Errors: whatever the closure throws; `constraint` for rows that an index refuses or for a commit of more than 1,000,000
   * index entries or 64 MiB of them; `commit_conflict` when another commit touched the same state meanwhile, and
   * `retry_budget_exhausted` after ten runs; for data files that have to be read, `not_found`, `data_file`, `corruption` and
   * `unsupported` as in `registerDataFile`; `invalid_argument` for a commit that a closure begins before it has
   * waited for anything; `interrupted` by `signal`; `fenced`, `store_gone`, `closed`, `store`, `store_unavailable`.
   *
   * Source: specification, "Uniqueness enforcement", "Commit size is bounded, and why it must be".
   *
   * @example
   * const result = await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ number: 4, origin: "TRD" }] }));
   * result.value; // => 3n
   * await catalog.indexLookup({ index: byNumber, key: [4] }); // => [3n]
   */
  commit<T>(closure: CommitClosure<T>, options?: CommitOptions): Promise<CommitResult<T>>;

  /**
   * Runs several closures as commits of their own, each on the state that the one before it leaves, that land together or
   * not at all, with one write of the store. Gives their results in order. Errors: as `commit`, and `invalid_argument` for
   * more than 64 closures.
   *
   * @example
   * const numbers = [4, 5];
   * const results = await catalog.commitGroup(
   *   numbers.map((number) => (tx) => tx.inlineInsert({ table, rows: [{ number }] })),
   * );
   * results.map(({ value }) => value); // => [3n, 4n]
   */
  commitGroup<T>(closures: readonly CommitClosure<T>[], options?: CommitOptions): Promise<CommitResult<T>[]>;

  /**
   * Pins the head for several reads that must agree. Release it when done: a cut that is held keeps the store from
   * reclaiming what it shows.
   *
   * @example
   * using scope = await catalog.reads();
   * await catalog.commit((tx) => tx.inlineDelete({ table, rowId: 2n }));
   * await scope.indexLookup({ index: byNumber, key: [3] }); // => [2n]
   */
  reads(): Promise<ReadScope>;

  /**
   * Writes a table's live inline rows to Parquet files in the data path, one for each schema version, and drains them from
   * the catalog in one commit. Rows keep their ids, so no index entry changes. Rows that are inlined meanwhile stay inline.
   * Past snapshots lose the inline rows that had died before. Where rows are deleted meanwhile it begins again; from the
   * fourth time on other commits wait for it.
   *
   * Errors: `not_found`, `configuration` without a data path, `unsupported` for a partitioned table and in an encrypted lake,
   * `retry_budget_exhausted` when rows were deleted during each of five tries, the last two of which then took longer than
   * ten seconds; as `commit`.
   *
   * Source: specification, "Coverage"; DuckLake, `ducklake_flush_inlined_data`.
   *
   * @example
   * const { rowCount } = await catalog.flushInlined({ table });
   * rowCount; // => 3
   * (await catalog.recentRows({ table })).length; // => 0
   * await catalog.indexLookup({ index: byNumber, key: [2] }); // => [1n]
   */
  flushInlined(args: FlushInlinedArguments): Promise<FlushInlinedResult>;

  /**
   * Reclaims what dropped indexes and vanished files left behind, in bounded batches beside running commits.
   *
   * Source: specification, "Reclamation".
   *
   * @example
   * await catalog.commit((tx) => tx.dropIndex({ index: byDelay }));
   * (await catalog.maintain()).indexEntriesReclaimed; // => 3
   */
  maintain(options?: MaintainOptions): Promise<MaintainReport>;

  /**
   * Records what a maintenance pass did, for `maintenanceStatus`. Makes no snapshot.
   *
   * @example
   * const steps = [{ step: "sweep indexes", status: "ran", detail: "3 entries" }] as const;
   * await catalog.recordMaintenancePass({ startedAtMicros: 0n, trigger: "scheduled", steps });
   * (await catalog.maintenanceStatus())[0]?.trigger; // => "scheduled"
   */
  recordMaintenancePass(pass: MaintenancePass): Promise<void>;

  /**
   * Deletes at most `limit` entries of one dropped index. Gives how many it deleted. `constraint` while the index is live.
   *
   * @example
   * await catalog.commit((tx) => tx.dropIndex({ index: byDelay }));
   * await catalog.reclaimIndexEntries({ index: byDelay, limit: 2 }); // => 2
   */
  reclaimIndexEntries(args: ReclaimIndexEntriesArguments): Promise<number>;
}

/**
 * One cut of the catalog: its entities, its inline rows and its index entries, all of the same revision. The reads are those
 * of `ReadOnlyCatalog`. After `release` they fail with `closed`.
 *
 * Source: specification, "Core read scope".
 */
export interface ReadScope extends Disposable {
  /** The catalog's entities at this cut. */
  readonly snapshot: CatalogSnapshot;
  /** Moves with every write, also with those that make no snapshot. Two scopes of one revision read the same. */
  readonly revision: bigint;
  indexLookup(args: IndexLookupArguments): Promise<RowId[]>;
  indexLookupMany(args: IndexLookupManyArguments): Promise<RowId[]>;
  indexRange(args: IndexRangeArguments): Promise<RowId[]>;
  indexNulls(args: IndexNullsArguments): Promise<RowId[]>;
  recentRows(args: RecentRowsArguments): Promise<RecentRow[]>;
  recentRow(args: RecentRowArguments): Promise<RecentRow | undefined>;
  scanInline(args: ScanInlineArguments): Promise<RecentRow[]>;
  /** Releasing again does nothing. `using` does it by itself. */
  release(): void;
}

/** Which index, and optionally at which snapshot: entries describe live rows only, so any but the head is refused. */
export interface IndexTarget {
  readonly index: IndexId;
  readonly at?: SnapshotId;
}

export interface IndexLookupArguments extends IndexTarget {
  /** One value for each column of the index, in a form of the table of values. */
  readonly key: readonly unknown[];
}

export interface IndexLookupManyArguments extends IndexTarget {
  /** Complete keys. Repeated ones count once, one with a NULL finds nothing. */
  readonly keys: readonly (readonly unknown[])[];
}

/** One side of a range: values of leading columns. */
export interface RangeBound {
  readonly values: readonly unknown[];
  /** Whether rows that equal the values take part. Default `true`. */
  readonly inclusive?: boolean;
}

export interface IndexRangeArguments extends IndexTarget {
  readonly lower?: RangeBound;
  readonly upper?: RangeBound;
  /** The exact opposite of the index's order. Default `false`. */
  readonly reverse?: boolean;
  /** Most rows to return. Default: all. */
  readonly limit?: number;
}

export interface IndexNullsArguments extends IndexTarget {
  /** Predicates on leading columns: a value is equality, `null` is IS NULL. At least one `null`. */
  readonly prefix: readonly unknown[];
  /** The exact opposite of the index's order. Default `false`. */
  readonly reverse?: boolean;
  /** Most rows to return. Default: all. */
  readonly limit?: number;
}

export interface RecentRowsArguments {
  readonly table: TableId;
  /** Default: the head. */
  readonly at?: SnapshotId;
}

export interface RecentRowArguments {
  readonly table: TableId;
  readonly rowId: RowId | bigint;
}

export interface DeletedFileRowsArguments {
  readonly table: TableId;
}

/** A row of a data file that was deleted by itself, beside the file's delete files. */
export interface DeletedFileRow {
  readonly dataFileId: DataFileId;
  /** The row's position in the file, from 0. */
  readonly position: bigint;
  /** The snapshot from which on the row is dead. */
  readonly beginSnapshot: SnapshotId;
}

export interface ScopedFileIndexEntriesArguments {
  readonly table: TableId;
  /** The file as it is going to be registered. */
  readonly file: DataFile;
}

export interface BackfillEntriesArguments {
  readonly table: TableId;
  /** Field ids of the columns, in the order in which an index has them. */
  readonly columns: readonly ColumnId[];
}

export interface ScanInlineArguments {
  readonly table: TableId;
  readonly scan: InlineScan;
}

/**
 * Which versions of inline rows a scan gives. `table`: live at a snapshot. `insertions` and `deletions`: begun or ended in a
 * window, both ends included. `flush`: begun by a snapshot, ended or not.
 */
export type InlineScan =
  | { readonly kind: "table" | "flush"; readonly at: bigint }
  | { readonly kind: "insertions" | "deletions"; readonly start: bigint; readonly at: bigint };

/** One inline row. */
export interface RecentRow {
  readonly rowId: RowId;
  /** The snapshot at which this version of the row began. */
  readonly beginSnapshot: SnapshotId;
  /** The snapshot at which it ended; `undefined` while it lives. */
  readonly endSnapshot: SnapshotId | undefined;
  readonly schemaVersion: bigint;
  /** Values by the column names of that schema version, in the forms of the table of values. `inlineInsert` takes them. */
  readonly values: Readonly<Record<string, unknown>>;
}

export interface SnapshotsArguments {
  /** Most snapshots to return. Default: all. */
  readonly limit?: number;
  /** Only snapshots older than this one, to page on. Default: from the head. */
  readonly before?: SnapshotId;
}

/** A snapshot with what the commit that made it said about itself. */
export interface SnapshotRecord extends SnapshotInfo {
  /** DuckLake's `changes_made`, for instance `created_table:"main"."flights",inserted_into_table:4`. */
  readonly changes: string;
  readonly author: string | undefined;
  readonly message: string | undefined;
  readonly extraInfo: string | undefined;
}

export interface CensusOptions {
  /** Called now and then with the number of records counted so far. */
  readonly onProgress?: (entries: number) => void;
}

export interface Census {
  /** The store's location in its canonical form. */
  readonly location: string;
  /** How this process reads and writes the stores that it opens. */
  readonly loops: StoreLoops;
  /** Every part of the store that holds records, in key order. */
  readonly subspaces: readonly SubspaceSize[];
  /** Every index that is defined or holds entries, by ascending id. */
  readonly indexes: readonly IndexSize[];
  readonly total: StoreSize;
}

/** The code that reads and writes stores: native loops where they could be loaded, else the plain binding, several times slower. */
export interface StoreLoops {
  readonly name: "native" | "plain";
  /** Why not the native ones; absent where those are in use. */
  readonly reason?: string;
}

/** Records and their bytes, as they are before compression. */
export interface StoreSize {
  readonly entries: number;
  readonly keyBytes: number;
  readonly valueBytes: number;
}

export interface SubspaceSize extends StoreSize {
  /** `system`, `snapshot`, `current`, `history`, `inline`, `index`, `schema_version`, `changelog`, or `unknown(0x..)`. */
  readonly subspace: string;
}

export interface IndexSize extends StoreSize {
  readonly indexId: IndexId;
  /** `undefined` for an index that is dropped; `maintain` takes its entries. */
  readonly name: string | undefined;
  /** `undefined` for an index that is dropped. */
  readonly tableId: TableId | undefined;
  readonly state: IndexState | "dropped";
  /** Entries keyed by value alone; the rest are keyed by value and row id. */
  readonly uniqueEntries: number;
}

export interface MaintainOptions {
  /** Entries of dropped indexes. Default `true`. */
  readonly sweepIndexes?: boolean;
  /** Column statistics of files that no snapshot can see. Default `true`. */
  readonly sweepFileStatistics?: boolean;
  /** Records deleted in one batch. Default 1,024. */
  readonly batchSize?: number;
  /** Called after each batch, with the sums so far. */
  readonly onProgress?: (report: MaintainReport) => void;
}

export interface MaintainReport {
  readonly indexesSwept: number;
  readonly indexEntriesReclaimed: number;
  readonly fileColumnStatsReclaimed: number;
}

export interface MaintenancePass {
  /** Microseconds since the epoch, UTC. */
  readonly startedAtMicros: bigint;
  /** `manual`, `scheduled`, or the caller's own word. */
  readonly trigger: string;
  readonly steps: readonly MaintenanceStep[];
}

/** One step of a maintenance pass. */
export interface MaintenanceStep {
  readonly step: string;
  readonly status: "ran" | "skipped" | "failed";
  /** What it did, or why not. */
  readonly detail: string;
}

export interface ReclaimIndexEntriesArguments {
  readonly index: IndexId | bigint;
  readonly limit: number;
}

export interface FlushInlinedArguments {
  readonly table: TableId;
}

export interface FlushInlinedResult {
  /** The snapshot that the flush made, or the unchanged head if there was nothing to flush. */
  readonly snapshotId: SnapshotId;
  readonly dataFileIds: readonly DataFileId[];
  readonly rowCount: number;
}

// ---------------------------------------------------------------------------------------------------------------------
// Committing
// ---------------------------------------------------------------------------------------------------------------------

/**
 * What a commit does. It may run several times, so it must have no effects outside of its transaction, and what it
 * passes to a verb must not change until the commit has settled: many rows are read in the first run only.
 */
export type CommitClosure<T> = (transaction: Transaction) => T | Promise<T>;

export interface CommitOptions {
  /** Recorded with the snapshot. */
  readonly author?: string;
  /** Recorded with the snapshot. */
  readonly message?: string;
  /** Recorded with the snapshot. */
  readonly extraInfo?: string;
  /** Cancels the commit. One that is being written already still lands; the caller is told at once. */
  readonly signal?: AbortSignal;
}

export interface CommitResult<T> {
  /** The snapshot that the commit made, or the unchanged head if it made none. */
  readonly snapshotId: SnapshotId;
  /** What the closure returned. */
  readonly value: T;
}

/**
 * The catalog as it stands at one snapshot, or as the verbs of a transaction leave it. A value: later commits do not move
 * it. Reads that find nothing give `undefined` or an empty list. Names are found as they are written; only
 * `indexBySchemaName` does without regard to case. Of a past snapshot, statistics, options, mappings and scheduled deletions
 * are those of the present.
 *
 * Source: DuckLake, the catalog's tables.
 *
 * @example
 * const snapshot = await catalog.snapshot();
 * snapshot.schemaByName("main")?.id; // => mainSchema
 * snapshot.tableByName(mainSchema, "flights")?.id; // => table
 * snapshot.columnsOf(table).map(({ name, columnType }) => `${name} ${columnType}`);
 * // => ["number BIGINT", "origin VARCHAR", "delay INTEGER"]
 * snapshot.indexesOf(table).map(({ name, unique }) => [name, unique]);
 * // => [["flights_number", true], ["flights_delay", false]]
 * snapshot.indexBySchemaName(mainSchema, "FLIGHTS_DELAY")?.directions; // => ["asc", "desc"]
 */
export interface CatalogSnapshot {
  /** The snapshot that this is the state of; of a transaction, the one that it started from. */
  readonly currentSnapshot: SnapshotInfo;
  /** Of a transaction, the snapshot that it would make; else the same as `currentSnapshot.id`. */
  readonly snapshotId: SnapshotId;
  /** By ascending id. */
  schemas(): SchemaInfo[];
  schemaByName(name: string): SchemaInfo | undefined;
  schemaById(schema: SchemaId): SchemaInfo | undefined;
  /** By ascending id. */
  tablesIn(schema: SchemaId): TableInfo[];
  tableByName(schema: SchemaId, name: string): TableInfo | undefined;
  tableById(table: TableId): TableInfo | undefined;
  /** By position, nested fields after their parents. */
  columnsOf(table: TableId): ColumnInfo[];
  viewsIn(schema: SchemaId): ViewInfo[];
  viewByName(schema: SchemaId, name: string): ViewInfo | undefined;
  viewById(view: ViewId): ViewInfo | undefined;
  macrosIn(schema: SchemaId): MacroInfo[];
  /** `type` defaults to `"scalar"`: a scalar and a table macro may share a name. */
  macroByName(schema: SchemaId, name: string, type?: MacroType): MacroInfo | undefined;
  macroById(macro: MacroId): MacroInfo | undefined;
  mappingsOf(table: TableId): MappingInfo[];
  partitioningOf(table: TableId): PartitioningInfo | undefined;
  sortingOf(table: TableId): SortingInfo | undefined;
  /** Every index of the table, in whatever state, by ascending id. */
  indexesOf(table: TableId): IndexInfo[];
  /** The table's index of exactly that name. */
  indexByName(table: TableId, name: string): IndexInfo | undefined;
  indexById(table: TableId, index: IndexId): IndexInfo | undefined;
  /**
   * The index of that name in a schema, without regard to case. `constraint` when several answer to it, as catalogs that
   * others wrote may have it: then ask by table.
   *
   * Source: specification, "Verbs on Transaction".
   */
  indexBySchemaName(schema: SchemaId, name: string): IndexInfo | undefined;
  /** The value in force: the table's, else its schema's, else the global one. */
  option(scope: OptionScope, key: string): string | undefined;
  /** Where data files stand, if it was recorded. */
  dataPath(): string | undefined;
  /** Tags in force at this snapshot, by key. */
  tagsOf(object: SchemaId | TableId | ViewId): TagInfo[];
  scheduledDeletions(): ScheduledDeletion[];
  /** By ascending id. */
  dataFilesOf(table: TableId): DataFileInfo[];
  deleteFilesOf(table: TableId): DeleteFileInfo[];
  tableStats(table: TableId): TableStatsInfo | undefined;
  columnStats(table: TableId, column: ColumnId): ColumnStatsInfo | undefined;
}

/**
 * The verbs of one commit, and reads that see what it has staged. Handed to a commit's closure, and usable only while that
 * runs: afterwards every verb and read fails with `closed`. A verb checks its arguments at once and throws without leaving
 * anything behind; work on rows (entries, inline deletes, flushes) is done when the closure has returned, and its errors
 * reject the commit.
 *
 * Errors of every verb: `invalid_argument` naming the argument, `not_found` for an id that is not live, `closed` once the
 * closure has returned.
 *
 * Source: DuckLake, the catalog's tables; specification, "Verbs on Transaction".
 */
export interface Transaction extends CatalogSnapshot {
  /**
   * Creates an empty schema. `already_exists` when the name is taken, in whatever case; `invalid_argument` for a name that is
   * not safe in a path.
   *
   * @example
   * const { value: schema } = await catalog.commit((tx) => tx.createSchema({ name: "staging" }));
   * (await catalog.snapshot()).schemaById(schema)?.path; // => "staging/"
   */
  createSchema(args: CreateSchemaArguments): SchemaId;

  /**
   * Drops an empty schema with its options. `constraint` for `main` and for a schema that holds anything.
   *
   * @example
   * await catalog.commit((tx) => tx.dropSchema({ schema: tx.createSchema({ name: "staging" }) }));
   * (await catalog.snapshot()).schemas().length; // => 1
   */
  dropSchema(args: DropSchemaArguments): void;

  /**
   * Creates an empty table. Field ids run from 1, nested fields after their parents. `already_exists` when a table or view
   * of the schema has the name, in whatever case; `invalid_argument` without columns, with two of one name, for a type that is
   * none (`columns[2].columnType`) and for fields that the type does not have; `unsupported` for VARIANT.
   *
   * @example
   * const { value: airports } = await catalog.commit((tx) =>
   *   tx.createTable({
   *     schema: mainSchema,
   *     name: "airports",
   *     columns: [
   *       { name: "iata", columnType: "VARCHAR", nullsAllowed: false },
   *       {
   *         name: "position",
   *         columnType: "STRUCT",
   *         children: [
   *           { name: "latitude", columnType: "DOUBLE" },
   *           { name: "longitude", columnType: "DOUBLE" },
   *         ],
   *       },
   *     ],
   *   }),
   * );
   * (await catalog.snapshot()).columnsOf(airports).map(({ id }) => id); // => [1n, 2n, 3n, 4n]
   */
  createTable(args: CreateTableArguments): TableId;

  /**
   * Gives a table another name in its schema. Its files stay where they are. `already_exists` when the name is taken, in
   * whatever case, but a table may change the case of its own; `invalid_argument` for a name that is not safe in a path.
   *
   * @example
   * await catalog.commit((tx) => tx.renameTable({ table, name: "departures" }));
   * (await catalog.snapshot()).tableById(table)?.name; // => "departures"
   */
  renameTable(args: RenameTableArguments): void;

  /**
   * Moves a table to another schema, with its inline rows and its indexes. `constraint` for a table that has data files:
   * their paths begin with the schema's folder, so they would be looked for in another one. `already_exists` when that schema
   * has a table or view of the name (so also for the schema that it is in), or an index of the name of one of the table's
   * indexes.
   *
   * @example
   * await catalog.commit((tx) => tx.setTableSchema({ table, schema: tx.createSchema({ name: "archive" }) }));
   * (await catalog.snapshot()).tablesIn(mainSchema).length; // => 0
   */
  setTableSchema(args: SetTableSchemaArguments): void;

  /**
   * Drops a table with its columns, files, layout, index definitions, statistics and options. Past snapshots keep showing
   * them. Index entries stay in the store until `maintain` takes them.
   *
   * @example
   * await catalog.commit((tx) => tx.dropTable({ table }));
   * (await catalog.snapshot()).tableById(table); // => undefined
   */
  dropTable(args: DropTableArguments): void;

  /**
   * Adds a top-level column, with its fields when it is nested. Its field ids are new to the table for good.
   * Errors: as `createTable`.
   *
   * @example
   * const definition = { name: "gate", columnType: "VARCHAR" };
   * const { value: gate } = await catalog.commit((tx) => tx.addColumn({ table, definition }));
   * gate; // => 4n
   */
  addColumn(args: AddColumnArguments): ColumnId;

  /**
   * Renames a column or a nested field among its siblings. Indexes and layouts follow: they name columns by field id.
   * `already_exists` when the name is taken, but a column may change the case of its own; `constraint` for the element of a
   * list and the key and value of a map, whose names are fixed.
   *
   * @example
   * await catalog.commit((tx) => {
   *   const [number] = tx.columnsOf(table);
   *   if (number !== undefined) tx.renameColumn({ table, column: number.id, name: "flight" });
   * });
   * await catalog.indexLookup({ index: byNumber, key: [3] }); // => [2n]
   */
  renameColumn(args: RenameColumnArguments): void;

  /**
   * Changes a column's type, nullability or default. `constraint` for another type under a live index; `invalid_argument` for
   * a type that is none, and for one that the column's does not widen to in DuckLake; `unsupported` for VARIANT.
   *
   * Widening goes from integers to larger ones, floats and decimals, from decimals to floats and to decimals with more digits
   * before and behind the point, from FLOAT to DOUBLE, BOOLEAN to integers, DATE to timestamps, timestamps to finer ones,
   * TIMESTAMP to TIMESTAMPTZ, VARCHAR to JSON. Values that are there are cast when they are read. No index is built over such
   * that were stored without a time zone and are to have one: what they stand for depends on whoever reads them.
   *
   * `nullsAllowed: false` counts for rows that are inlined from then on. Nothing looks at the rows that are there, so check
   * first that none has NULL.
   *
   * Source: specification, "Column DDL on indexed columns".
   *
   * @example
   * const column = (await catalog.snapshot()).columnsOf(table)[1]!.id;
   * await catalog.commit((tx) => tx.alterColumn({ table, column, defaultValue: "'OSL'" }));
   * (await catalog.snapshot()).columnsOf(table)[1]?.defaultValue; // => "'OSL'"
   */
  alterColumn(args: AlterColumnArguments): void;

  /**
   * Drops a column, or a nested field, with everything below it. `constraint` when it is the last top-level column, the
   * only field of a struct, part of a list or a map, a partition key, or under a live index. No other column gets its id.
   *
   * @example
   * const column = (await catalog.snapshot()).columnsOf(table)[2]!.id;
   * await catalog.commit((tx) => {
   *   tx.dropIndex({ index: byDelay });
   *   tx.dropColumn({ table, column });
   * });
   * (await catalog.snapshot()).columnsOf(table).length; // => 2
   */
  dropColumn(args: DropColumnArguments): void;

  /**
   * Partitions the files that come from now on; those that are there keep the spec that they were written under.
   * `invalid_argument` for an empty spec or for one key twice.
   *
   * @example
   * const column = (await catalog.snapshot()).columnsOf(table)[1]!.id;
   * await catalog.commit((tx) => tx.setPartitioning({ table, columns: [{ column, transform: "identity" }] }));
   * (await catalog.snapshot()).partitioningOf(table)?.columns.length; // => 1
   */
  setPartitioning(args: SetPartitioningArguments): PartitionId;

  /**
   * Ends a table's partitioning. `not_found` when it has none.
   *
   * @example
   * const column = (await catalog.snapshot()).columnsOf(table)[1]!.id;
   * await catalog.commit((tx) => tx.setPartitioning({ table, columns: [{ column, transform: "identity" }] }));
   * await catalog.commit((tx) => tx.clearPartitioning({ table }));
   * (await catalog.snapshot()).partitioningOf(table); // => undefined
   */
  clearPartitioning(args: ClearPartitioningArguments): void;

  /**
   * Says how the table's new files are to be sorted. `invalid_argument` for an empty list.
   *
   * @example
   * await catalog.commit((tx) => tx.setSorting({ table, keys: [{ expression: "delay", direction: "DESC" }] }));
   * (await catalog.snapshot()).sortingOf(table)?.keys[0]?.nullOrder; // => "NULLS_LAST"
   */
  setSorting(args: SetSortingArguments): SortId;

  /**
   * Ends a table's sorting. `not_found` when it has none.
   *
   * @example
   * await catalog.commit((tx) => tx.setSorting({ table, keys: [{ expression: "number" }] }));
   * await catalog.commit((tx) => tx.clearSorting({ table }));
   * (await catalog.snapshot()).sortingOf(table); // => undefined
   */
  clearSorting(args: ClearSortingArguments): void;

  /**
   * Creates an index and, in the same commit, the entries of every live row. Rows in data files are read by moraine unless
   * `backfill` brings their entries. A unique index refuses rows with the same values from then on; rows with a NULL in an
   * indexed column are exempt.
   *
   * `already_exists` when the schema has an index of the name, in whatever case; `invalid_argument` for a column twice
   * or a unique index that is deferred; `constraint` for a nested column, a type that has no order in an index, live rows that a unique index would refuse, a value of more than 1,024
   * bytes, or files that nothing can read.
   *
   * Source: specification, "The index definition — a catalog entity", "Canonical value encoding".
   *
   * @example
   * const { value: byOrigin } = await catalog.commit((tx) =>
   *   tx.createIndex({ table, name: "flights_origin", columns: ["origin"], orders: [{ nulls: "first" }] }),
   * );
   * await catalog.indexLookup({ index: byOrigin, key: ["OSL"] }); // => [0n, 1n]
   */
  createIndex(args: CreateIndexArguments): IndexId;

  /**
   * Ends an index. Nothing reads its entries from then on; `maintain` takes them.
   *
   * @example
   * await catalog.commit((tx) => tx.dropIndex({ index: byDelay }));
   * (await catalog.snapshot()).indexByName(table, "flights_delay"); // => undefined
   */
  dropIndex(args: DropIndexArguments): void;

  /**
   * Registers a data file that is in the data path already: its rows get the table's next row ids. Where the table has
   * indexes, `entries` brings a complete set of entries for each, or lets moraine read the file. Without indexes, and with
   * entries of the caller's, nothing looks into the file. Nor does anything look for NULL in a column that forbids it, even
   * where moraine reads the file: whoever writes the file sees to that.
   *
   * `constraint` for missing or incomplete entries, for rows that a unique index refuses, for partition values that do not
   * match the table's spec, and where moraine is to read the file, for one that embeds row ids or a catalog without a data
   * path; `invalid_argument` for an entry with another number of values than the index has columns, or with one that its
   * column cannot hold. Where moraine reads the file, `not_found` when the object is missing, `data_file` when it has another
   * size than described or cannot be read, `corruption` when it has another number of rows, `unsupported` when it is
   * encrypted.
   *
   * Source: specification, "Registration without entries is refused".
   *
   * @example
   * const { value } = await catalog.commit((tx) =>
   *   tx.registerDataFile({ table, file: dataFile, entries: "scoped-read" }),
   * );
   * value.rowIdStart; // => 3n
   * await catalog.indexLookup({ index: byNumber, key: [5] }); // => [4n]
   */
  registerDataFile(args: RegisterDataFileArguments): RegisteredDataFile;

  /**
   * Takes a file and its delete files out of the catalog. The objects stay in the data path; past snapshots keep reading
   * them. `constraint` where the table has indexes and the removals of the file's live rows are not complete. Errors of what
   * moraine reads: as `registerDataFile`.
   *
   * @example
   * const { value } = await catalog.commit((tx) =>
   *   tx.registerDataFile({ table, file: dataFile, entries: "scoped-read" }),
   * );
   * const file = value.dataFileId;
   * await catalog.commit((tx) => tx.expireDataFile({ table, file, removals: "scoped-read" }));
   * await catalog.indexLookup({ index: byNumber, key: [5] }); // => []
   */
  expireDataFile(args: ExpireDataFileArguments): void;

  /**
   * Registers a delete file: Parquet with the columns `file_path` and `pos`, naming rows of one data file as dead.
   * `constraint` when the data file has a live delete file already, has fewer rows than are to die, or where the table has
   * indexes and the removals are not complete. Errors of what moraine reads: as `registerDataFile`, and `constraint` for a
   * position beyond the data file.
   *
   * Source: DuckLake, delete files; specification, "Coverage".
   *
   * @example
   * const { value } = await catalog.commit((tx) =>
   *   tx.registerDataFile({ table, file: dataFile, entries: "scoped-read" }),
   * );
   * const file = { ...deleteFile, dataFileId: value.dataFileId };
   * await catalog.commit((tx) => tx.registerDeleteFile({ table, file, removals: "scoped-read" }));
   * await catalog.indexLookupMany({ index: byNumber, keys: [[4], [5]] }); // => [4n]
   */
  registerDeleteFile(args: RegisterDeleteFileArguments): DeleteFileId;

  /**
   * Takes a delete file out of the catalog: to replace it, or because its data file was rewritten. Rows that come back to
   * life are indexed again with `entries: "scoped-read"`; without it they are `constraint` where the table has indexes.
   *
   * @example
   * const { value } = await catalog.commit((tx) =>
   *   tx.registerDataFile({ table, file: dataFile, entries: "scoped-read" }),
   * );
   * const described = { ...deleteFile, dataFileId: value.dataFileId };
   * const { value: file } = await catalog.commit((tx) =>
   *   tx.registerDeleteFile({ table, file: described, removals: "scoped-read" }),
   * );
   * await catalog.commit((tx) => tx.expireDeleteFile({ table, file, entries: "scoped-read" }));
   * await catalog.indexLookup({ index: byNumber, key: [4] }); // => [3n]
   */
  expireDeleteFile(args: ExpireDeleteFileArguments): void;

  /**
   * Overwrites a table's row count and size. The counter of row ids stays.
   *
   * @example
   * await catalog.commit((tx) => tx.updateTableStats({ table, recordCount: 3, fileSizeBytes: 4096 }));
   * (await catalog.snapshot()).tableStats(table)?.fileSizeBytes; // => 4096n
   */
  updateTableStats(args: UpdateTableStatsArguments): void;

  /**
   * Overwrites the statistics of a column over the whole table.
   *
   * @example
   * const column = (await catalog.snapshot()).columnsOf(table)[0]!.id;
   * await catalog.commit((tx) => tx.updateColumnStats({ table, column, stats: { min: "1", max: "3" } }));
   * (await catalog.snapshot()).columnStats(table, column)?.max; // => "3"
   */
  updateColumnStats(args: UpdateColumnStatsArguments): void;

  /**
   * Creates a view. `already_exists` when a table or view of the schema has the name, in whatever case; `invalid_argument`
   * for a name that is not safe in a path. The SQL is stored, not checked.
   *
   * @example
   * const sql = "SELECT * FROM flights WHERE delay > 30";
   * const { value: late } = await catalog.commit((tx) =>
   *   tx.createView({ schema: mainSchema, name: "late", dialect: "duckdb", sql }),
   * );
   * (await catalog.snapshot()).viewById(late)?.sql; // => sql
   */
  createView(args: CreateViewArguments): ViewId;

  /**
   * Replaces a view's definition; its name, id and tags stay.
   *
   * @example
   * await catalog.commit((tx) => {
   *   const view = tx.createView({ schema: mainSchema, name: "late", dialect: "duckdb", sql: "SELECT 1" });
   *   tx.alterView({ view, dialect: "duckdb", sql: "SELECT 2" });
   * });
   * (await catalog.snapshot()).viewByName(mainSchema, "late")?.sql; // => "SELECT 2"
   */
  alterView(args: AlterViewArguments): void;

  /**
   * Drops a view.
   *
   * @example
   * const { value: view } = await catalog.commit((tx) =>
   *   tx.createView({ schema: mainSchema, name: "late", dialect: "duckdb", sql: "SELECT 1" }),
   * );
   * await catalog.commit((tx) => tx.dropView({ view }));
   * (await catalog.snapshot()).viewsIn(mainSchema).length; // => 0
   */
  dropView(args: DropViewArguments): void;

  /**
   * Creates a macro with all its overloads. `already_exists` when the schema has a macro of that name, in whatever case, and
   * of that type; `invalid_argument` without an implementation, or with some of each type.
   *
   * @example
   * const { value: macro } = await catalog.commit((tx) =>
   *   tx.createMacro({
   *     schema: mainSchema,
   *     name: "hours",
   *     implementations: [
   *       { dialect: "duckdb", macroType: "scalar", sql: "minutes / 60", parameters: [{ parameterName: "minutes" }] },
   *     ],
   *   }),
   * );
   * (await catalog.snapshot()).macroById(macro)?.name; // => "hours"
   */
  createMacro(args: CreateMacroArguments): MacroId;

  /**
   * Drops a macro with all its overloads.
   *
   * @example
   * await catalog.commit((tx) => {
   *   const implementations = [{ dialect: "duckdb", macroType: "scalar", sql: "42" }] as const;
   *   tx.dropMacro({ macro: tx.createMacro({ schema: mainSchema, name: "answer", implementations }) });
   * });
   * (await catalog.snapshot()).macrosIn(mainSchema).length; // => 0
   */
  dropMacro(args: DropMacroArguments): void;

  /**
   * Sets an option of a scope. Makes no snapshot. `constraint` for the global `encrypted`, which is fixed when the store is
   * made, and `data_path`, which is fixed by the first `open` that names one.
   *
   * @example
   * await catalog.commit((tx) => tx.setOption({ scope: "global", key: "target_file_size", value: "512MB" }));
   * (await catalog.snapshot()).option({ table }, "target_file_size"); // => "512MB"
   */
  setOption(args: SetOptionArguments): void;

  /**
   * Removes an option from a scope; one that is not set stays unset. Makes no snapshot. Errors: as `setOption`.
   *
   * @example
   * await catalog.commit((tx) => tx.setOption({ scope: { table }, key: "hive_file_pattern", value: "true" }));
   * await catalog.commit((tx) => tx.unsetOption({ scope: { table }, key: "hive_file_pattern" }));
   * (await catalog.snapshot()).option({ table }, "hive_file_pattern"); // => undefined
   */
  unsetOption(args: UnsetOptionArguments): void;

  /**
   * Gives an object a tag. An earlier value of the key ends with this commit and stays readable in the past.
   *
   * @example
   * await catalog.commit((tx) => tx.setTag({ target: { table }, key: "comment", value: "on time or not" }));
   * (await catalog.snapshot()).tagsOf(table)[0]?.value; // => "on time or not"
   */
  setTag(args: SetTagArguments): void;

  /**
   * Ends a tag. `not_found` when the object does not have it.
   *
   * @example
   * await catalog.commit((tx) => tx.setTag({ target: { table }, key: "comment", value: "on time or not" }));
   * await catalog.commit((tx) => tx.removeTag({ target: { table }, key: "comment" }));
   * (await catalog.snapshot()).tagsOf(table); // => []
   */
  removeTag(args: RemoveTagArguments): void;

  /**
   * Keeps rows inside the catalog, without a data file. Gives the first row id; the others follow without gaps, in order.
   * Their index entries are moraine's own work.
   *
   * `constraint` for a NULL where the column, or a field of it, forbids it, for rows that a unique index refuses, and for rows
   * that are inlined before the same commit changes the table's columns; `invalid_argument` for no rows, for more than 100,000,
   * for rows that do not fit the columns, and for Arrow data of another copy of apache-arrow than the one that moraine imports,
   * its CommonJS build for one; `unsupported` for plain rows of a table with a column that has no plain form.
   *
   * Source: specification, "Coverage"; DuckLake, data inlining.
   *
   * @example
   * const duplicate = catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ number: 3, origin: "TRD" }] }));
   * await duplicate.catch((error) => error.code); // => "constraint"
   *
   * @example
   * import { vectorFromArray, Int32, Int64, Table, Utf8 } from "apache-arrow";
   * const rows = new Table({
   *   number: vectorFromArray([4n, 5n], new Int64()),
   *   origin: vectorFromArray(["TRD", "SVG"], new Utf8()),
   *   delay: vectorFromArray([5, null], new Int32()),
   * });
   * await catalog.commit((tx) => tx.inlineInsert({ table, rows }));
   * await catalog.indexLookup({ index: byNumber, key: [5] }); // => [4n]
   */
  inlineInsert(args: InlineInsertArguments): RowId;

  /**
   * Ends one row, by its id; twice in one commit counts once. A row in a data file is looked up there, and its position recorded as deleted without a delete
   * file. Its index entries are moraine's own work, wherever the row is.
   *
   * `not_found` for a row id that was never given out, for a row that has ended already, for one of a file that the same
   * commit registers, and for one of any data file where the catalog has no data path; `constraint` for an inline row that the
   * same commit flushes; `unsupported` for a row id from 10^18 on, which DuckLake may have given to several rows. Errors of what
   * moraine reads: as `registerDataFile`.
   *
   * @example
   * await catalog.commit((tx) => {
   *   tx.inlineDelete({ table, rowId: 2n });
   *   tx.inlineInsert({ table, rows: [{ number: 3, origin: "BGO", delay: 45 }] });
   * });
   * await catalog.indexLookup({ index: byNumber, key: [3] }); // => [3n]
   */
  inlineDelete(args: InlineDeleteArguments): void;

  /**
   * Moves the inline rows of one schema version to data files that the caller has written; `Catalog.flushInlined` writes
   * them itself. Every chunk that was there when the commit began is drained; rows that the same commit inlines stay. Index
   * entries do not change, as they name row ids.
   *
   * `constraint` for a file that is not older than this commit, whose `partialMax` lies outside of its age, or whose rows
   * were not given out before this commit; for files that hold fewer rows than live ones are drained, or other rows; for a
   * `throughSnapshot` above the head; and, on a table with indexes, for files with rows but without `throughSnapshot`.
   * `commit_conflict` when a row was deleted or flushed after `throughSnapshot`. Errors of what moraine reads: as
   * `registerDataFile`.
   *
   * Source: specification, "What data movement costs the index: nothing".
   *
   * @example
   * using scope = await catalog.reads();
   * const throughSnapshot = scope.snapshot.currentSnapshot.id;
   * const [first] = await scope.recentRows({ table });
   * const { schemaVersion, beginSnapshot } = first!;
   * // The file holds the three inline rows, with their field ids, in the order of their row ids.
   * const files = [{ file: flushedFile, rowIdStart: 0n, beginSnapshot }];
   * await catalog.commit((tx) => tx.flushInlinedData({ table, schemaVersion, throughSnapshot, files }));
   * await catalog.indexLookup({ index: byNumber, key: [1] }); // => [0n]
   */
  flushInlinedData(args: FlushInlinedDataArguments): DataFileId[];
}

// ---------------------------------------------------------------------------------------------------------------------
// Arguments of the verbs
// ---------------------------------------------------------------------------------------------------------------------

/** A count or a size in bytes: a `bigint`, or a `number` that is a safe integer. Never negative. */
export type Count = bigint | number;

export interface CreateSchemaArguments {
  /** Also the schema's folder: no `/` or `\`, not `.` or `..`. */
  readonly name: string;
}

export interface DropSchemaArguments {
  readonly schema: SchemaId;
}

/** A column to be made. A nested one brings its fields: a struct's own, a list's `element`, a map's `key` and `value`. */
export interface ColumnDefinition {
  readonly name: string;
  /** A type of DuckLake (`int64`, `decimal(10,2)`, `struct`) or DuckDB's name for it (`BIGINT`), in any case. Recorded as written. */
  readonly columnType: string;
  /** Default `true`. */
  readonly nullsAllowed?: boolean;
  /** SQL text of the default value. */
  readonly defaultValue?: string;
  readonly children?: readonly ColumnDefinition[];
}

export interface CreateTableArguments {
  readonly schema: SchemaId;
  /** Also the table's folder. Free among the schema's tables and views, without regard to case. */
  readonly name: string;
  /** At least one. */
  readonly columns: readonly ColumnDefinition[];
}

export interface RenameTableArguments {
  readonly table: TableId;
  readonly name: string;
}

export interface SetTableSchemaArguments {
  readonly table: TableId;
  readonly schema: SchemaId;
}

export interface DropTableArguments {
  readonly table: TableId;
}

export interface AddColumnArguments {
  readonly table: TableId;
  readonly definition: ColumnDefinition;
}

export interface RenameColumnArguments {
  readonly table: TableId;
  readonly column: ColumnId;
  readonly name: string;
}

/** At least one of the three attributes; one that is left out stays as it is. */
export interface AlterColumnArguments {
  readonly table: TableId;
  readonly column: ColumnId;
  readonly columnType?: string;
  readonly nullsAllowed?: boolean;
  /** SQL text of the new default, or `null` for none. */
  readonly defaultValue?: string | null;
}

export interface DropColumnArguments {
  readonly table: TableId;
  readonly column: ColumnId;
}

export interface PartitionKey {
  readonly column: ColumnId;
  /** A DuckLake transform: `identity`, `year`, `month`, `day`, `hour`, `bucket(n)`. Stored, not checked. */
  readonly transform: string;
}

export interface SetPartitioningArguments {
  readonly table: TableId;
  /** At least one; files then carry one value for each key, in this order. */
  readonly columns: readonly PartitionKey[];
}

export interface ClearPartitioningArguments {
  readonly table: TableId;
}

export interface SortKey {
  /** An SQL expression over the table's columns. Stored, not checked. */
  readonly expression: string;
  /** Default `duckdb`. */
  readonly dialect?: string;
  /** Default `ASC`. */
  readonly direction?: "ASC" | "DESC";
  /** Default `NULLS_LAST`. */
  readonly nullOrder?: "NULLS_FIRST" | "NULLS_LAST";
}

export interface SetSortingArguments {
  readonly table: TableId;
  /** At least one, the most significant first. */
  readonly keys: readonly SortKey[];
}

export interface ClearSortingArguments {
  readonly table: TableId;
}

/** How one column of an index is ordered. */
export interface ColumnOrder {
  /** Default `asc`. */
  readonly direction?: "asc" | "desc";
  /** Default `last`, whatever the direction. */
  readonly nulls?: "first" | "last";
}

/**
 * `deferred` is recorded, for repairs that are to keep such an index up instead of each commit. There are none yet: every
 * commit maintains an index of either kind. A unique index cannot be deferred.
 */
export type IndexMaintenance = "synchronous" | "deferred";

export interface CreateIndexArguments {
  readonly table: TableId;
  /** Free among the indexes of the table's schema, without regard to case. */
  readonly name: string;
  /** Top-level columns by field id or by name, the most significant first. */
  readonly columns: readonly (ColumnId | string)[];
  /** Default `false`. */
  readonly unique?: boolean;
  /** Empty or left out: ascending, NULLs last. Otherwise one for each column. */
  readonly orders?: readonly ColumnOrder[];
  /** Default `synchronous`. */
  readonly maintenance?: IndexMaintenance;
  /**
   * Entries of the rows in data files, or `"scoped-read"`, which is the default where the catalog has a data path. Inline
   * rows are always read by moraine.
   */
  readonly backfill?: Backfill;
  /**
   * The head at which the entries of `backfill` were read. With it, the commit fails with `commit_conflict` where another one
   * has landed since, and the entries are to be read again; without it, entries that have become outdated are a `constraint`.
   */
  readonly backfillSnapshot?: SnapshotId;
}

export interface DropIndexArguments {
  readonly index: IndexId;
}

/** Values of one row for an index that is being created. */
export interface IndexEntry {
  readonly rowId: RowId | bigint;
  readonly values: readonly unknown[];
}

/** Where the entries of rows in data files come from when an index is created. */
export type Backfill = readonly IndexEntry[] | "scoped-read";

/** Values of one index for one row of a file, by its position from 0. */
export interface FileIndexEntry {
  readonly index: IndexId;
  readonly ordinal: number;
  /** One value for each indexed column, in the index's order; `null` is NULL. */
  readonly values: readonly unknown[];
}

/** The same for all rows of a file at once, as one vector for each indexed column: the quick form for large files. */
export interface FileIndexVectors {
  readonly index: IndexId;
  readonly columns: readonly ColumnVector[];
}

/** Where the entries of a registered file come from: the caller, or a read of the file by moraine. */
export type FileEntries = readonly FileIndexEntry[] | readonly FileIndexVectors[] | "scoped-read";

/** Values of one index for a row that dies, by its row id. */
export interface FileIndexRemoval {
  readonly index: IndexId;
  readonly rowId: RowId | bigint;
  readonly values: readonly unknown[];
}

/**
 * Where the values of rows that die come from. `"scoped-read"` alone for a file of which rows were deleted one by one, as
 * counting cannot tell there whether a list is complete: a list is then `constraint`.
 */
export type FileRemovals = readonly FileIndexRemoval[] | "scoped-read";

/** Statistics of one column within one file. `min` and `max` are text in DuckLake's form and are not interpreted. */
export interface FileColumnStats {
  readonly columnId: ColumnId;
  readonly columnSizeBytes: Count;
  readonly valueCount: Count;
  readonly nullCount: Count;
  readonly min?: string;
  readonly max?: string;
  readonly containsNan?: boolean;
  readonly extraStats?: string;
}

/** A file of rows that is in the data path already. Its columns carry their field ids, or go by their names. */
export interface DataFile {
  readonly path: string;
  /** Default `true`: below the table's folder. */
  readonly pathIsRelative?: boolean;
  /** Default `parquet`. */
  readonly fileFormat?: string;
  /** Rows of the file. Whenever moraine reads it, another number is `corruption`. */
  readonly recordCount: Count;
  /** Size of the file. Whenever moraine reads it, another one is `data_file`. */
  readonly fileSizeBytes: Count;
  /** Length of the Parquet footer's metadata in bytes: the number before the last four bytes of the file. */
  readonly footerSize: Count;
  readonly encryptionKey?: string;
  /** One value for each key of the table's partition spec, in its order; empty without one. */
  readonly partitionValues?: readonly string[];
  readonly columnStats?: readonly FileColumnStats[];
}

export interface RegisterDataFileArguments {
  readonly table: TableId;
  readonly file: DataFile;
  /** Entries for every row and every index of the table, or `"scoped-read"`. Needed only where the table has indexes. */
  readonly entries?: FileEntries;
}

/**
 * What a registration gave the file. Row `n` of it, from 0, has the id `rowIdStart + n`. That holds for files that embed no
 * row ids, as readers take embedded ones instead: `"scoped-read"` refuses such files on a table with indexes; a caller that
 * supplies entries, or registers a file of a table without indexes, vouches that there are none.
 */
export interface RegisteredDataFile {
  readonly dataFileId: DataFileId;
  readonly rowIdStart: RowId;
}

export interface ExpireDataFileArguments {
  readonly table: TableId;
  readonly file: DataFileId;
  /** Entries of the rows that die with the file, or `"scoped-read"`. Needed only where the table has indexes and the file live rows. */
  readonly removals?: FileRemovals;
}

/** A file that names rows of one data file as dead, by position. It is in the data path already. */
export interface DeleteFile {
  readonly dataFileId: DataFileId;
  readonly path: string;
  /** Default `true`: below the table's folder. */
  readonly pathIsRelative?: boolean;
  /** Default `parquet`. */
  readonly format?: string;
  readonly deleteCount: Count;
  readonly fileSizeBytes: Count;
  readonly footerSize: Count;
  readonly encryptionKey?: string;
}

export interface RegisterDeleteFileArguments {
  readonly table: TableId;
  readonly file: DeleteFile;
  /** Entries of the rows that newly die, or `"scoped-read"`. Needed only where the table has indexes. */
  readonly removals?: FileRemovals;
}

export interface ExpireDeleteFileArguments {
  readonly table: TableId;
  readonly file: DeleteFileId;
  /** `"scoped-read"` to index the rows that come back to life. Not needed where the same commit registers a delete file that names them too. */
  readonly entries?: "scoped-read";
}

export interface UpdateTableStatsArguments {
  readonly table: TableId;
  readonly recordCount: Count;
  readonly fileSizeBytes: Count;
}

/** Statistics of one column over a whole table. What is left out is unknown. */
export interface ColumnStats {
  readonly containsNull?: boolean;
  readonly containsNan?: boolean;
  readonly min?: string;
  readonly max?: string;
  readonly extraStats?: string;
}

export interface UpdateColumnStatsArguments {
  readonly table: TableId;
  readonly column: ColumnId;
  readonly stats: ColumnStats;
}

export interface CreateViewArguments {
  readonly schema: SchemaId;
  /** Free among the schema's tables and views. */
  readonly name: string;
  /** The SQL dialect of `sql`, for instance `duckdb`. */
  readonly dialect: string;
  readonly sql: string;
}

export interface AlterViewArguments {
  readonly view: ViewId;
  readonly dialect: string;
  readonly sql: string;
}

export interface DropViewArguments {
  readonly view: ViewId;
}

export type MacroType = "scalar" | "table";

export interface MacroParameter {
  readonly parameterName: string;
  /** Default `unknown`: any type. */
  readonly parameterType?: string;
  /** SQL text of the default value. */
  readonly defaultValue?: string;
  /** Default `unknown`. */
  readonly defaultValueType?: string;
}

/** One overload of a macro. */
export interface MacroImplementation {
  readonly dialect: string;
  readonly sql: string;
  readonly macroType: MacroType;
  readonly parameters?: readonly MacroParameter[];
}

export interface CreateMacroArguments {
  readonly schema: SchemaId;
  /** Free among the schema's macros of the same type. */
  readonly name: string;
  /** At least one, all of one type. */
  readonly implementations: readonly MacroImplementation[];
}

export interface DropMacroArguments {
  readonly macro: MacroId;
}

/** Where an option holds: everywhere, in one schema, or for one table. The narrower scope wins when it is read. */
export type OptionScope = "global" | { readonly schema: SchemaId } | { readonly table: TableId };

export interface SetOptionArguments {
  readonly scope: OptionScope;
  readonly key: string;
  readonly value: string;
}

export interface UnsetOptionArguments {
  readonly scope: OptionScope;
  readonly key: string;
}

/** What a tag is tied to. */
export type TagTarget = { readonly schema: SchemaId } | { readonly table: TableId } | { readonly view: ViewId };

export interface SetTagArguments {
  readonly target: TagTarget;
  readonly key: string;
  readonly value: string;
}

export interface RemoveTagArguments {
  readonly target: TagTarget;
  readonly key: string;
}

/**
 * A row as plain values by column name, each in a form of the table of values. A missing column is NULL, and so are `undefined`
 * and a hole in the array of a list. A hole among the rows themselves is no row.
 */
export type PlainRow = Readonly<Record<string, unknown>>;

/** A chunk in its stored form, for callers that have Arrow bytes already. */
export interface InlineChunkInput {
  readonly schemaVersion: bigint;
  /** An IPC stream that holds nothing but the schema. */
  readonly arrowSchema: Uint8Array;
  /** Little-endian `u32` length of the message, the record batch message, its buffers. */
  readonly arrowBody: Uint8Array;
  readonly rowCount: number;
}

/**
 * Rows to inline: plain objects by column name, a table or record batch of the apache-arrow that moraine imports, or a stored
 * chunk.
 */
export type InlineRows = readonly PlainRow[] | Table | RecordBatch | InlineChunkInput;

export interface InlineInsertArguments {
  readonly table: TableId;
  readonly rows: InlineRows;
}

export interface InlineDeleteArguments {
  readonly table: TableId;
  readonly rowId: RowId | bigint;
}

/** A data file that a flush registers: its rows keep the ids and the age that they had inline. */
export interface FlushedDataFile {
  readonly file: DataFile;
  /** The smallest row id of the file. */
  readonly rowIdStart: bigint;
  /** The snapshot at which the oldest row of the file began. */
  readonly beginSnapshot: bigint;
  /** The snapshot at which the youngest row began, where the file spans several. */
  readonly partialMax?: bigint;
}

export interface FlushInlinedDataArguments {
  readonly table: TableId;
  /** Only chunks of this schema version are drained. */
  readonly schemaVersion: bigint;
  readonly files: readonly FlushedDataFile[];
  /**
   * Only chunks begun by this snapshot are drained: the one at which the caller read the rows. If one of them was deleted
   * since, the commit fails with `commit_conflict`. Needed where the table has indexes and the files rows; the default is
   * every chunk that is there when the commit begins.
   */
  readonly throughSnapshot?: SnapshotId;
}

// ---------------------------------------------------------------------------------------------------------------------
// What a snapshot gives. What a record may lack is `undefined`, never missing.
// ---------------------------------------------------------------------------------------------------------------------

export interface SnapshotInfo {
  readonly id: SnapshotId;
  /** Microseconds since the epoch, UTC. */
  readonly timeMicros: bigint;
  readonly schemaVersion: bigint;
}

export interface SchemaInfo {
  readonly id: SchemaId;
  readonly uuid: string;
  readonly name: string;
  readonly path: string;
  readonly pathIsRelative: boolean;
}

export interface TableInfo {
  readonly id: TableId;
  readonly uuid: string;
  readonly schemaId: SchemaId;
  readonly name: string;
  readonly path: string;
  readonly pathIsRelative: boolean;
}

export interface ColumnInfo {
  /** The field id. */
  readonly id: ColumnId;
  readonly name: string;
  readonly columnType: string;
  readonly nullsAllowed: boolean;
  /** SQL text of the default for new rows. */
  readonly defaultValue: string | undefined;
  /** The value that rows written before the column have. */
  readonly initialDefault: string | undefined;
  /** Rises along the columns of a table, with gaps where columns were dropped. */
  readonly position: bigint;
  /** The column that this one is a field of. */
  readonly parentColumn: ColumnId | undefined;
}

export interface ViewInfo {
  readonly id: ViewId;
  readonly uuid: string;
  readonly schemaId: SchemaId;
  readonly name: string;
  readonly dialect: string;
  readonly sql: string;
  readonly columnAliases: string | undefined;
}

export interface MacroParameterInfo {
  readonly parameterName: string;
  readonly parameterType: string;
  readonly defaultValue: string | undefined;
  readonly defaultValueType: string;
}

export interface MacroImplementationInfo {
  readonly dialect: string;
  readonly sql: string;
  readonly macroType: MacroType;
  readonly parameters: readonly MacroParameterInfo[];
}

export interface MacroInfo {
  readonly id: MacroId;
  readonly schemaId: SchemaId;
  readonly name: string;
  readonly macroType: MacroType;
  readonly implementations: readonly MacroImplementationInfo[];
}

export interface NameMappingInfo {
  readonly sourceName: string;
  readonly targetFieldId: ColumnId;
  /** Position in the same list of the mapping that this one is nested in. */
  readonly parent: number | undefined;
  readonly isPartition: boolean;
}

export interface MappingInfo {
  readonly id: MappingId;
  readonly tableId: TableId;
  readonly mapType: string;
  readonly nameMappings: readonly NameMappingInfo[];
}

export interface PartitioningInfo {
  readonly id: PartitionId;
  readonly columns: readonly { readonly column: ColumnId; readonly transform: string }[];
}

export interface SortingInfo {
  readonly id: SortId;
  readonly keys: readonly {
    readonly expression: string;
    readonly dialect: string;
    readonly direction: string;
    readonly nullOrder: string;
  }[];
}

/**
 * `createIndex` makes ready indexes; the other states are met only where another writer left them. `maintaining`: complete
 * again after a repair. `poisoned`: a build met a duplicate; only a drop ends it.
 */
export type IndexState = "ready" | "building" | "maintaining" | "poisoned";

export interface IndexInfo {
  readonly id: IndexId;
  readonly tableId: TableId;
  readonly name: string;
  readonly columns: readonly ColumnId[];
  /** One for each column. */
  readonly directions: readonly ("asc" | "desc")[];
  /** One for each column. */
  readonly nulls: readonly ("first" | "last")[];
  readonly unique: boolean;
  readonly maintenance: IndexMaintenance;
  readonly state: IndexState;
  /** The snapshot at which the index was found equal to the rows, if it ever was. */
  readonly certifiedAt: SnapshotId | undefined;
}

export interface TagInfo {
  readonly beginSnapshot: SnapshotId;
  readonly endSnapshot: SnapshotId | undefined;
  readonly key: string;
  readonly value: string;
}

export interface ScheduledDeletion {
  readonly dataFileId: DataFileId;
  readonly path: string;
  readonly pathIsRelative: boolean;
  /** Microseconds since the epoch, UTC. */
  readonly scheduleStartMicros: bigint;
}

export interface DataFileInfo {
  readonly id: DataFileId;
  readonly beginSnapshot: SnapshotId;
  readonly path: string;
  readonly pathIsRelative: boolean;
  readonly fileFormat: string;
  readonly recordCount: bigint;
  readonly fileSizeBytes: bigint;
  readonly footerSize: bigint;
  /**
   * Row id of the first row, of which the others' follow where the file does not embed its row ids in a column. A file that
   * was flushed may have both; the column then counts, and this is the smallest of its ids. `undefined` for a file of which
   * only the column tells the ids.
   */
  readonly rowIdStart: RowId | undefined;
  readonly partitionId: PartitionId | undefined;
  readonly encryptionKey: string | undefined;
  readonly mappingId: MappingId | undefined;
  readonly partialMax: SnapshotId | undefined;
  readonly partitionValues: readonly string[];
}

export interface DeleteFileInfo {
  readonly id: DeleteFileId;
  readonly dataFileId: DataFileId;
  readonly beginSnapshot: SnapshotId;
  readonly path: string;
  readonly pathIsRelative: boolean;
  readonly format: string;
  readonly deleteCount: bigint;
  readonly fileSizeBytes: bigint;
  readonly footerSize: bigint;
  readonly encryptionKey: string | undefined;
  readonly partialMax: SnapshotId | undefined;
}

export interface TableStatsInfo {
  readonly recordCount: bigint;
  readonly fileSizeBytes: bigint;
  /** The row id that the next new row gets. */
  readonly nextRowId: RowId;
}

export interface ColumnStatsInfo {
  readonly containsNull: boolean | undefined;
  readonly containsNan: boolean | undefined;
  readonly min: string | undefined;
  readonly max: string | undefined;
  readonly extraStats: string | undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// Diagnostics
// ---------------------------------------------------------------------------------------------------------------------

// Events go to channels of `node:diagnostics_channel`. They are told while the engine works: a subscriber should be quick, and
// cannot change the outcome. Without subscribers nothing is measured.

/**
 * One equality lookup, told on `moraine:index.lookup` when it is resolved.
 *
 * @example
 * import { subscribe, unsubscribe } from "node:diagnostics_channel";
 * const seen: unknown[] = [];
 * const note = (event: unknown): void => void seen.push(event);
 * subscribe("moraine:index.lookup", note);
 * await catalog.indexLookupMany({ index: byNumber, keys: [[2], [2], [99]] });
 * unsubscribe("moraine:index.lookup", note);
 * const { requested, distinct, hits, misses } = seen[0] as { [count: string]: number };
 * [requested, distinct, hits, misses]; // => [3, 2, 1, 1]
 */
export interface LookupEvent {
  readonly index: bigint;
  /** Keys asked for, and how many of them were different. A key with NULL counts as asked for only. */
  readonly requested: number;
  readonly distinct: number;
  /** Different keys under which at least one entry was found, and those without. */
  readonly hits: number;
  readonly misses: number;
  /** Row ids found. */
  readonly rows: number;
  /** Most reads of the store in flight together. */
  readonly peakInFlight: number;
  readonly durationMs: number;
}

/** Commits that landed in one durable batch, told on `moraine:commit` before their callers are. */
export interface CommitEvent {
  /** The newest snapshot of the batch. */
  readonly snapshot: bigint;
  readonly commits: number;
  /** Commits that were refused or cancelled while the batch was put together. */
  readonly refused: number;
  /** Records of the batch, index entries included, and their bytes. */
  readonly records: number;
  readonly bytes: number;
  /** Index entries put, deleted, and found as they should be. */
  readonly entriesPut: number;
  readonly entriesDeleted: number;
  readonly entriesUnchanged: number;
  /** Stored keys read for uniqueness; those found, and those absent. */
  readonly probes: number;
  readonly probeHits: number;
  readonly probeMisses: number;
  /** Keys known to be absent without a read: by spans without entries, and by a filter in memory. */
  readonly knownAbsent: number;
  readonly knownAbsentByFilter: number;
  /** Reading and planning, and the durable write. */
  readonly planMs: number;
  readonly writeMs: number;
}

/**
 * What became of the memory in which the writer keeps the keys of one unique index, so that new keys need no read. Told on
 * `moraine:index.filter` when a build ends, and when one that was in use is given up. No outcome harms a commit.
 */
export interface FilterEvent {
  readonly index: bigint;
  /**
   * `ready`: built, and used from now on. `failed`: the index could not be scanned. `stopped`: the catalog was closed during
   * the build. `outgrown`: the keys do not fit the memory for filters. `evicted`: made place for another index's. `dropped`:
   * went with its index.
   */
  readonly outcome: "ready" | "failed" | "stopped" | "outgrown" | "evicted" | "dropped";
  /** Keys held, and the memory taken. */
  readonly keys: number;
  readonly bytes: number;
  /** How long the build took; 0 for a filter that was in use. */
  readonly durationMs: number;
  /** Why the build failed. */
  readonly error: unknown;
}

/** A writer that was silent for too long and opened its store again, told on `moraine:store.recovery` when that is done. */
export interface RecoveryEvent {
  readonly location: string;
  /** Batches that were not acknowledged and are applied again, and their bytes. */
  readonly batches: number;
  readonly bytes: number;
  readonly durationMs: number;
}

// ---------------------------------------------------------------------------------------------------------------------
// DuckDB
// ---------------------------------------------------------------------------------------------------------------------

/** The exported function `openDuckDB`. */
export interface OpenDuckDb {
  /**
   * Opens DuckDB (`@duckdb/node-api`, installed beside moraine) with DuckLake and moraine's extension loaded and the lake attached
   * and current, so that plain SQL reads and writes it, and creates and uses its indexes. The lake is made if it is not there and
   * `dataPath` is given.
   *
   * A service process of this machine holds the store for every DuckDB that attaches it; it is started with the first one and ends
   * a minute after the last (`engine` has it run in a thread instead). A `Catalog` that is open for writing is another writer: close it first. Handles that only read may be
   * open beside it.
   *
   * Errors: `invalid_argument`; `configuration` where `@duckdb/node-api`, the extension (it is built for Linux, by the set-up) or
   * DuckLake (installed by DuckDB, or out of its Python package) is missing; `store_unavailable` where the
   * thread does not serve. What DuckDB, DuckLake or the service refuse is an
   * `Error` of DuckDB; in its message moraine's own words begin as those of its errors do: `not found: ...`, `store locked: ...`,
   * `constraint violation: ...`. The same holds of the statements that are run.
   *
   * The README has an example, "SQL".
   */
  (options: OpenDuckDbOptions): Promise<OpenedDuckDb>;
}

export interface OpenDuckDbOptions {
  /** Where the store lies, as for `Catalog.open`. */
  readonly store: string;
  /** Where data files lie. Needed to make a lake; that of an existing one is recorded, and another one is refused. */
  readonly dataPath?: string;
  /** The lake's name in SQL. Default `"lake"`. */
  readonly name?: string;
  /** Attaches the lake for reading only. Default `false`. */
  readonly readOnly?: boolean;
  /** DuckDB's own database file. Default `":memory:"`. */
  readonly database?: string;
  /** Settings of DuckDB by name, for instance `{ threads: "4" }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /**
   * Where the service of the store runs if there is none yet: in a process that is started for it, or in a thread of this one. Other
   * processes find and share it either way. A thread ends when all that were opened so on its store here are closed: others that
   * still work on it start a service of their own, as after the end of any. A process that ends without closing waits until the
   * store is closed. Default `"process"`.
   */
  readonly engine?: "process" | "thread";
}

/** DuckDB with a lake attached. */
export interface OpenedDuckDb extends AsyncDisposable {
  /** A connection whose current catalog is the lake. */
  readonly connection: DuckDBConnection;
  /** Makes further connections; they name the lake's tables `lake.main.name`, or begin with `USE lake`. */
  readonly instance: DuckDBInstance;
  /** Closes the connection and the instance. Leaves nothing of the lake open. */
  close(): void;
  /** The same, for `await using`. With `engine: "thread"` it waits until the last one here has closed the store. */
  [Symbol.asyncDispose](): Promise<void>;
}

// ---------------------------------------------------------------------------------------------------------------------
// Errors
// ---------------------------------------------------------------------------------------------------------------------

/**
 * What every error of moraine carries. The classes (`ConstraintError`, `NotFoundError`, ..., all of them `MoraineError`) are
 * exported as well; `code` is what to branch on, and never changes its meaning.
 *
 * @example
 * const error = await catalog.indexLookup({ index: byNumber, key: ["one"] }).catch((caught) => caught);
 * error.code; // => "invalid_argument"
 * error.retryable; // => false
 * typeof error.remedy; // => "string"
 */
export interface ErrorContract extends Error {
  readonly code: ErrorCode;
  /** Whether the same call can succeed later without any change by the caller. */
  readonly retryable: boolean;
  /** One imperative sentence: what to change or try next. */
  readonly remedy: string;
  /**
   * `message` and `remedy` to show to people. In `message` and `remedy` themselves a dot stands within each word on which
   * DuckLake repeats a commit, also within names: `u·nique_ids`. Here names are as they are.
   */
  readonly readable: { readonly message: string; readonly remedy: string };
}

export type ErrorCode =
  /** `AlreadyExistsError`: a name that is taken. */
  | "already_exists"
  /** `ClosedError`: the handle, scope or transaction has ended. */
  | "closed"
  /** `CommitConflictError`: another commit touched the same state. Retryable. */
  | "commit_conflict"
  /** `ConfigurationError`: an option, location or environment that cannot work. */
  | "configuration"
  /** `ConstraintError`: a rule of the catalog, of an index or of its rows that the request would break. The same call fails again. */
  | "constraint"
  /** `CorruptionError`: stored bytes that no version of moraine writes, or a file whose rows are not those of its record. */
  | "corruption"
  /** `DataFileError`: a data or delete file that cannot be read as its record says. */
  | "data_file"
  /** `FencedError`: another writer has taken the store over, or opened it at the same instant; this handle is finished. */
  | "fenced"
  /** `IndexBuildingError`: the index exists and is not complete yet. Retryable. */
  | "index_building"
  /** `InterruptedError`: the caller's signal ended the call. A commit that was being written may still land. */
  | "interrupted"
  /** `InvalidArgumentError`: an argument of the wrong type, shape or range; the message names it. */
  | "invalid_argument"
  /** `MigrationRequiredError`: the store has an older format, or a migration of it has begun and not ended. */
  | "migration_required"
  /** `NotFoundError`: a schema, table, file, index, snapshot or row that does not exist. */
  | "not_found"
  /** `OpenRacedError`: another writer made the store at the same instant. Retryable. */
  | "open_raced"
  /** `RetryBudgetExhaustedError`: a commit or a flush was overtaken too often. */
  | "retry_budget_exhausted"
  /** `SnapshotExpiredError`: the snapshot's record is gone. */
  | "snapshot_expired"
  /** `StoreError`: the store answered, but failed: disk full, damaged object. */
  | "store"
  /** `StoreGoneError`: the store's folder was moved, deleted or replaced while it was open; this handle is finished. */
  | "store_gone"
  /** `StoreLockedError`: a live writer of this machine holds the store. */
  | "store_locked"
  /** `StoreUnavailableError`: the store could not be reached or refused access. Retryable. */
  | "store_unavailable"
  /** `UnsupportedError`: something that this version does not do, or a store of a newer format. */
  | "unsupported";
