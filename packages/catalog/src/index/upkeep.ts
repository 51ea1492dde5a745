import type { IndexChange } from "@moraine/index-core";
import type { CommitDraft } from "../operations.js";
import { EntryBuilder } from "./entry-builder.js";
import { indexContext } from "./layout.js";
import { requireOwnRowIds } from "./shared-row-ids.js";

/** What one commit does to the indexes of the tables that it touches, index by index. */
export class IndexUpkeep {
  readonly #draft: CommitDraft;
  readonly #tables = new Map<bigint, readonly EntryBuilder[]>();

  constructor(draft: CommitDraft) {
    this.#draft = draft;
  }

  /** The indexes that stand on a table when the commit has landed. */
  of(tableId: bigint): readonly EntryBuilder[] {
    const known = this.#tables.get(tableId);
    if (known !== undefined) return known;
    const builders = this.#draft.indexesOf(tableId).map((definition) => {
      const isNew = this.#draft.base.indexById(definition.indexId) === undefined;
      return new EntryBuilder(indexContext(this.#draft, definition), isNew);
    });
    this.#tables.set(tableId, builders);
    return builders;
  }

  /** Field ids that the given indexes need, each once. */
  static columnsOf(builders: readonly EntryBuilder[]): bigint[] {
    return [...new Set(builders.flatMap((builder) => builder.context.columnIds))];
  }

  changes(): IndexChange[] {
    return [...this.#tables].flatMap(([tableId, builders]) =>
      builders.flatMap((builder) => {
        const changes = builder.changes();
        if (builder.isNew) requireOwnRowIds(changes, tableId);
        return changes;
      }),
    );
  }
}
