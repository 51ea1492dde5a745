import { type LakeModel, type ModelObject, qualified } from "./lake-model.js";
import type { Random } from "./random.js";
import { predicate } from "./row-statements.js";
import { forTable, type Kinds, type Maker, type Statement } from "./statement.js";

const createSchema: Maker = (_, model) => {
  if (model.schemas.length >= 3) return undefined;
  const name = `s${model.serial()}`;
  return { sql: `CREATE SCHEMA {lake}.${name}`, how: "alike", applied: () => void model.schemas.push(name) };
};

/** Without CASCADE DuckLake refuses where something is in it. */
const dropSchema: Maker = (random, model) => {
  const name = model.schemas[random.below(model.schemas.length)];
  if (name === undefined || name === "main") return undefined;
  // Some table has to be left.
  if (model.tables.every(({ schema }) => schema === name)) return undefined;
  return {
    sql: `DROP SCHEMA {lake}.${name}${random.pick(["", " CASCADE", " CASCADE"])}`,
    how: "alike",
    applied: () => {
      model.schemas.splice(model.schemas.indexOf(name), 1);
      for (const list of [model.tables, model.objects]) {
        for (let at = list.length - 1; at >= 0; at--) if (list[at]?.schema === name) list.splice(at, 1);
      }
    },
  };
};

const createView = forTable((random, table, model) =>
  create(random, model, "VIEW", (name) => {
    const columns = random.some(table.columns, random.between(1, 2)).map((column) => column.name);
    return `VIEW ${name} AS SELECT ${columns.join(", ")} FROM ${qualified(table)} WHERE ${predicate(random, table)}`;
  }),
);

const createMacro: Maker = (random, model) =>
  create(random, model, "MACRO", (name) => `MACRO ${name}(a, b := ${random.below(9)}) AS a * 2 + b`);

const createTableMacro = forTable((random, table, model) =>
  create(
    random,
    model,
    "MACRO TABLE",
    (name) => `MACRO ${name}(a) AS TABLE SELECT id FROM ${qualified(table)} WHERE id > a`,
  ),
);

/** Makes a view or macro, sometimes in the place of an earlier one. */
function create(
  random: Random,
  model: LakeModel,
  what: ModelObject["what"],
  definition: (name: string) => string,
): Statement | undefined {
  const earlier = model.objects.filter((object) => object.what === what);
  if (earlier.length > 0 && random.chance(0.3)) {
    return { sql: `CREATE OR REPLACE ${definition(qualified(random.pick(earlier)))}`, how: "alike" };
  }
  if (model.objects.length >= 4) return undefined;
  const object = { schema: random.pick(model.schemas), name: `o${model.serial()}`, what };
  return {
    sql: `CREATE ${definition(qualified(object))}`,
    how: "alike",
    applied: () => void model.objects.push(object),
  };
}

const dropObject: Maker = (random, model) => {
  if (model.objects.length === 0) return undefined;
  const object = random.pick(model.objects);
  return {
    sql: `DROP ${object.what} ${qualified(object)}`,
    how: "alike",
    applied: () => void model.objects.splice(model.objects.indexOf(object), 1),
  };
};

const readObject: Maker = (random, model) => {
  if (model.objects.length === 0) return undefined;
  const object = random.pick(model.objects);
  const name = qualified(object);
  const from = object.what === "VIEW" ? name : `${name}(${random.between(0, 5)})`;
  return {
    sql: object.what === "MACRO" ? `SELECT ${from}` : `SELECT * FROM ${from} ORDER BY ALL`,
    how: "query",
  };
};

const comment = forTable((random, table, model) => {
  const views = model.objects.filter(({ what }) => what === "VIEW");
  const targets = [
    `TABLE ${qualified(table)}`,
    `COLUMN ${qualified(table)}.${random.pick(table.columns).name}`,
    ...views.map((view) => `VIEW ${qualified(view)}`),
  ];
  const text = random.chance(0.2) ? "NULL" : `'note ${model.serial()}'`;
  return { sql: `COMMENT ON ${random.pick(targets)} IS ${text}`, how: "alike" };
});

/** Changes of what stands beside tables. */
export const objectKinds: Kinds = [
  [0.8, "create schema", createSchema],
  [0.5, "drop schema", dropSchema],
  [0.7, "view", createView],
  [0.4, "macro", createMacro],
  [0.4, "table macro", createTableMacro],
  [0.5, "drop view or macro", dropObject],
  [1, "comment", comment],
];

export const objectQueries: Kinds = [[1, "query of a view or macro", readObject]];
