import { distinctFor, type LakeModel, literalFor, type ModelTable, qualified } from "./lake-model.js";
import type { Random } from "./random.js";
import { forTable, type Kinds, type Maker } from "./statement.js";

const inlineRowLimit = 10;
/** Types whose values can stand in the names of folders. */
const inFolders = ["BIGINT", "INTEGER", "SMALLINT", "DATE", "VARCHAR"];

/** A predicate over one column, sometimes over two. */
export function predicate(random: Random, table: ModelTable): string {
  const one = (): string => {
    const { name, type } = random.pick(table.columns);
    if (random.chance(0.15)) return `${name} IS ${random.pick(["", "NOT "])}NULL`;
    return `${name} ${random.pick(["=", "<", ">", ">=", "<>"])} ${literalFor(random, type)}`;
  };
  return random.chance(0.25) ? `${one()} ${random.pick(["AND", "OR"])} ${one()}` : one();
}

/** Rows whose columns of unique indexes are mostly new values. */
function rowsFor(random: Random, model: LakeModel, table: ModelTable, count: number, columns = table.columns): string {
  const unique = new Set(table.indexes.filter((index) => index.unique).flatMap((index) => index.columns));
  const rows: string[] = [];
  for (let i = 0; i < count; i++) {
    const serial = model.serial();
    const values = columns.map(({ name, type }) =>
      unique.has(name) && random.chance(count > inlineRowLimit ? 0.998 : 0.95)
        ? distinctFor(type, serial)
        : literalFor(random, type),
    );
    rows.push(`(${values.join(", ")})`);
  }
  return rows.join(", ");
}

const insert = (first: number, last: number): Maker =>
  forTable((random, table, model) => {
    const rows = rowsFor(random, model, table, random.between(first, last));
    return { sql: `INSERT INTO ${qualified(table)} VALUES ${rows}` };
  });

const insertSomeColumns = forTable((random, table, model) => {
  const columns = random.some(table.columns, random.between(1, table.columns.length));
  const rows = rowsFor(random, model, table, random.between(1, 20), columns);
  return { sql: `INSERT INTO ${qualified(table)}(${columns.map(({ name }) => name).join(", ")}) VALUES ${rows}` };
});

const insertFromQuery = forTable((random, table) => {
  const from = `FROM ${qualified(table)} WHERE ${predicate(random, table)} ORDER BY rowid LIMIT ${random.pick([3, 20])}`;
  return { sql: `INSERT INTO ${qualified(table)} SELECT * ${from}` };
});

const update = forTable((random, table) => {
  const column = random.pick(table.columns);
  const numeric = column.type === "BIGINT" || column.type === "INTEGER";
  const value = numeric && random.chance(0.5) ? `${column.name} + 1000` : literalFor(random, column.type);
  const where = random.chance(0.05) ? "" : ` WHERE ${predicate(random, table)}`;
  return { sql: `UPDATE ${qualified(table)} SET ${column.name} = ${value}${where}` };
});

const remove = forTable((random, table) => ({
  sql: `DELETE FROM ${qualified(table)} WHERE ${predicate(random, table)}`,
}));

const removeAll = forTable((random, table) => ({
  sql: `${random.pick(["DELETE FROM", "TRUNCATE"])} ${qualified(table)}`,
}));

const merge = (matched: (random: Random, table: ModelTable) => string): Maker =>
  forTable((random, table, model) => {
    const names = table.columns.map(({ name }) => name);
    const source = `(VALUES ${rowsFor(random, model, table, random.between(1, 4))}) AS s(${names.join(", ")})`;
    return {
      sql:
        `MERGE INTO ${qualified(table)} AS t USING ${source} ON t.id = s.id ` +
        `WHEN MATCHED THEN ${matched(random, table)} ` +
        `WHEN NOT MATCHED THEN INSERT VALUES (${names.map((name) => `s.${name}`).join(", ")})`,
    };
  });

const mergeUpdate = merge((random, { columns }) => {
  const { name } = random.pick(columns);
  return `UPDATE SET ${name} = s.${name}`;
});

/** Rows of a file outside of the lake, columns in any order and sometimes one too few. */
const addFile = forTable((random, table, model) => {
  const file = `{files}/{lake}-${model.serial()}.parquet`;
  const lacks = table.columns.length > 2 && random.chance(0.3);
  const columns = random.some(table.columns, table.columns.length - (lacks ? 1 : 0));
  return {
    before: `COPY (${typedRows(random, model, table, columns)}) TO '${file}'`,
    sql: addFiles(table, file, lacks ? ", allow_missing => true" : ""),
  };
});

/** Files whose folders' names hold the values of a column. */
const addFolders = forTable((random, table, model) => {
  const usable = table.columns.filter(({ type }) => inFolders.includes(type));
  if (table.columns.length < 2) return undefined;
  const folder = `{files}/{lake}-${model.serial()}`;
  const by = random.pick(usable).name;
  return {
    before: `COPY (${typedRows(random, model, table, table.columns)}) TO '${folder}' (FORMAT parquet, PARTITION_BY (${by}))`,
    sql: addFiles(table, `${folder}/**/*.parquet`, ", hive_partitioning => true"),
  };
});

function addFiles(table: ModelTable, files: string, options: string): string {
  return `CALL ducklake_add_data_files('{lake}', '${table.name}', '${files}', schema => '${table.schema}'${options})`;
}

function typedRows(random: Random, model: LakeModel, table: ModelTable, columns: ModelTable["columns"]): string {
  const names = columns.map(({ name }) => name).join(", ");
  const typed = columns.map(({ name, type }) => `${name}::${type} AS ${name}`).join(", ");
  const rows = rowsFor(random, model, table, random.between(1, 12), columns);
  return `SELECT ${typed} FROM (VALUES ${rows}) AS s(${names})`;
}

/** Changes of rows, which transactions are made of. */
export const rowKinds: Kinds = [
  [6, "insert of few rows", insert(1, 8)],
  [4, "insert of many rows", insert(15, 60)],
  [1, "insert of some columns", insertSomeColumns],
  [0.7, "insert from a query", insertFromQuery],
  [6, "update", update],
  [5, "delete", remove],
  [0.5, "delete of all", removeAll],
  [2, "merge with update", mergeUpdate],
  [0.7, "merge with delete", merge(() => "DELETE")],
  [1.5, "external file", addFile],
  [0.8, "external hive files", addFolders],
];
