import type { Random } from "./random.js";
import { columnKinds } from "./values.js";

/** What a workload knows of a lake while it makes statements up: names and types, no rows. */
export interface ModelColumn {
  name: string;
  type: string;
}

export interface ModelIndex {
  readonly name: string;
  readonly unique: boolean;
  columns: string[];
}

export interface ModelTable {
  readonly schema: string;
  name: string;
  readonly columns: ModelColumn[];
  readonly indexes: ModelIndex[];
  partitioned: boolean;
}

export class LakeModel {
  readonly schemas = ["main"];
  readonly tables: ModelTable[] = [];
  #serial = 0;

  /** A number that no earlier call gave. */
  serial(): number {
    return (this.#serial += 1);
  }

  copy(): LakeModel {
    const copy = new LakeModel();
    copy.schemas.splice(0, 1, ...this.schemas);
    copy.tables.push(...structuredClone(this.tables));
    copy.#serial = this.#serial;
    return copy;
  }

  /** Goes back to an earlier copy, but for numbers that were used up. */
  restore(earlier: LakeModel): void {
    this.schemas.splice(0, this.schemas.length, ...earlier.schemas);
    this.tables.splice(0, this.tables.length, ...structuredClone(earlier.tables));
  }
}

export function qualified(table: ModelTable): string {
  return `{lake}.${table.schema}.${table.name}`;
}

export function literalFor(random: Random, type: string): string {
  if (random.chance(0.1)) return "NULL";
  const kind = columnKinds.find((known) => known.type === type);
  if (kind === undefined) throw new Error(`no literals of ${type}`);
  return kind.literal(random);
}

export function distinctFor(type: string, serial: number): string {
  const kind = columnKinds.find((known) => known.type === type);
  if (kind === undefined) throw new Error(`no literals of ${type}`);
  return kind.distinct(serial);
}

export function isIndexed(table: ModelTable, column: string): boolean {
  return table.indexes.some(({ columns }) => columns.includes(column));
}
