import {
  type EntityValue,
  inlineFileDeletePrefix,
  decodeKey,
  CorruptionError,
  InvalidArgumentError,
  NotFoundError,
  UnsupportedError,
} from "@moraine/codec";
import {
  type ColumnRequest,
  embedsRowIds,
  FileCache,
  type FileSource,
  FooterCache,
  type NameMap,
  readDeletePositions,
  scanFile,
} from "@moraine/scoped-reader";
import { type DataStoreSet, type ReadView, resolveDataPath, rowKey } from "@moraine/store";
import { deletePositionCacheBytes } from "../engine/limits.js";
import { rangeOfPrefix } from "../engine/load-state.js";
import type { ColumnNames } from "../inline/column-names.js";
import type { CatalogReader } from "../model/state.js";
import type { Origin } from "../remembered.js";

/** Gives the data and delete files of a table in the form in which they are read. */
export class TableFiles {
  readonly #stores: DataStoreSet;
  readonly #footers = new FooterCache();
  readonly #deletePositions = new FileCache<Float64Array>(deletePositionCacheBytes, ({ byteLength }) => byteLength);

  constructor(stores: DataStoreSet) {
    this.#stores = stores;
  }

  /** The object path of a file: schema, table and file path one below the other (format.md 7.8). */
  pathOf(reader: CatalogReader, tableId: bigint, path: string, isRelative: boolean): string {
    const table = reader.get("table", tableId);
    if (table === undefined) throw new NotFoundError(`table ${tableId} does not exist`);
    const schema = reader.get("schema", table.schemaId);
    if (schema === undefined)
      throw new CorruptionError(`table ${tableId} lies in schema ${table.schemaId}, which does not exist`);
    const schemaPath = resolveDataPath("", schema.path, schema.pathIsRelative);
    const tablePath = resolveDataPath(schemaPath, table.path, table.pathIsRelative);
    return resolveDataPath(tablePath, path, isRelative);
  }

  source(reader: CatalogReader, file: EntityValue["data_file"]): FileSource {
    const { store, path } = this.#stores.resolve(this.pathOf(reader, file.tableId, file.path, file.pathIsRelative));
    return {
      store,
      path,
      sizeBytes: Number(file.fileSizeBytes),
      footerSizeBytes: Number(file.footerSize),
      encrypted: file.encryptionKey !== undefined,
      recordCount: file.recordCount,
      rowIdStart: file.rowIdStart,
      nameMap: nameMapOf(reader, file),
      footers: this.#footers,
    };
  }

  /** Everything that decides what a new file holds and how it is read. An object that a file names never changes. */
  originOf(reader: CatalogReader, file: EntityValue["data_file"]): Origin {
    const { fileSizeBytes, footerSize, recordCount, encryptionKey, mappingId } = file;
    const path = this.pathOf(reader, file.tableId, file.path, file.pathIsRelative);
    return [path, fileSizeBytes, footerSize, recordCount, encryptionKey, mappingId];
  }

  /** Where a new object of a table goes, for files that moraine itself writes. */
  async put(reader: CatalogReader, tableId: bigint, path: string, bytes: Uint8Array): Promise<void> {
    const resolved = this.#stores.resolve(this.pathOf(reader, tableId, path, true));
    await resolved.store.put(resolved.path, bytes);
  }

  /** Removes an object that no commit names. */
  async remove(reader: CatalogReader, tableId: bigint, path: string): Promise<void> {
    const resolved = this.#stores.resolve(this.pathOf(reader, tableId, path, true));
    await resolved.store.delete(resolved.path);
  }

  /** Whether the file carries its rows' ids itself, so that its recorded first row id says nothing about the others. */
  async embedsRowIds(reader: CatalogReader, file: EntityValue["data_file"]): Promise<boolean> {
    return await embedsRowIds(this.source(reader, file));
  }

  /** Ids of a file's rows, dead or alive: those that it embeds, else those that its first one opens. */
  async rowIds(reader: CatalogReader, file: EntityValue["data_file"], positions?: Uint32Array): Promise<bigint[]> {
    const ids: bigint[] = [];
    for await (const rowIds of this.rowIdBlocks(reader, file, positions)) for (const rowId of rowIds) ids.push(rowId);
    return ids;
  }

  /** The same, block by block as they are read. */
  async *rowIdBlocks(
    reader: CatalogReader,
    file: EntityValue["data_file"],
    positions?: Uint32Array,
  ): AsyncGenerator<BigUint64Array, void, undefined> {
    for await (const { rowIds } of scanFile(this.source(reader, file), { columns: [], rowIds: "lineage", positions })) {
      if (rowIds === null) throw new Error("a scoped read in lineage mode gave no row ids");
      yield rowIds;
    }
  }

  /** Positions of a data file's rows that its live delete files and inline file deletes name, but for `unlisted` ones of the latter. */
  async deadPositions(
    reader: CatalogReader,
    view: ReadView,
    file: EntityValue["data_file"],
    unlisted: Iterable<number> = [],
  ): Promise<Set<number>> {
    const dead = await inlineFileDeletes(view, file);
    for (const position of unlisted) dead.delete(position);
    for (const positions of await this.listedPositions(reader, file))
      for (const position of positions) dead.add(position);
    return dead;
  }

  /** Positions of a data file's rows that each of its live delete files names, ascending. */
  async listedPositions(reader: CatalogReader, file: EntityValue["data_file"]): Promise<readonly Float64Array[]> {
    const deleteFiles = reader.deleteFilesOf(file.tableId, file.dataFileId);
    return await Promise.all(deleteFiles.map((deleteFile) => this.#positionsIn(reader, file, deleteFile)));
  }

  async #positionsIn(
    reader: CatalogReader,
    file: EntityValue["data_file"],
    deleteFile: EntityValue["delete_file"],
  ): Promise<Float64Array> {
    const { store, path } = this.#stores.resolve(
      this.pathOf(reader, file.tableId, deleteFile.path, deleteFile.pathIsRelative),
    );
    // DuckLake's are a bare vector, without what a Puffin file begins and ends with.
    if (deleteFile.format === "puffin") {
      throw new UnsupportedError(`file ${path} holds a deletion vector`, {
        remedy:
          "Set the option write_deletion_vectors to false and rewrite the data files, or drop the table's indexes.",
      });
    }
    const { fileSizeBytes, deleteCount, footerSize, encryptionKey } = deleteFile;
    const identity = JSON.stringify([store.location, path, String(fileSizeBytes), String(deleteCount)]);
    return await this.#deletePositions.get(identity, () =>
      readDeletePositions(
        {
          store,
          path,
          sizeBytes: Number(fileSizeBytes),
          footerSizeBytes: Number(footerSize),
          encrypted: encryptionKey !== undefined,
          recordCount: deleteCount,
        },
        this.source(reader, file),
      ),
    );
  }
}

/** Positions of a file's rows that were deleted one by one, without a delete file. */
export async function inlineFileDeletes(view: ReadView, file: EntityValue["data_file"]): Promise<Set<number>> {
  const dead = new Set<number>();
  for await (const block of view.scan(rangeOfPrefix(inlineFileDeletePrefix(file.tableId, file.dataFileId)))) {
    for (let i = 0; i < block.count; i++) {
      const key = decodeKey(rowKey(block, i));
      if (key.subspace !== "inline" || key.kind !== "file_delete")
        throw new CorruptionError("a foreign key among the inline file deletes");
      dead.add(Number(key.position));
    }
  }
  return dead;
}

function nameMapOf(reader: CatalogReader, file: EntityValue["data_file"]): NameMap | undefined {
  if (file.mappingId === undefined) return undefined;
  const mapping = reader.get("mapping", file.tableId, file.mappingId);
  if (mapping === undefined)
    throw new CorruptionError(`data file ${file.dataFileId} names mapping ${file.mappingId}, which does not exist`);
  return { entries: mapping.nameMappings };
}

/** What to ask a file for to get the given columns of its table. */
export function columnRequests(
  reader: CatalogReader,
  file: EntityValue["data_file"],
  columnIds: readonly bigint[],
  names: ColumnNames,
): ColumnRequest[] {
  return columnIds.map((columnId) => {
    const column = reader.get("column", file.tableId, columnId);
    if (column === undefined) {
      throw new InvalidArgumentError(`table ${file.tableId} has no column ${columnId}`, {
        remedy: "Pass field ids of live columns.",
      });
    }
    const name = names.nameAt(columnId, file.beginSnapshot);
    // A column without a version at the file's begin is younger than the file, or its history is gone.
    const younger = names.beganAfter(columnId, file.beginSnapshot);
    return {
      fieldId: columnId,
      name: column.columnName,
      columnType: column.columnType,
      initialDefault: column.initialDefault,
      historicalNames: name !== undefined ? [name] : younger ? [] : undefined,
    };
  });
}
