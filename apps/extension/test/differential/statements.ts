import { distinctFor, isIndexed, type LakeModel, literalFor, type ModelTable, qualified } from "./lake-model.js";
import type { Random } from "./random.js";
import { columnKinds, manyValued } from "./values.js";

/** One statement of a workload, with `{lake}` where the lake's name goes. */
export interface Statement {
  readonly sql: string;
  /** Only the lake with indexes gets it. */
  readonly indexDdl?: boolean;
  /** Runs outside of any transaction, and changes no row. */
  readonly maintenance?: boolean;
  /** Its rows are compared. */
  readonly query?: boolean;
  /** Applied to the model when the statement has succeeded. */
  readonly applied?: () => void;
}

type Maker = (random: Random, model: LakeModel) => Statement | undefined;

const inlineRowLimit = 10;

function anyTable(random: Random, model: LakeModel): ModelTable | undefined {
  return model.tables.length === 0 ? undefined : random.pick(model.tables);
}

/** A predicate over one column, sometimes over two. */
function predicate(random: Random, table: ModelTable): string {
  const one = (): string => {
    const { name, type } = random.pick(table.columns);
    if (random.chance(0.15)) return `${name} IS ${random.pick(["", "NOT "])}NULL`;
    return `${name} ${random.pick(["=", "<", ">", ">=", "<>"])} ${literalFor(random, type)}`;
  };
  return random.chance(0.25) ? `${one()} ${random.pick(["AND", "OR"])} ${one()}` : one();
}

/** Rows whose columns of unique indexes are mostly new values. */
function rowsFor(random: Random, model: LakeModel, table: ModelTable, count: number): string {
  const unique = new Set(table.indexes.filter((index) => index.unique).flatMap(({ columns }) => columns));
  const rows: string[] = [];
  for (let i = 0; i < count; i++) {
    const serial = model.serial();
    const values = table.columns.map(({ name, type }) =>
      unique.has(name) && random.chance(count > inlineRowLimit ? 0.998 : 0.95)
        ? distinctFor(type, serial)
        : literalFor(random, type),
    );
    rows.push(`(${values.join(", ")})`);
  }
  return rows.join(", ");
}

const createTable: Maker = (random, model) => {
  if (model.tables.length >= 4) return undefined;
  const schema = random.pick(model.schemas);
  const name = `t${model.serial()}`;
  const columns = [{ name: "id", type: "BIGINT" }];
  const extra = random.between(1, 4);
  for (let i = 0; i < extra; i++) columns.push({ name: `c${model.serial()}`, type: random.pick(columnKinds).type });
  const table: ModelTable = { schema, name, columns, indexes: [], partitioned: false };
  const list = columns.map((column) => `${column.name} ${column.type}`).join(", ");
  return { sql: `CREATE TABLE ${qualified(table)}(${list})`, applied: () => void model.tables.push(table) };
};

const insert =
  (first: number, last: number): Maker =>
  (random, model) => {
    const table = anyTable(random, model);
    if (table === undefined) return undefined;
    const rows = rowsFor(random, model, table, random.between(first, last));
    return { sql: `INSERT INTO ${qualified(table)} VALUES ${rows}` };
  };

const update: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined) return undefined;
  const column = random.pick(table.columns);
  const numeric = column.type === "BIGINT" || column.type === "INTEGER";
  const value = numeric && random.chance(0.5) ? `${column.name} + 1000` : literalFor(random, column.type);
  return { sql: `UPDATE ${qualified(table)} SET ${column.name} = ${value} WHERE ${predicate(random, table)}` };
};

const remove: Maker = (random, model) => {
  const table = anyTable(random, model);
  return table && { sql: `DELETE FROM ${qualified(table)} WHERE ${predicate(random, table)}` };
};

const merge: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined) return undefined;
  const names = table.columns.map(({ name }) => name);
  const source = `(VALUES ${rowsFor(random, model, table, random.between(1, 4))}) AS s(${names.join(", ")})`;
  const set = random.pick(table.columns).name;
  return {
    sql:
      `MERGE INTO ${qualified(table)} AS t USING ${source} ON t.id = s.id ` +
      `WHEN MATCHED THEN UPDATE SET ${set} = s.${set} ` +
      `WHEN NOT MATCHED THEN INSERT VALUES (${names.map((name) => `s.${name}`).join(", ")})`,
  };
};

const createIndex: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined || table.indexes.length >= 3) return undefined;
  const unique = random.chance(0.5);
  const kinds: readonly string[] = (unique ? manyValued : columnKinds).map(({ type }) => type);
  const usable = table.columns.filter(({ type }) => kinds.includes(type));
  const columns = random.some(usable, random.chance(0.7) ? 1 : 2).map(({ name }) => name);
  if (columns.length === 0) return undefined;
  const name = `ix${model.serial()}`;
  const directions = columns.map(() => random.pick(["asc", "desc"])).join(", ");
  const nulls = columns.map(() => random.pick(["first", "last"])).join(", ");
  const options = random.chance(0.5) ? ` WITH (directions = '[${directions}]', nulls = '[${nulls}]')` : "";
  return {
    sql: `CREATE ${unique ? "UNIQUE " : ""}INDEX ${name} ON ${qualified(table)}(${columns.join(", ")})${options}`,
    indexDdl: true,
    applied: () => void table.indexes.push({ name, unique, columns }),
  };
};

const dropIndex: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined || table.indexes.length === 0) return undefined;
  const at = random.below(table.indexes.length);
  return {
    sql: `DROP INDEX {lake}.${table.schema}.${table.indexes[at]?.name}`,
    indexDdl: true,
    applied: () => void table.indexes.splice(at, 1),
  };
};

const addColumn: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined || table.columns.length > 6) return undefined;
  const column = { name: `c${model.serial()}`, type: random.pick(columnKinds).type };
  const fallback = random.chance(0.5) ? ` DEFAULT ${literalFor(random, column.type)}` : "";
  return {
    sql: `ALTER TABLE ${qualified(table)} ADD COLUMN ${column.name} ${column.type}${fallback}`,
    applied: () => void table.columns.push(column),
  };
};

const dropColumn: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined || table.partitioned) return undefined;
  const free = table.columns.filter(({ name }) => name !== "id" && !isIndexed(table, name));
  if (free.length === 0) return undefined;
  const column = random.pick(free);
  return {
    sql: `ALTER TABLE ${qualified(table)} DROP COLUMN ${column.name}`,
    applied: () => void table.columns.splice(table.columns.indexOf(column), 1),
  };
};

const renameColumn: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined || table.partitioned) return undefined;
  const column = random.pick(table.columns);
  if (column.name === "id") return undefined;
  const old = column.name;
  const name = `c${model.serial()}`;
  return {
    sql: `ALTER TABLE ${qualified(table)} RENAME COLUMN ${old} TO ${name}`,
    applied: () => {
      column.name = name;
      for (const index of table.indexes) index.columns = index.columns.map((known) => (known === old ? name : known));
    },
  };
};

const retypeColumn: Maker = (random, model) => {
  const table = anyTable(random, model);
  const wider: Readonly<Record<string, string>> = { SMALLINT: "INTEGER", INTEGER: "BIGINT" };
  const column = table?.columns.find(({ name, type }) => wider[type] !== undefined && !isIndexed(table, name));
  if (table === undefined || column === undefined) return undefined;
  const type = wider[column.type] as string;
  return {
    sql: `ALTER TABLE ${qualified(table)} ALTER COLUMN ${column.name} SET DATA TYPE ${type}`,
    applied: () => {
      column.type = type;
    },
  };
};

const renameTable: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined) return undefined;
  const name = `t${model.serial()}`;
  return {
    sql: `ALTER TABLE ${qualified(table)} RENAME TO ${name}`,
    applied: () => {
      table.name = name;
    },
  };
};

const partition: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined) return undefined;
  const column = random.pick(table.columns).name;
  const by = table.partitioned ? "RESET PARTITIONED BY" : `SET PARTITIONED BY (${column})`;
  return {
    sql: `ALTER TABLE ${qualified(table)} ${by}`,
    applied: () => {
      table.partitioned = !table.partitioned;
    },
  };
};

const comment: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined) return undefined;
  const text = `'note ${model.serial()}'`;
  const target = random.chance(0.5)
    ? `TABLE ${qualified(table)}`
    : `COLUMN ${qualified(table)}.${random.pick(table.columns).name}`;
  return { sql: `COMMENT ON ${target} IS ${text}` };
};

const dropTable: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined || model.tables.length < 2) return undefined;
  return {
    sql: `DROP TABLE ${qualified(table)}`,
    applied: () => void model.tables.splice(model.tables.indexOf(table), 1),
  };
};

const createSchema: Maker = (_, model) => {
  if (model.schemas.length >= 2) return undefined;
  const name = `s${model.serial()}`;
  return { sql: `CREATE SCHEMA {lake}.${name}`, applied: () => void model.schemas.push(name) };
};

const maintenance: Maker = (random) => ({
  sql: random.weighted([
    [4, "CALL ducklake_flush_inlined_data('{lake}')"],
    [3, "CALL ducklake_merge_adjacent_files('{lake}')"],
    [3, "CALL ducklake_rewrite_data_files('{lake}', delete_threshold => 0)"],
    [1, "CALL ducklake_expire_snapshots('{lake}', older_than => now())"],
    [1, "CALL ducklake_cleanup_old_files('{lake}', cleanup_all => true)"],
  ]),
  maintenance: true,
});

const inlineLimit: Maker = (random) => ({
  sql: `CALL {lake}.set_option('data_inlining_row_limit', ${random.pick([0, 3, 10, 30])})`,
  maintenance: true,
});

const readTable: Maker = (random, model) => {
  const table = anyTable(random, model);
  if (table === undefined) return undefined;
  const where = random.chance(0.5) ? ` WHERE ${predicate(random, table)}` : "";
  return { sql: `SELECT rowid, * FROM ${qualified(table)}${where} ORDER BY ALL`, query: true };
};

/** Changes of rows, which transactions are made of. */
const rowMakers: readonly (readonly [number, Maker])[] = [
  [6, insert(1, 8)],
  [4, insert(15, 60)],
  [5, update],
  [4, remove],
  [2, merge],
];

const otherMakers: readonly (readonly [number, Maker])[] = [
  [2, createTable],
  [4, createIndex],
  [1, dropIndex],
  [1, addColumn],
  [0.7, dropColumn],
  [0.7, renameColumn],
  [0.7, retypeColumn],
  [0.5, renameTable],
  [0.6, partition],
  [0.7, comment],
  [0.4, dropTable],
  [0.4, createSchema],
  [5, maintenance],
  [0.8, inlineLimit],
  [3, readTable],
];

function make(random: Random, model: LakeModel, makers: readonly (readonly [number, Maker])[]): Statement {
  for (;;) {
    const made = random.weighted(makers)(random, model);
    if (made !== undefined) return made;
  }
}

export function firstTable(random: Random, model: LakeModel): Statement {
  return make(random, model, [[1, createTable]]);
}

/** A change of rows. */
export function rowStatement(random: Random, model: LakeModel): Statement {
  return make(random, model, rowMakers);
}

/** Anything. */
export function statement(random: Random, model: LakeModel): Statement {
  return make(random, model, [...rowMakers, ...otherMakers]);
}
