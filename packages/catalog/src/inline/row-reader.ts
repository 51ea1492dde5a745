import { type ColumnVector, ConstraintError, CorruptionError, NotFoundError } from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import type { CatalogReader } from "../model/state.js";
import { decodeBody } from "./arrow-body.js";
import type { InlineChunk } from "./chunks.js";
import { ColumnNames, readColumnHistory } from "./column-names.js";
import { type ChunkColumn, decodeChunk } from "./decode.js";
import type { InlineRegistry } from "./registry.js";

/**
 * What a row reader works with. `base` is the catalog before the commit, whose columns the stored chunks belong to; `draft` is
 * the catalog with the commit, whose columns the files belong to that it adds.
 */
export interface RowReaderContext {
  readonly view: ReadView;
  readonly registry: InlineRegistry;
  readonly base: CatalogReader;
  readonly draft: CatalogReader;
}

/** Reads columns of stored chunks by field id, whatever the columns were called when the chunk was written. */
export class RowReader {
  readonly #context: RowReaderContext;
  readonly #names = new Map<bigint, ColumnNames>();

  constructor(context: RowReaderContext) {
    this.#context = context;
  }

  async columns(tableId: bigint, chunk: InlineChunk, columnIds: readonly bigint[]): Promise<Map<bigint, ColumnVector>> {
    const { registry, view } = this.#context;
    const schema = await registry.schema(view, tableId, chunk.schemaVersion);
    if (schema === null) throw new CorruptionError(`inline rows of table ${tableId} have no schema record`);
    const names = await this.namesOf(tableId);
    const columns = columnIds.map((columnId) => this.#column(tableId, columnId, names, chunk.beginSnapshot));
    try {
      return decodeChunk(schema.parsed, decodeBody(chunk.body, chunk.rowCount), columns);
    } catch (cause) {
      // Values may not fit a type that the column was given since. Its own type they did fit when they were stored.
      const isCast = columns.some(
        ({ columnId, columnType }) => names.typeAt(columnId, chunk.beginSnapshot) !== columnType,
      );
      if (!(cause instanceof ConstraintError) || isCast) throw cause;
      throw new CorruptionError(`an inline chunk of table ${tableId} holds values that its columns cannot have`, {
        remedy: "Restore the store: the rows of this chunk cannot be read.",
        cause,
      });
    }
  }

  async namesOf(tableId: bigint): Promise<ColumnNames> {
    const known = this.#names.get(tableId);
    if (known !== undefined) return known;
    const { base, draft, view } = this.#context;
    // A version that the commit makes comes before the one that it ends, which is still open-ended in the base.
    const current = [...draft.list("column", tableId), ...base.list("column", tableId)];
    const names = new ColumnNames(current, await readColumnHistory(view, tableId));
    this.#names.set(tableId, names);
    return names;
  }

  #column(tableId: bigint, columnId: bigint, names: ColumnNames, beginSnapshot: bigint): ChunkColumn {
    const column = this.#context.draft.get("column", tableId, columnId);
    if (column === undefined) throw new NotFoundError(`column ${columnId} of table ${tableId} does not exist`);
    const name = names.nameAt(columnId, beginSnapshot);
    if (name === undefined && !names.beganAfter(columnId, beginSnapshot)) {
      throw new CorruptionError(
        `what column ${columnId} of table ${tableId} was called at snapshot ${beginSnapshot} is not known any more`,
      );
    }
    return { columnId, name, columnType: column.columnType, initialDefault: column.initialDefault };
  }
}
