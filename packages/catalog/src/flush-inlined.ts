import {
  CommitConflictError,
  ConfigurationError,
  ConstraintError,
  type DataFileId,
  InvalidArgumentError,
  NotFoundError,
  RetryBudgetExhaustedError,
  type SnapshotId,
  type TableId,
  UnsupportedError,
} from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import { flushAttempts, sharedFlushAttempts } from "./engine/limits.js";
import type { TableFiles } from "./index/table-files.js";
import { type FlushFile, flushFiles } from "./inline/flush-file.js";
import type { InlineRegistry } from "./inline/registry.js";
import type { CatalogState } from "./model/state.js";
import type { Transaction } from "./transaction.js";
import { checkId, checkKnown, type Names } from "./verbs/arguments.js";
import { requireTable } from "./verbs/require.js";

export interface FlushInlinedArguments {
  readonly table: TableId;
}

const flushInlinedNames: Names<FlushInlinedArguments> = { table: true };

export interface FlushInlinedResult {
  /** The snapshot that the flush made, or the unchanged head if there was nothing to flush. */
  readonly snapshotId: SnapshotId;
  readonly dataFileIds: readonly DataFileId[];
  readonly rowCount: number;
}

/** What a flush needs of the catalog that it runs in. */
export interface FlushHost {
  readonly files: TableFiles | undefined;
  readonly registry: InlineRegistry;
  readonly newUuid: () => string;
  /** Runs a read over a pinned head. */
  pinned<T>(run: (state: CatalogState, view: ReadView) => Promise<T>): Promise<T>;
  commit<T>(closure: (transaction: Transaction) => T): Promise<FlushCommit<T>>;
  /** Runs a closure while no other commit is staged, with reads of the state that its transaction begins with. */
  commitAlone<T>(
    closure: (transaction: Transaction, state: CatalogState, view: ReadView) => Promise<T>,
  ): Promise<FlushCommit<T>>;
}

interface FlushCommit<T> {
  readonly snapshotId: SnapshotId;
  readonly value: T;
}

interface WrittenFile {
  readonly path: string;
  readonly flush: FlushFile;
}

/**
 * Writes a table's live inline rows to Parquet files and drains the chunks that held them. Rows that are inlined meanwhile
 * stay inline; if one of the rows read is deleted meanwhile, everything is done again, and from the fourth try on while other
 * commits wait. Files of a try that did not land are removed.
 *
 * The rows keep their ids: a file embeds them where they have gaps, and the snapshots at which rows began where they differ.
 * Row versions that have ended are not written: past snapshots lose them.
 *
 * Errors: `constraint` where a row that was stored elsewhere has a timestamp that DuckDB does not have.
 */
export async function flushInlined(host: FlushHost, args: FlushInlinedArguments): Promise<FlushInlinedResult> {
  checkKnown(args, flushInlinedNames, "arguments");
  const table = checkId(args.table, "table") as TableId;
  const { files } = host;
  if (files === undefined) {
    throw new ConfigurationError("a flush writes data files, and the catalog was opened without a data path", {
      remedy: "Open the catalog with dataPath.",
    });
  }
  for (let attempt = 1; attempt <= flushAttempts; attempt++) {
    const flushing = new Flushing(host, files, table);
    try {
      return await (attempt <= sharedFlushAttempts ? flushing.beside() : flushing.alone());
    } catch (error) {
      // Only an error that proves that nothing landed allows to remove what may by now be the rows' only home.
      if (!isRefusal(error)) throw error;
      await flushing.removeFiles();
      if (!(error instanceof CommitConflictError)) throw error;
    }
  }
  throw new RetryBudgetExhaustedError(`rows of table ${table} were deleted during each of ${flushAttempts} flushes`);
}

/** One try of a flush. */
class Flushing {
  readonly #host: FlushHost;
  readonly #files: TableFiles;
  readonly #table: TableId;
  #written: { readonly state: CatalogState; readonly files: readonly WrittenFile[] } | undefined;

  constructor(host: FlushHost, files: TableFiles, table: TableId) {
    this.#host = host;
    this.#files = files;
    this.#table = table;
  }

  /** Reads and writes while other commits land. */
  async beside(): Promise<FlushInlinedResult> {
    await this.#host.pinned((state, view) => this.#write(state, view));
    return this.#result(await this.#host.commit((transaction) => this.#stage(transaction)));
  }

  /** Reads and writes while no other commit is staged. Its closure may run again, on another head. */
  async alone(): Promise<FlushInlinedResult> {
    return this.#result(
      await this.#host.commitAlone(async (transaction, state, view) => {
        await this.removeFiles();
        await this.#write(state, view);
        return this.#stage(transaction);
      }),
    );
  }

  /** Removes files that no commit names. What cannot be removed is left for the cleanup of unknown files. */
  async removeFiles(): Promise<void> {
    if (this.#written === undefined) return;
    const { state, files } = this.#written;
    this.#written = undefined;
    await removeFiles(this.#files, state, this.#table, files);
  }

  async #write(state: CatalogState, view: ReadView): Promise<void> {
    this.#written = { state, files: await writeFiles(this.#host, this.#files, state, view, this.#table) };
  }

  #stage(transaction: Transaction): DataFileId[] {
    if (this.#written === undefined) throw new Error("the files of a flush were staged before they were written");
    const { state, files } = this.#written;
    const table = this.#table;
    const throughSnapshot = state.head.snapshotId as SnapshotId;
    return files.flatMap(({ path, flush }) => {
      const { content, schemaVersion } = flush;
      if (content === undefined)
        return transaction.flushInlinedData({ table, schemaVersion, files: [], throughSnapshot });
      const { bytes, footerSize, recordCount, rowIdStart, beginSnapshot, partialMax } = content;
      const file = { path, recordCount, fileSizeBytes: bytes.byteLength, footerSize };
      const flushed = { file, rowIdStart, beginSnapshot, ...(partialMax === undefined ? {} : { partialMax }) };
      return transaction.flushInlinedData({ table, schemaVersion, files: [flushed], throughSnapshot });
    });
  }

  #result({ snapshotId, value }: FlushCommit<DataFileId[]>): FlushInlinedResult {
    const files = this.#written?.files ?? [];
    const rowCount = files.reduce((sum, { flush }) => sum + (flush.content?.recordCount ?? 0), 0);
    return { snapshotId, dataFileIds: value, rowCount };
  }
}

/** Whether an error says that the commit was refused before anything was written. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof CommitConflictError ||
    error instanceof ConstraintError ||
    error instanceof NotFoundError ||
    error instanceof InvalidArgumentError ||
    error instanceof RetryBudgetExhaustedError
  );
}

/** Removes files that no commit names. What cannot be removed is left for the cleanup of unknown files. */
async function removeFiles(
  files: TableFiles,
  state: CatalogState,
  table: TableId,
  written: readonly WrittenFile[],
): Promise<void> {
  const paths = written.filter(({ flush }) => flush.content !== undefined).map(({ path }) => path);
  await Promise.allSettled(paths.map((path) => files.remove(state, table, path)));
}

async function writeFiles(
  host: FlushHost,
  files: TableFiles,
  state: CatalogState,
  view: ReadView,
  table: TableId,
): Promise<readonly WrittenFile[]> {
  requireTable(state, table);
  if (state.list("partition", table).length > 0) {
    throw new UnsupportedError(`a flush of table ${table}, which is partitioned`, {
      remedy: "Write one file for each partition and pass them to flushInlinedData.",
    });
  }
  if (state.get("option", 0n, 0n)?.options.get("encrypted") === "true") {
    throw new UnsupportedError("a flush by moraine in an encrypted lake", {
      remedy: "Write the files with DuckDB and pass them to flushInlinedData.",
    });
  }
  const written = (await flushFiles(view, host.registry, state, table)).map((flush): WrittenFile => {
    return { path: `moraine-${host.newUuid()}.parquet`, flush };
  });
  try {
    for (const { path, flush } of written) {
      if (flush.content !== undefined) await files.put(state, table, path, flush.content.bytes);
    }
  } catch (error) {
    // The one that failed may be there as well.
    await removeFiles(files, state, table, written);
    throw error;
  }
  return written;
}
