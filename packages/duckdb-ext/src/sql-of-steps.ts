import type { FollowStep } from "@moraine/catalog";
import { statementListValues } from "./limits.js";

type DeleteStep = Extract<FollowStep, { readonly kind: "delete" }>;
type EndStep = Extract<FollowStep, { readonly kind: "end" }>;
type StatementStep = Exclude<FollowStep, { readonly kind: "rows" }>;
type Value = DeleteStep["where"][number][1];

/** A name in DuckDB's quotes. */
export function quotedName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A value as DuckDB reads it back. */
function literal(value: Value): string {
  if (value === null) return "NULL";
  if (typeof value === "boolean") return value ? "TRUE" : "FALSE";
  if (typeof value === "bigint") return value.toString();
  const text = `'${value.replaceAll("'", "''")}'`;
  // A statement ends for DuckDB's parser at a NUL.
  return text.includes("\0") ? `(${text.replaceAll("\0", "' || chr(0) || '")})` : text;
}

/**
 * The statements of consecutive steps that are no rows, in an order that comes to the same. Deletions of one table by the same
 * columns become one statement, because each costs a scan of the table.
 */
export function* statementsOf(schema: string, steps: readonly StatementStep[]): IterableIterator<string> {
  for (let at = 0; at < steps.length;) {
    const run = runOf(steps, at);
    yield* statementsOfRun(`${quotedName(schema)}.${quotedName(run[0].table)}`, run);
    at += run.length;
  }
}

/**
 * Whether a copy keeps a table, empty, that is dropped. DuckLake remembers the tables of inlined rows with a schema version, and
 * reads them for as long as that is the newest: also one that a flush of another process has dropped since.
 */
function isKept(table: string): boolean {
  return /^ducklake_inlined_data_\d+_\d+$/u.test(table);
}

type Run = readonly [StatementStep, ...StatementStep[]];

/** The step, and those after it that go into the same statements. */
function runOf(steps: readonly StatementStep[], at: number): Run {
  const first = steps[at] as StatementStep;
  const rest: StatementStep[] = [];
  for (let next = steps[at + 1]; next !== undefined && isAlike(first, next); next = steps[at + 1 + rest.length]) {
    rest.push(next);
  }
  return [first, ...rest];
}

function isAlike(a: StatementStep, b: StatementStep): boolean {
  if (a.table !== b.table) return false;
  if (a.kind === "end") return b.kind === "end" && a.endSnapshot === b.endSnapshot;
  if (a.kind !== "delete" || b.kind !== "delete") return false;
  return (
    a.where.length > 0 &&
    a.where.length === b.where.length &&
    a.where.every(([column, value], at) => {
      const other = b.where[at];
      return other?.[0] === column && value !== null && other[1] !== null;
    })
  );
}

function* statementsOfRun(table: string, run: Run): IterableIterator<string> {
  const [first] = run;
  switch (first.kind) {
    case "create": {
      const columns = first.columns.map(({ name, type, constraint }) =>
        [quotedName(name), type, ...(constraint === undefined ? [] : [constraint])].join(" "),
      );
      yield `CREATE ${isKept(first.table) ? "OR REPLACE TABLE" : "TABLE"} ${table} (${columns.join(", ")})`;
      return;
    }
    case "drop":
      yield isKept(first.table) ? `DELETE FROM ${table}` : `DROP TABLE ${table}`;
      return;
    case "end":
      yield* endStatements(table, first.endSnapshot, run as readonly StatementStep[] as readonly EndStep[]);
      return;
    case "delete":
      yield* deleteStatements(table, run as readonly StatementStep[] as readonly DeleteStep[]);
      return;
  }
}

function* endStatements(table: string, endSnapshot: bigint, steps: readonly EndStep[]): IterableIterator<string> {
  const rest = `"begin_snapshot" < ${endSnapshot} AND "end_snapshot" IS NULL`;
  for (const part of inParts(steps.map(({ rowId }) => literal(rowId)))) {
    yield `UPDATE ${table} SET "end_snapshot" = ${endSnapshot} WHERE ${isAnyOf('"row_id"', part)} AND ${rest}`;
  }
}

function* deleteStatements(table: string, steps: readonly DeleteStep[]): IterableIterator<string> {
  const columns = steps[0]?.where.map(([column]) => quotedName(column)) ?? [];
  if (steps.length === 1) {
    const where = steps[0]?.where.map(([, value], at) => {
      const column = columns[at] ?? "";
      return value === null ? `${column} IS NULL` : `${column} = ${literal(value)}`;
    });
    yield columns.length === 0 ? `DELETE FROM ${table}` : `DELETE FROM ${table} WHERE ${where?.join(" AND ")}`;
    return;
  }
  const keys = steps.map(({ where }) => tuple(where.map(([, value]) => literal(value))));
  for (const part of inParts(keys)) yield `DELETE FROM ${table} WHERE ${isAnyOf(tuple(columns), part)}`;
}

function tuple(parts: readonly string[]): string {
  return parts.length === 1 ? (parts[0] ?? "") : `(${parts.join(", ")})`;
}

function isAnyOf(subject: string, values: readonly string[]): string {
  return values.length === 1 ? `${subject} = ${values[0]}` : `${subject} IN (${values.join(", ")})`;
}

function* inParts<T>(items: readonly T[]): IterableIterator<readonly T[]> {
  for (let at = 0; at < items.length; at += statementListValues) yield items.slice(at, at + statementListValues);
}
