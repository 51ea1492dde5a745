import type { RowBatch } from "./column-data.js";

/** A column of a metadata table as it is created in DuckDB. */
export interface TableColumn {
  readonly name: string;
  readonly type: string;
  /** `PRIMARY KEY` or `NOT NULL`, as DuckLake creates it. */
  readonly constraint?: "PRIMARY KEY" | "NOT NULL";
}

/** One thing that a copy of the metadata tables has to do to come to a newer revision. Steps apply in order. */
export type FollowStep =
  | { readonly kind: "create"; readonly table: string; readonly columns: readonly TableColumn[] }
  | { readonly kind: "drop"; readonly table: string }
  /** Takes out the rows whose columns have these values, `null` for NULL. Without any: every row of the table. */
  | {
      readonly kind: "delete";
      readonly table: string;
      readonly where: readonly (readonly [column: string, value: bigint | string | boolean | null])[];
    }
  /** Ends the versions of an inlined row that began before `endSnapshot` and have no end yet. */
  | { readonly kind: "end"; readonly table: string; readonly rowId: bigint; readonly endSnapshot: bigint }
  | { readonly kind: "rows"; readonly table: string; readonly batch: RowBatch };

/** How a copy comes from one revision to the next one. */
export interface RevisionSteps {
  readonly from: bigint;
  readonly to: bigint;
  readonly steps: readonly FollowStep[];
}
