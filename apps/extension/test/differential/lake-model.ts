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
  sorted: boolean;
}

/** A view, or a macro that gives a value or rows. */
export interface ModelObject {
  readonly schema: string;
  readonly name: string;
  readonly what: "VIEW" | "MACRO" | "MACRO TABLE";
}

export class LakeModel {
  readonly schemas = ["main"];
  readonly tables: ModelTable[] = [];
  readonly objects: ModelObject[] = [];
  #serial = 0;

  /** A number that no earlier call gave. */
  serial(): number {
    return (this.#serial += 1);
  }

  copy(): LakeModel {
    const copy = new LakeModel();
    copy.restore(this);
    return copy;
  }

  /** Goes back to an earlier copy, but for numbers that were used up. */
  restore(earlier: LakeModel): void {
    this.schemas.splice(0, this.schemas.length, ...earlier.schemas);
    this.tables.splice(0, this.tables.length, ...structuredClone(earlier.tables));
    this.objects.splice(0, this.objects.length, ...earlier.objects);
  }
}

export function newTable(schema: string, name: string, columns: readonly ModelColumn[]): ModelTable {
  return { schema, name, columns: structuredClone([...columns]), indexes: [], partitioned: false, sorted: false };
}

export function qualified(table: ModelTable | ModelObject): string {
  return `{lake}.${table.schema}.${table.name}`;
}

export function literalFor(random: Random, type: string): string {
  if (random.chance(0.1)) return "NULL";
  return kindOf(type).literal(random);
}

export function distinctFor(type: string, serial: number): string {
  return kindOf(type).distinct(serial);
}

function kindOf(type: string): (typeof columnKinds)[number] {
  const kind = columnKinds.find((known) => known.type === type);
  if (kind === undefined) throw new Error(`no literals of ${type}`);
  return kind;
}

export function isIndexed(table: ModelTable, column: string): boolean {
  return table.indexes.some(({ columns }) => columns.includes(column));
}
