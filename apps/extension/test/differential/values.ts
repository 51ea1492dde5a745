import type { Random } from "./random.js";

/** A column type of random tables, with how its literals are made. Domains are small, so that values meet again. */
interface ColumnKind {
  readonly type: string;
  readonly literal: (random: Random) => string;
  /** A literal that `serial` alone decides, different for every number. */
  readonly distinct: (serial: number) => string;
  readonly nested?: true;
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, "0");
const day = (offset: number): string => new Date(Date.UTC(2020, 0, 1) + offset * 86_400_000).toISOString().slice(0, 10);
const words = ["", "a", "ab", "b", "é", "unique", "it''s", "conflict", "x y"];

export const columnKinds: readonly ColumnKind[] = [
  { type: "BIGINT", literal: (r) => `${r.between(-3, 12)}`, distinct: (n) => `${n}` },
  { type: "INTEGER", literal: (r) => `${r.between(-3, 12)}`, distinct: (n) => `${n}` },
  { type: "SMALLINT", literal: (r) => `${r.between(-3, 12)}`, distinct: (n) => `${n % 30_000}` },
  { type: "VARCHAR", literal: (r) => `'${r.pick(words)}'`, distinct: (n) => `'v${n}'` },
  { type: "DOUBLE", literal: (r) => `${r.between(-4, 4) / 2}::DOUBLE`, distinct: (n) => `${n}.5::DOUBLE` },
  { type: "DATE", literal: (r) => `DATE '${day(r.below(20))}'`, distinct: (n) => `DATE '${day(n)}'` },
  {
    type: "TIMESTAMP",
    literal: (r) => `TIMESTAMP '${day(r.below(9))} 01:02:03.${r.below(3)}'`,
    distinct: (n) => `TIMESTAMP '${day(n)} 00:00:01'`,
  },
  {
    type: "DECIMAL(10,2)",
    literal: (r) => `${r.between(-4, 9)}.25::DECIMAL(10,2)`,
    distinct: (n) => `${n}.75::DECIMAL(10,2)`,
  },
  { type: "BOOLEAN", literal: (r) => `${r.chance(0.5)}`, distinct: (n) => `${n % 2 === 0}` },
  {
    type: "UUID",
    literal: (r) => `'00000000-0000-4000-8000-${hex(r.below(12), 12)}'::UUID`,
    distinct: (n) => `'11111111-0000-4000-8000-${hex(n, 12)}'::UUID`,
  },
  { type: "BLOB", literal: (r) => `'\\x0${r.below(6)}\\x00'::BLOB`, distinct: (n) => `'d${n}'::BLOB` },
  { type: "INTEGER[]", literal: (r) => `[${r.below(4)}, NULL]`, distinct: (n) => `[${n}]`, nested: true },
  {
    type: "STRUCT(x INTEGER, y VARCHAR)",
    literal: (r) => `{'x': ${r.below(4)}, 'y': '${r.pick(words)}'}`,
    distinct: (n) => `{'x': ${n}, 'y': 'v'}`,
    nested: true,
  },
];

export const indexableKinds = columnKinds.filter(({ nested }) => nested !== true);

export function isNested(type: string): boolean {
  return !indexableKinds.some((kind) => kind.type === type);
}

/** Kinds that can tell enough rows apart for a unique index over them alone. */
export const manyValued = indexableKinds.filter(({ type }) => type !== "BOOLEAN");
