import type { FollowStep } from "./follow-step.js";
import type { KeyedTable } from "./serve-kinds.js";
import { RowLists } from "./serve-table.js";

type Where = Extract<FollowStep, { readonly kind: "delete" }>["where"];

/** Steps of one revision, in the order in which they apply: tables go and come, rows go, rows come, rows end. */
export class FollowOutput {
  readonly rows = new RowLists();
  readonly #tables: FollowStep[] = [];
  readonly #deletes: FollowStep[] = [];
  readonly #rowSteps: FollowStep[] = [];
  readonly #ends: FollowStep[] = [];

  drop(table: string): void {
    this.#tables.push({ kind: "drop", table });
  }

  create(step: Extract<FollowStep, { readonly kind: "create" }>): void {
    this.#tables.push(step);
  }

  delete(table: string, where: Where): void {
    this.#deletes.push({ kind: "delete", table, where });
  }

  /** Takes out the rows of a record, by the ids of its key. */
  deleteKeyed({ table, ids: columns }: KeyedTable, ids: readonly bigint[], more: Where = []): void {
    const where = columns.flatMap((column, at) => (column === undefined ? [] : [[column, ids[at] as bigint] as const]));
    this.delete(table, [...where, ...more]);
  }

  /** Whether a row with these cells is taken out. */
  takesOut(table: string, cells: ReadonlyMap<string, bigint | string | boolean | null>): boolean {
    return this.#deletes.some(
      (step) =>
        step.kind === "delete" &&
        step.table === table &&
        step.where.every(([column, value]) => cells.get(column) === value),
    );
  }

  addRows(step: FollowStep): void {
    this.#rowSteps.push(step);
  }

  end(table: string, rowId: bigint, endSnapshot: bigint): void {
    this.#ends.push({ kind: "end", table, rowId, endSnapshot });
  }

  steps(): FollowStep[] {
    return [...this.#tables, ...this.#deletes, ...this.rows.take(), ...this.#rowSteps, ...this.#ends];
  }
}
