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
import { flushAttempts } from "./engine/limits.js";
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
  commit<T>(closure: (transaction: Transaction) => T): Promise<{ readonly snapshotId: SnapshotId; readonly value: T }>;
}

interface WrittenFile {
  readonly path: string;
  readonly flush: FlushFile;
}

/**
 * Writes a table's live inline rows to Parquet files and drains the chunks that held them. Rows that are inlined meanwhile
 * stay inline; if one of the rows read is deleted meanwhile, everything is done again. Files of a try that did not land are
 * removed.
 *
 * The rows keep their ids: a file embeds them where they have gaps, and the snapshots at which rows began where they differ.
 * Row versions that have ended are not written: past snapshots lose them.
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
    const { state, written } = await host.pinned((pinned, view) => writeFiles(host, files, pinned, view, table));
    try {
      return await commitFiles(host, table, state.head.snapshotId as SnapshotId, written);
    } catch (error) {
      // Only an error that proves that nothing landed allows to remove what may by now be the rows' only home.
      if (!isRefusal(error)) throw error;
      await removeFiles(files, state, table, written);
      if (!(error instanceof CommitConflictError)) throw error;
    }
  }
  throw new RetryBudgetExhaustedError(`rows of table ${table} were deleted during each of ${flushAttempts} flushes`);
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
): Promise<{ readonly state: CatalogState; readonly written: readonly WrittenFile[] }> {
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
  return { state, written };
}

async function commitFiles(
  host: FlushHost,
  table: TableId,
  throughSnapshot: SnapshotId,
  written: readonly WrittenFile[],
): Promise<FlushInlinedResult> {
  const { snapshotId, value } = await host.commit((transaction) =>
    written.flatMap(({ path, flush }) => {
      const { content, schemaVersion } = flush;
      if (content === undefined)
        return transaction.flushInlinedData({ table, schemaVersion, files: [], throughSnapshot });
      const { bytes, footerSize, recordCount, rowIdStart, beginSnapshot, partialMax } = content;
      const file = { path, recordCount, fileSizeBytes: bytes.byteLength, footerSize };
      const flushed = { file, rowIdStart, beginSnapshot, ...(partialMax === undefined ? {} : { partialMax }) };
      return transaction.flushInlinedData({ table, schemaVersion, files: [flushed], throughSnapshot });
    }),
  );
  const rowCount = written.reduce((sum, { flush }) => sum + (flush.content?.recordCount ?? 0), 0);
  return { snapshotId, dataFileIds: value, rowCount };
}
