import { isIndexed, literalFor, type ModelTable, newTable, qualified } from "./lake-model.js";
import type { Random } from "./random.js";
import { predicate } from "./row-statements.js";
import { forTable, type Kinds, type Maker } from "./statement.js";
import { columnKinds, indexableKinds, isNested, manyValued } from "./values.js";

const maxTables = 4;
/** What a column's type may become. */
const wider: Readonly<Record<string, string>> = { SMALLINT: "INTEGER", INTEGER: "BIGINT" };

export const createTable: Maker = (random, model) => {
  if (model.tables.length >= maxTables) return undefined;
  const columns = [{ name: "id", type: "BIGINT" }];
  const extra = random.between(1, 4);
  for (let i = 0; i < extra; i++) columns.push({ name: `c${model.serial()}`, type: random.pick(columnKinds).type });
  const table = newTable(random.pick(model.schemas), `t${model.serial()}`, columns);
  const list = columns.map((column) => `${column.name} ${column.type}`).join(", ");
  return {
    sql: `CREATE TABLE ${qualified(table)}(${list})`,
    how: "alike",
    applied: () => void model.tables.push(table),
  };
};

const createTableAs = forTable((random, from, model) => {
  if (model.tables.length >= maxTables) return undefined;
  const table = newTable(random.pick(model.schemas), `t${model.serial()}`, from.columns);
  return {
    sql: `CREATE TABLE ${qualified(table)} AS SELECT * FROM ${qualified(from)} WHERE ${predicate(random, from)}`,
    how: "alike",
    applied: () => void model.tables.push(table),
  };
});

const dropTable = forTable((_, table, model) => {
  if (model.tables.length < 2) return undefined;
  return {
    sql: `DROP TABLE ${qualified(table)}`,
    how: "alike",
    applied: () => void model.tables.splice(model.tables.indexOf(table), 1),
  };
});

const renameTable = forTable((_, table, model) => {
  const name = `t${model.serial()}`;
  return {
    sql: `ALTER TABLE ${qualified(table)} RENAME TO ${name}`,
    how: "alike",
    applied: () => {
      table.name = name;
    },
  };
});

const createIndex = forTable((random, table, model) => {
  if (table.indexes.length >= 3) return undefined;
  const unique = random.chance(0.5);
  const kinds: readonly string[] = (unique ? manyValued : indexableKinds).map(({ type }) => type);
  const usable = table.columns.filter(({ type }) => kinds.includes(type));
  const columns = random.some(usable, random.chance(0.7) ? 1 : 2).map(({ name }) => name);
  if (columns.length === 0) return undefined;
  const name = `ix${model.serial()}`;
  const directions = columns.map(() => random.pick(["asc", "desc"])).join(", ");
  const nulls = columns.map(() => random.pick(["first", "last"])).join(", ");
  const options = random.chance(0.5) ? ` WITH (directions = '[${directions}]', nulls = '[${nulls}]')` : "";
  return {
    sql: `CREATE ${unique ? "UNIQUE " : ""}INDEX ${name} ON ${qualified(table)}(${columns.join(", ")})${options}`,
    how: "index",
    applied: () => void table.indexes.push({ name, unique, columns }),
  };
});

const hasIndex = (table: ModelTable): boolean => table.indexes.length > 0;

const dropIndex = forTable((random, table) => {
  const at = random.below(table.indexes.length);
  return {
    sql: `DROP INDEX {lake}.${table.schema}.${table.indexes[at]?.name}`,
    how: "index",
    applied: () => void table.indexes.splice(at, 1),
  };
}, hasIndex);

const addColumn = (hasDefault: boolean): Maker =>
  forTable((random, table, model) => {
    if (table.columns.length > 6) return undefined;
    const column = { name: `c${model.serial()}`, type: random.pick(columnKinds).type };
    const fallback = hasDefault ? ` DEFAULT ${literalFor(random, column.type)}` : "";
    return {
      sql: `ALTER TABLE ${qualified(table)} ADD COLUMN ${column.name} ${column.type}${fallback}`,
      how: "alike",
      applied: () => void table.columns.push(column),
    };
  });

/** DuckLake keeps columns that its own keys name. */
const isPlain = (table: ModelTable): boolean => !table.partitioned && !table.sorted;

const dropColumn = forTable((random, table) => {
  const free = table.columns.filter(({ name }) => name !== "id" && !isIndexed(table, name));
  if (free.length === 0) return undefined;
  const column = random.pick(free);
  return {
    sql: `ALTER TABLE ${qualified(table)} DROP COLUMN ${column.name}`,
    how: "alike",
    applied: () => void table.columns.splice(table.columns.indexOf(column), 1),
  };
}, isPlain);

const dropIndexedColumn = forTable(
  (random, table) => {
    const { name } = random.pick(table.columns.filter((column) => isIndexed(table, column.name)));
    return refused(`ALTER TABLE ${qualified(table)} DROP COLUMN ${name}`);
  },
  (table) => hasIndex(table) && isPlain(table) && table.columns.length > 1,
);

const retypeIndexedColumn = forTable(
  (random, table) => {
    const usable = table.columns.filter(({ name, type }) => wider[type] !== undefined && isIndexed(table, name));
    if (usable.length === 0) return undefined;
    const { name, type } = random.pick(usable);
    return refused(`ALTER TABLE ${qualified(table)} ALTER COLUMN ${name} SET DATA TYPE ${wider[type]}`);
  },
  (table) => hasIndex(table) && isPlain(table),
);

const refused = (sql: string) => ({ sql, how: "refused", refusal: "covers it" }) as const;

const renameColumn = forTable((random, table, model) => {
  const usable = table.columns.filter(({ name }) => name !== "id");
  if (usable.length === 0) return undefined;
  const column = random.pick(usable);
  const old = column.name;
  const name = `c${model.serial()}`;
  return {
    sql: `ALTER TABLE ${qualified(table)} RENAME COLUMN ${old} TO ${name}`,
    how: "alike",
    applied: () => {
      column.name = name;
      for (const index of table.indexes) index.columns = index.columns.map((known) => (known === old ? name : known));
    },
  };
}, isPlain);

const retypeColumn = forTable((random, table) => {
  const usable = table.columns.filter(({ name, type }) => wider[type] !== undefined && !isIndexed(table, name));
  if (usable.length === 0) return undefined;
  const column = random.pick(usable);
  const type = wider[column.type] as string;
  return {
    sql: `ALTER TABLE ${qualified(table)} ALTER COLUMN ${column.name} SET DATA TYPE ${type}`,
    how: "alike",
    applied: () => {
      column.type = type;
    },
  };
});

const setDefault = forTable((random, table) => {
  const { name, type } = random.pick(table.columns);
  return {
    sql: `ALTER TABLE ${qualified(table)} ALTER COLUMN ${name} SET DEFAULT ${literalFor(random, type)}`,
    how: "alike",
  };
});

const notNull = forTable((random, table) => ({
  sql: `ALTER TABLE ${qualified(table)} ALTER COLUMN ${random.pick(table.columns).name} ${random.pick(["SET", "DROP"])} NOT NULL`,
  how: "alike",
}));

const partition = forTable((random, table) => {
  const by = table.partitioned ? "RESET PARTITIONED BY" : `SET PARTITIONED BY (${partitionKey(random, table)})`;
  return {
    sql: `ALTER TABLE ${qualified(table)} ${by}`,
    how: "alike",
    applied: () => {
      table.partitioned = !table.partitioned;
    },
  };
});

function partitionKey(random: Random, table: ModelTable): string {
  // DuckLake 1.5.5 crashes on buckets of structs.
  const { name, type } = random.pick(table.columns.filter((column) => !isNested(column.type)));
  if (random.chance(0.5)) return name;
  const isTime = type === "DATE" || type === "TIMESTAMP";
  return isTime ? `${random.pick(["year", "month", "day"])}(${name})` : `bucket(${random.between(2, 4)}, ${name})`;
}

const sort = forTable((random, table) => {
  const key = (): string =>
    `${random.pick(table.columns).name} ${random.pick(["ASC", "DESC"])} NULLS ${random.pick(["FIRST", "LAST"])}`;
  const by = table.sorted ? "RESET SORTED BY" : `SET SORTED BY (${key()})`;
  return {
    sql: `ALTER TABLE ${qualified(table)} ${by}`,
    how: "alike",
    applied: () => {
      table.sorted = !table.sorted;
    },
  };
});

/** Changes of tables that may stand in a transaction with changes of rows. */
export const tableKinds: Kinds = [
  [2, "create table", createTable],
  [0.6, "create table from a query", createTableAs],
  [0.6, "drop table", dropTable],
  [0.6, "rename table", renameTable],
  [0.8, "add column", addColumn(false)],
  [0.8, "add column with default", addColumn(true)],
  [0.8, "drop column", dropColumn],
  [0.8, "rename column", renameColumn],
  [0.8, "retype column", retypeColumn],
  [0.5, "set default", setDefault],
  [0.5, "not null", notNull],
  [0.9, "partition keys", partition],
  [0.7, "sort keys", sort],
];

export const indexKinds: Kinds = [
  [5, "create index", createIndex],
  [1, "drop index", dropIndex],
  [0.5, "drop of an indexed column", dropIndexedColumn],
  [0.7, "retype of an indexed column", retypeIndexedColumn],
];
