import {
  type ColumnId,
  type PartitionColumn,
  type PartitionId,
  type TableId,
  InvalidArgumentError,
  NotFoundError,
} from "@moraine/codec";
import type { Draft } from "../model/draft.js";
import { checkArray, checkId, checkKnown, checkText, type Names } from "./arguments.js";
import { requireColumn, requireTable } from "./require.js";

export interface PartitionKey {
  readonly column: ColumnId;
  /** A DuckLake transform: `identity`, `year`, `month`, `day`, `hour`, `bucket(n)`. Stored, not checked. */
  readonly transform: string;
}

const partitionKeyNames: Names<PartitionKey> = { column: true, transform: true };

export interface SetPartitioningArguments {
  readonly table: TableId;
  /** At least one; files then carry one value per key, in this order. */
  readonly columns: readonly PartitionKey[];
}

const setPartitioningNames: Names<SetPartitioningArguments> = { table: true, columns: true };

export interface ClearPartitioningArguments {
  readonly table: TableId;
}

const clearPartitioningNames: Names<ClearPartitioningArguments> = { table: true };

/**
 * Partitions the files that come from now on; those that are there keep the spec they were written under.
 * `invalid_argument` for an empty spec or for one key twice, `not_found` for a column that is not live.
 */
export function setPartitioning(draft: Draft, args: SetPartitioningArguments): PartitionId {
  checkKnown(args, setPartitioningNames, "arguments");
  const { tableId } = requireTable(draft, checkId(args.table, "table"));
  const keys = checkArray(args.columns, "columns").map((key, at): PartitionColumn => {
    checkKnown(key, partitionKeyNames, `columns[${at}]`);
    const columnId = checkId(key.column, `columns[${at}].column`);
    const transform = checkText(key.transform, `columns[${at}].transform`);
    return { partitionKeyIndex: BigInt(at), columnId, transform };
  });
  if (keys.length === 0) {
    throw new InvalidArgumentError("columns is empty: a partition spec needs a key", {
      remedy: "Pass at least one, or clear the partitioning.",
    });
  }
  for (const { columnId } of keys) requireColumn(draft, tableId, columnId);
  if (new Set(keys.map((key) => `${key.columnId} ${key.transform}`)).size < keys.length) {
    throw new InvalidArgumentError("columns names one key twice", {
      remedy: "Name each column and transform once.",
    });
  }
  endSpec(draft, tableId);
  const partitionId = draft.allocateCatalogId();
  draft.put("partition", [tableId, partitionId], {
    partitionId,
    tableId,
    beginSnapshot: draft.snapshotId,
    endSnapshot: undefined,
    columns: keys,
  });
  draft.record({ op: "alter_table", tableId });
  return partitionId as PartitionId;
}

/** Ends a table's partitioning. `not_found` when it has none. */
export function clearPartitioning(draft: Draft, args: ClearPartitioningArguments): void {
  const { tableId } = requireTable(
    draft,
    checkId(checkKnown(args, clearPartitioningNames, "arguments").table, "table"),
  );
  if (!endSpec(draft, tableId)) throw new NotFoundError(`a partition spec of table ${tableId}`);
  draft.record({ op: "alter_table", tableId });
}

function endSpec(draft: Draft, tableId: bigint): boolean {
  const specs = draft.list("partition", tableId);
  for (const spec of specs) draft.remove("partition", [tableId, spec.partitionId]);
  return specs.length > 0;
}
