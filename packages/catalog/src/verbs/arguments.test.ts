import { type InvalidArgumentError, MoraineError } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import type { Draft } from "../model/draft.js";
import { Session } from "../testing/session.js";
import { checkArray, checkKnown } from "./arguments.js";
import { addColumn, alterColumn, dropColumn, renameColumn } from "./columns.js";
import { expireDataFile, registerDataFile } from "./data-files.js";
import { expireDeleteFile, registerDeleteFile } from "./delete-files.js";
import { createIndexDefinition, dropIndex } from "./index-definitions.js";
import { createMacro, dropMacro } from "./macros.js";
import { setOption, unsetOption } from "./options.js";
import { clearPartitioning, setPartitioning } from "./partitioning.js";
import { createSchema, dropSchema } from "./schemas.js";
import { clearSorting, setSorting } from "./sorting.js";
import { updateColumnStats, updateTableStats } from "./stats.js";
import { createTable, dropTable, renameTable, setTableSchema } from "./tables.js";
import { removeTag, setTag } from "./tags.js";
import { alterView, createView, dropView } from "./views.js";

// Callers from JavaScript pass anything. Each verb is given good arguments with one of them spoilt, at every depth.

type Json = bigint | number | boolean | string | null | undefined | readonly Json[] | { readonly [key: string]: Json };

const column = { name: "c", columnType: "BIGINT", nullsAllowed: true, defaultValue: "1" };
const file = { path: "f", pathIsRelative: true, fileSizeBytes: 1, footerSize: 1, encryptionKey: "k" };

/** Table 1 with columns 1 and 2, data file 0 with delete file 1; schema 0; view 2; macro 3; index 4. */
function draftWithEverything(): Draft {
  const draft = new Session().draft();
  const schema = 0n as never;
  const table = createTable(draft, { schema, name: "t", columns: [column, { ...column, name: "d" }] });
  createView(draft, { schema, name: "v", dialect: "duckdb", sql: "SELECT 1" });
  createMacro(draft, { schema, name: "m", implementations: [{ dialect: "duckdb", sql: "1", macroType: "scalar" }] });
  createIndexDefinition(draft, { table, name: "i", columns: [2n as never] });
  registerDataFile(draft, { table, file: { ...file, recordCount: 2 } });
  registerDeleteFile(draft, { table, file: { ...file, dataFileId: 0n as never, deleteCount: 1 } });
  return draft;
}

const verbs: readonly (readonly [(draft: Draft, args: never) => unknown, { readonly [key: string]: Json }])[] = [
  [createSchema, { name: "s" }],
  [dropSchema, { schema: 0n }],
  [createTable, { schema: 0n, name: "u", columns: [{ ...column, children: [column] }] }],
  [renameTable, { table: 1n, name: "u" }],
  [setTableSchema, { table: 1n, schema: 0n }],
  [dropTable, { table: 1n }],
  [addColumn, { table: 1n, definition: { ...column, children: [column] } }],
  [renameColumn, { table: 1n, column: 1n, name: "z" }],
  [alterColumn, { table: 1n, column: 1n, columnType: "DATE", nullsAllowed: true, defaultValue: "1" }],
  [dropColumn, { table: 1n, column: 1n }],
  [setPartitioning, { table: 1n, columns: [{ column: 1n, transform: "identity" }] }],
  [clearPartitioning, { table: 1n }],
  [
    setSorting,
    { table: 1n, keys: [{ expression: "a", dialect: "duckdb", direction: "ASC", nullOrder: "NULLS_LAST" }] },
  ],
  [clearSorting, { table: 1n }],
  [
    registerDataFile,
    {
      table: 1n,
      file: {
        ...file,
        fileFormat: "parquet",
        recordCount: 1,
        partitionValues: [],
        columnStats: [
          {
            columnId: 1n,
            columnSizeBytes: 1,
            valueCount: 1n,
            nullCount: 0,
            min: "0",
            max: "1",
            containsNan: false,
            extraStats: "{}",
          },
        ],
      },
    },
  ],
  [expireDataFile, { table: 1n, file: 0n }],
  [registerDeleteFile, { table: 1n, file: { ...file, dataFileId: 0n, format: "parquet", deleteCount: 1 } }],
  [expireDeleteFile, { table: 1n, file: 1n }],
  [updateTableStats, { table: 1n, recordCount: 1, fileSizeBytes: 1 }],
  [
    updateColumnStats,
    { table: 1n, column: 1n, stats: { containsNull: true, containsNan: true, min: "0", max: "1", extraStats: "{}" } },
  ],
  [createView, { schema: 0n, name: "w", dialect: "duckdb", sql: "SELECT 1" }],
  [alterView, { view: 2n, dialect: "duckdb", sql: "SELECT 1" }],
  [dropView, { view: 2n }],
  [
    createMacro,
    {
      schema: 0n,
      name: "n",
      implementations: [
        {
          dialect: "duckdb",
          sql: "1",
          macroType: "scalar",
          parameters: [{ parameterName: "x", parameterType: "BIGINT", defaultValue: "1", defaultValueType: "INTEGER" }],
        },
      ],
    },
  ],
  [dropMacro, { macro: 3n }],
  [setOption, { scope: { table: 1n }, key: "k", value: "v" }],
  [unsetOption, { scope: { schema: 0n }, key: "k" }],
  [setTag, { target: { table: 1n }, key: "k", value: "v" }],
  [removeTag, { target: { view: 2n }, key: "k" }],
  [
    createIndexDefinition,
    {
      table: 1n,
      name: "j",
      columns: [1n],
      unique: false,
      orders: [{ direction: "asc", nulls: "last" }],
      maintenance: "deferred",
      state: "ready",
    },
  ],
  [dropIndex, { index: 4n }],
];

/** Something that no argument takes, and that differs in type from `value`. */
function spoilt(value: Json): Json[] {
  const wrong: Json[] = [Number.NaN, -1n, null];
  if (typeof value !== "string") wrong.push("1");
  if (typeof value !== "object") wrong.push({}, []);
  return wrong;
}

/** `null` clears a default: it is the one value of that argument which is not wrong. */
const takesNull = (path: string): boolean => path === "defaultValue";

interface SpoiltCall {
  readonly path: string;
  readonly args: Json;
}

function isRecord(value: Json): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function* spoil(value: Json, path: string): Generator<SpoiltCall> {
  if (path !== "")
    for (const wrong of spoilt(value)) if (!(wrong === null && takesNull(path))) yield { path, args: wrong };
  if (Array.isArray(value)) {
    for (const [at, item] of (value as readonly Json[]).entries()) {
      for (const call of spoil(item, `${path}[${at}]`))
        yield { ...call, args: (value as readonly Json[]).with(at, call.args) };
    }
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value)) {
      for (const call of spoil(item, path === "" ? key : `${path}.${key}`))
        yield { ...call, args: { ...value, [key]: call.args } };
    }
  }
}

describe("arguments of the wrong type", () => {
  it.each(verbs)("of %o are refused by name and change nothing", (verb, args) => {
    const draft = draftWithEverything();
    const before = [draft.entityChanges(), draft.changes.toText(), draft.nextCatalogId, draft.nextFileId];
    for (const call of spoil(args, "")) {
      let thrown: unknown;
      try {
        verb(draft, call.args as never);
      } catch (error) {
        thrown = error;
      }
      expect(thrown, `${call.path} was accepted`).toBeInstanceOf(MoraineError);
      const error = thrown as InvalidArgumentError;
      expect(error.code, `${call.path}: ${error.message}`).toBe("invalid_argument");
      const leaf = call.path.replace("unique", "u\u00b7nique");
      expect(error.message.includes(leaf) || error.message.includes(leaf.split(".")[0] as string)).toBe(true);
    }
    expect([draft.entityChanges(), draft.changes.toText(), draft.nextCatalogId, draft.nextFileId]).toEqual(before);
  });

  it.each(verbs)("in place of the whole argument object of %o are refused", (verb) => {
    const draft = draftWithEverything();
    for (const wrong of [undefined, null, 1, "x", [], true]) {
      expect(() => verb(draft, wrong as never)).toThrow(/^invalid argument: arguments must be an object/);
    }
  });
});

/** Every object of an argument tree with one name more, and where that object stands. */
function* withUnknownName(value: Json, path: string): Generator<SpoiltCall> {
  if (Array.isArray(value)) {
    for (const [at, item] of (value as readonly Json[]).entries()) {
      for (const call of withUnknownName(item, `${path}[${at}]`))
        yield { ...call, args: (value as readonly Json[]).with(at, call.args) };
    }
  } else if (isRecord(value)) {
    yield { path: path === "" ? "arguments" : path, args: { ...value, colour: undefined } };
    for (const [key, item] of Object.entries(value)) {
      for (const call of withUnknownName(item, path === "" ? key : `${path}.${key}`))
        yield { ...call, args: { ...value, [key]: call.args } };
    }
  }
}

/** Objects of which each form has one name: the refusal shows the forms instead. */
const hasForms = (path: string): boolean => path === "target" || path === "scope";

describe("unknown options", () => {
  it.each(verbs)("of %o are refused at every depth and change nothing", (verb, args) => {
    const draft = draftWithEverything();
    const before = [draft.entityChanges(), draft.changes.toText(), draft.nextCatalogId, draft.nextFileId];
    const calls = [...withUnknownName(args, "")];
    expect(calls.length).toBeGreaterThan(0);
    for (const call of calls) {
      const expected = hasForms(call.path)
        ? `invalid argument: ${call.path} must be `
        : `invalid argument: unknown option "colour" in ${call.path}`;
      expect(() => verb(draft, call.args as never), call.path).toThrow(expected);
    }
    expect([draft.entityChanges(), draft.changes.toText(), draft.nextCatalogId, draft.nextFileId]).toEqual(before);
  });

  it("are answered with the known ones", () => {
    const known = { name: true, unique: true } as const;
    let thrown: unknown;
    try {
      checkKnown({ name: "i", uniqe: true } as never, known, "arguments");
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({
      code: "invalid_argument",
      message: 'invalid argument: unknown option "uniqe" in arguments',
      remedy: "Pass nothing but name, u\u00b7nique.",
    });
    expect(checkKnown({ name: "i", unique: true }, known, "arguments")).toEqual({ name: "i", unique: true });
  });

  it("include names that every object inherits", () => {
    for (const name of ["toString", "constructor", "__proto__"]) {
      const args = JSON.parse(`{ "table": 1, "${name}": 1 }`) as object;
      expect(() => dropTable(draftWithEverything(), args as never)).toThrow(`unknown option "${name}" in arguments`);
    }
  });
});

describe("counts and ids", () => {
  const wrongCounts = [-1, 1.5, Number.NaN, 2 ** 53, -1n, 2n ** 64n, "1"];
  it.each(wrongCounts)("refuse %s as a count", (recordCount) => {
    const draft = draftWithEverything();
    expect(() =>
      updateTableStats(draft, { table: 1n as never, recordCount: recordCount as never, fileSizeBytes: 1 }),
    ).toThrow(/^invalid argument: recordCount must be/);
  });

  it.each([-1n, 2n ** 64n, 1, "1"])("refuse %s as an id", (table) => {
    expect(() => dropTable(draftWithEverything(), { table: table as never })).toThrow(
      /^invalid argument: table must be/,
    );
  });
});

describe("arrays with holes", () => {
  const sparse = new Array<bigint>(2);
  sparse[1] = 1n;

  it("have undefined in their place, whoever walks them", () => {
    const places: number[] = [];
    checkArray(sparse, "sparse").forEach((_, at) => places.push(at));
    expect(places).toEqual([0, 1]);
  });

  it("are refused as undefined is, at every depth", () => {
    const draft = draftWithEverything();
    for (const [verb, args] of verbs) {
      for (const [whole, path] of withHoles(args, "")) {
        expect(() => verb(draft, whole as never), `${verb.name}: ${path}`).toThrow(MoraineError);
      }
    }
  });
});

/** The arguments with each of their arrays in turn made of one hole. */
function* withHoles(value: Json, path: string): Generator<readonly [Json, string]> {
  if (Array.isArray(value)) {
    yield [new Array<Json>(1), path];
    for (const [at, item] of (value as readonly Json[]).entries())
      for (const [changed, where] of withHoles(item, `${path}[${at}]`))
        yield [(value as readonly Json[]).with(at, changed), where];
  } else if (isRecord(value)) {
    for (const [key, item] of Object.entries(value))
      for (const [changed, where] of withHoles(item, `${path}.${key}`)) yield [{ ...value, [key]: changed }, where];
  }
}
