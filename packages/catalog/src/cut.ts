import type { ReadView } from "@moraine/store";
import type { TableFiles } from "./index/table-files.js";
import type { InlineRegistry } from "./inline/registry.js";
import type { CatalogState } from "./model/state.js";

/** One cut of a catalog with what is needed to read rows at it. */
export interface CatalogCut {
  readonly state: CatalogState;
  readonly view: ReadView;
  readonly registry: InlineRegistry;
  /** `undefined` where the catalog was opened without access to data files. */
  readonly files: TableFiles | undefined;
}

/** The durable head, pinned. */
export interface HeadCut {
  readonly revision: bigint;
  readonly view: ReadView;
  release(): void;
  /** The store has ended the pin, as it does when it reopens itself after a stall: nobody gets it any more. */
  lose(): void;
}
