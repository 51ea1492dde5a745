import {
  type ColumnVector,
  IndexKeyBuilder,
  type IndexKeys,
  type IndexValue,
  InvalidArgumentError,
} from "@moraine/codec";
import type { IndexChange } from "@moraine/index-core";
import { quoted } from "../model/error-text.js";
import { indexState } from "../model/view-values.js";
import { convertValue, pathText, type ValuesPath } from "./convert-value.js";
import type { IndexContext } from "./layout.js";

/** Where a builder's buffer begins, in bytes. Most commits add a few rows; the buffer of a large one grows as it goes. */
const initialKeyBytes = 256;

/** Columns of some rows by field id. */
export type VectorsByColumn = ReadonlyMap<bigint, ColumnVector>;

/**
 * Collects what one commit adds to and takes from one index. Removals that moraine derived from rows that it read are kept
 * apart from those that a writer supplied: only the latter are checked against the row that holds the entry.
 */
export class EntryBuilder {
  readonly context: IndexContext;
  /** Created by this very commit: nothing is stored under it, so nothing is removed. */
  readonly isNew: boolean;
  #additions: IndexKeyBuilder | undefined;
  #derivedRemovals: IndexKeyBuilder | undefined;
  #suppliedRemovals: IndexKeyBuilder | undefined;
  /** Additions that are made already. */
  readonly #made: IndexKeys[] = [];

  constructor(context: IndexContext, isNew: boolean) {
    this.context = context;
    this.isNew = isNew;
  }

  get indexId(): bigint {
    return this.context.layout.indexId;
  }

  addVectors(columns: readonly ColumnVector[], rowIds: BigUint64Array, rows?: Uint32Array): void {
    this.#additions ??= new IndexKeyBuilder(this.context.layout, initialKeyBytes);
    this.#additions.appendColumns(columns, rowIds, rows);
  }

  addRows(vectors: VectorsByColumn, rowIds: BigUint64Array, rows?: Uint32Array): void {
    this.addVectors(this.#select(vectors), rowIds, rows);
  }

  removeRows(vectors: VectorsByColumn, rowIds: BigUint64Array, rows?: Uint32Array): void {
    if (this.isNew) return;
    this.#derivedRemovals ??= new IndexKeyBuilder(this.context.layout, initialKeyBytes);
    this.#derivedRemovals.appendColumns(this.#select(vectors), rowIds, rows);
  }

  addValues(values: readonly unknown[], rowId: bigint, path: ValuesPath): void {
    this.#additions ??= new IndexKeyBuilder(this.context.layout, initialKeyBytes);
    this.#additions.append(this.#convert(values, path), rowId);
  }

  removeValues(values: readonly unknown[], rowId: bigint, path: ValuesPath): void {
    if (this.isNew) return;
    this.#suppliedRemovals ??= new IndexKeyBuilder(this.context.layout, initialKeyBytes);
    this.#suppliedRemovals.append(this.#convert(values, path), rowId);
  }

  /** Adds entries of this index that are made already. */
  addKeys(keys: IndexKeys): void {
    this.#made.push(keys);
  }

  /** A builder for the same index whose additions can be taken by themselves. */
  apart(): EntryBuilder {
    return new EntryBuilder(this.context, this.isNew);
  }

  takeAdditions(): IndexKeys | undefined {
    return keysOf(this.#additions);
  }

  /**
   * What the commit does to the index. A poisoned index enforces nothing any more, so a duplicate is dropped there; one that is
   * still building refuses it like a ready one, as nothing here could mark it.
   */
  changes(): IndexChange[] {
    const { layout, definition } = this.context;
    const state = indexState(definition);
    const ready = state === "ready";
    const additions = keysOf(this.#additions);
    const derived = keysOf(this.#derivedRemovals);
    const supplied = keysOf(this.#suppliedRemovals);
    const common = { layout, name: definition.indexName, poisonOnDuplicate: state === "poisoned" };
    const changes: IndexChange[] = [];
    if (supplied !== undefined)
      changes.push({ ...common, additions: undefined, removals: supplied, guardRemovals: true });
    if (additions !== undefined || derived !== undefined) {
      changes.push({ ...common, additions, removals: derived, guardRemovals: !ready });
    }
    for (const made of this.#made)
      changes.push({ ...common, additions: made, removals: undefined, guardRemovals: !ready });
    return changes;
  }

  #select(vectors: VectorsByColumn): ColumnVector[] {
    return this.context.columnIds.map((columnId) => {
      const vector = vectors.get(columnId);
      if (vector === undefined)
        throw new Error(`the rows of index ${this.indexId} were read without column ${columnId}`);
      return vector;
    });
  }

  #convert(values: readonly unknown[], path: ValuesPath): IndexValue[] {
    const { columnTypes, definition } = this.context;
    if (!Array.isArray(values) || values.length !== columnTypes.length) {
      throw new InvalidArgumentError(
        `index ${quoted(definition.indexName)} has ${columnTypes.length} columns, and ${pathText(path)} has another number of values`,
        {
          remedy: "Give one value for each indexed column, null for NULL.",
        },
      );
    }
    return columnTypes.map((columnType, position) => convertValue(columnType, values[position], path, position));
  }
}

function keysOf(builder: IndexKeyBuilder | undefined): IndexKeys | undefined {
  return builder === undefined || builder.count === 0 ? undefined : builder.finish();
}
