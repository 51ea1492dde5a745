import { UniquenessFilters } from "@moraine/index-core";
import type { WritableStore } from "@moraine/store";
import { filterChannel, type FilterEvent } from "../diagnostics.js";
import type { CatalogState } from "../model/state.js";

/** The filters of a catalog's unique indexes, sized by what its durable head says about their tables. */
export function openFilters(store: WritableStore, head: () => CatalogState): UniquenessFilters {
  return new UniquenessFilters({
    store,
    rowsOf: (indexId) => rowsOf(head(), indexId),
    tell: ({ indexId, ...told }) => {
      if (!filterChannel.hasSubscribers) return;
      const event: FilterEvent = { index: indexId, ...told };
      filterChannel.publish(event);
    },
  });
}

/** Rows of an index's table as its statistics count them: deleted ones may count too. */
function rowsOf(state: CatalogState, indexId: bigint): number | undefined {
  const definition = state.indexById(indexId);
  if (definition !== undefined) return Number(state.get("table_stats", definition.tableId)?.recordCount ?? 0n);
  // One that is staged and has not landed has nothing stored. Ids are not given out twice: any other is dropped.
  return indexId >= state.head.nextCatalogId ? 0 : undefined;
}
