import type { LooseRowValue } from "@moraine/codec";
import type { MetadataRow } from "./metadata-row.js";
import { metadataTables } from "./metadata-tables.js";

/** Metadata tables whose rows are kept although nothing is there that they belong to: people put them there by hand. */
export type LooseTable = "ducklake_column_tag" | "ducklake_snapshot_changes";

/** The loose rows that a commit leaves. */
export class LooseRows {
  readonly #base: readonly LooseRowValue[];
  #rows: LooseRowValue[] | undefined;

  constructor(base: readonly LooseRowValue[]) {
    this.#base = base;
  }

  /** As the commit leaves them: the base's own where it changes none. */
  get rows(): readonly LooseRowValue[] {
    return this.#rows ?? this.#base;
  }

  get isChanged(): boolean {
    return this.#rows !== undefined;
  }

  add(row: MetadataRow): void {
    this.#rows = [...this.rows, looseRow(row)];
  }

  /** Takes a row out. Gives whether it was there. */
  take(row: MetadataRow): boolean {
    if (this.rows.length === 0) return false;
    const text = rowText(looseRow(row));
    const at = this.rows.findIndex((one) => rowText(one) === text);
    if (at < 0) return false;
    this.#rows = this.rows.filter((_, place) => place !== at);
    return true;
  }
}

function looseRow(row: MetadataRow): LooseRowValue {
  const cells = metadataTables[row.table].map(({ name }) => ({ text: row.plain(name)?.toString() }));
  return { table: row.table, cells };
}

/** The same text for equal rows. */
export function rowText({ table, cells }: LooseRowValue): string {
  return JSON.stringify([table, ...cells.map(({ text }) => text ?? null)]);
}
