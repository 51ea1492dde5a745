import { type SortExpression, type SortId, type TableId, InvalidArgumentError, NotFoundError } from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { checkArray, checkId, checkKnown, checkOneOf, checkText, type Names, orDefault } from "./arguments.js";
import { requireTable } from "./require.js";

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

const sortKeyNames: Names<SortKey> = { expression: true, dialect: true, direction: true, nullOrder: true };

export interface SetSortingArguments {
  readonly table: TableId;
  /** At least one, the most significant first. */
  readonly keys: readonly SortKey[];
}

const setSortingNames: Names<SetSortingArguments> = { table: true, keys: true };

export interface ClearSortingArguments {
  readonly table: TableId;
}

const clearSortingNames: Names<ClearSortingArguments> = { table: true };

/** Says how the table's new files are to be sorted. Changes no reader's schema. `invalid_argument` for an empty list. */
export function setSorting(draft: Draft, args: SetSortingArguments): SortId {
  checkKnown(args, setSortingNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const expressions = checkArray(args.keys, "keys").map((key, at): SortExpression => {
    const argument = `keys[${at}]`;
    checkKnown(key, sortKeyNames, argument);
    return {
      sortKeyIndex: BigInt(at),
      expression: checkText(key.expression, `${argument}.expression`),
      dialect: checkText(orDefault(key.dialect, "duckdb"), `${argument}.dialect`),
      sortDirection: checkOneOf(orDefault(key.direction, "ASC"), ["ASC", "DESC"], `${argument}.direction`),
      nullOrder: checkOneOf(
        orDefault(key.nullOrder, "NULLS_LAST"),
        ["NULLS_FIRST", "NULLS_LAST"],
        `${argument}.nullOrder`,
      ),
    };
  });
  if (expressions.length === 0) {
    throw new InvalidArgumentError("keys is empty: a sort spec needs one", {
      remedy: "Pass at least one, or clear the sorting.",
    });
  }
  endSpec(draft, tableId);
  const sortId = draft.allocateCatalogId();
  draft.put("sort", [tableId, sortId], {
    sortId,
    tableId,
    beginSnapshot: draft.snapshotId,
    endSnapshot: undefined,
    expressions,
  });
  draft.record({ op: "alter_table_layout", tableId });
  return sortId as SortId;
}

/** Ends a table's sorting. `not_found` when it has none. */
export function clearSorting(draft: Draft, args: ClearSortingArguments): void {
  const { tableId } = requireTable(draft, checkId(checkKnown(args, clearSortingNames, "arguments").table, "table"));
  if (!endSpec(draft, tableId)) throw new NotFoundError(`a sort spec of table ${tableId}`);
  draft.record({ op: "alter_table_layout", tableId });
}

function endSpec(draft: Draft, tableId: bigint): boolean {
  const specs = draft.list("sort", tableId);
  for (const spec of specs) draft.remove("sort", [tableId, spec.sortId]);
  return specs.length > 0;
}
