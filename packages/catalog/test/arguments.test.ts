import type { ColumnVector, IndexId, MoraineError, TableId } from "@moraine/codec";
import { describe, expect, it } from "vitest";
import { failureOf } from "./support/errors.js";
import { Lake } from "./support/lake.js";

/** What callers from JavaScript may write, and the compiler would refuse. */
type Anything = { readonly [name: string]: unknown };

interface Fixture {
  readonly lake: Lake;
  readonly table: TableId;
  readonly index: IndexId;
}

/** A table `t(a BIGINT, b DATE)` with an index over both columns. */
async function openIndexed(): Promise<Fixture> {
  const lake = await Lake.open();
  const table = await lake.table("t", { a: "BIGINT", b: "DATE" });
  return { lake, table, index: await lake.index(table, ["a", "b"]) };
}

function expectRefusal(failure: MoraineError, code: string, message: string): void {
  expect({ code: failure.code, message: failure.message }).toEqual({
    code,
    message: expect.stringContaining(message) as string,
  });
}

/** No error may hold an indexed value. */
const secret = "s3cret";

describe("reads", () => {
  const reads: readonly (readonly [string, Anything, string])[] = [
    ["indexLookup", { key: [secret, "2020-01-01"] }, "key[0] is no value of type BIGINT"],
    ["indexLookup", { key: [1n, secret] }, "key[1] is no value of type DATE"],
    ["indexLookup", { key: [undefined, "2020-01-01"] }, "key[0] is undefined"],
    ["indexLookupMany", { keys: [[1n, undefined]] }, "keys[0][1] is undefined"],
    ["indexLookupMany", { keys: new Array(2) }, "keys[0] is no array"],
    ["indexLookup", { key: new Array(2) }, "key[0] is undefined"],
    ["indexRange", { lower: { values: [undefined] } }, "lower.values[0] is undefined"],
    ["indexNulls", { prefix: [undefined] }, "prefix[0] is undefined"],
    ["indexLookup", { key: [1n] }, "key has 1 values, and the index 2 columns"],
    ["indexLookup", { key: [1n, "2020-01-01", 1n] }, "key has 3 values, and the index 2 columns"],
    ["indexLookup", { key: [1n, null] }, "key[1] is NULL"],
    ["indexLookupMany", { keys: [[1n, "2020-01-01"], [1n]] }, "keys[1] has 1 values, and the index 2 columns"],
    ["indexRange", { lower: { values: [] } }, "lower.values is empty"],
    ["indexRange", { upper: { values: [1n, null] } }, "upper.values[1] is NULL"],
    ["indexRange", { upper: { values: [1n, "2020-01-01", 2n] } }, "upper.values has 3 values, and the index 2 columns"],
    ["indexNulls", { prefix: [] }, "prefix holds no null"],
    ["indexNulls", { prefix: [1n] }, "prefix holds no null"],
    ["indexNulls", { prefix: [1n, null, null] }, "prefix has 3 values, and the index 2 columns"],
    ["indexLookup", { keys: [] }, 'unknown option "keys" in arguments'],
    ["indexLookupMany", { keys: [[1n, "2020-01-01"], [secret]] }, "keys[1][0] is no value of type BIGINT"],
    ["indexLookupMany", { keys: [[1n, "2020-01-01"], secret] }, "keys[1] is no array"],
    ["indexLookupMany", { keys: secret }, "keys must be an array"],
    ["indexLookupMany", { key: [1n], keys: [] }, 'unknown option "key" in arguments'],
    ["indexRange", { lower: { values: [1n, secret] } }, "lower.values[1] is no value of type DATE"],
    ["indexRange", { upper: { values: [secret] } }, "upper.values[0] is no value of type BIGINT"],
    ["indexRange", { lower: { values: secret } }, "lower.values is no array"],
    ["indexRange", { lower: { values: [1n], inclusiv: false } }, 'unknown option "inclusiv" in lower'],
    ["indexRange", { lower: { values: [1n], inclusive: 7 } }, "lower.inclusive must be a boolean"],
    ["indexRange", { upper: { values: [1n], inclusive: null } }, "upper.inclusive must be a boolean"],
    ["indexRange", { upper: [1n] }, "upper must be an object"],
    ["indexRange", { lowr: { values: [1n] } }, 'unknown option "lowr" in arguments'],
    ["indexRange", { reverse: "yes" }, "reverse must be a boolean"],
    ["indexNulls", { prefix: [secret, null] }, "prefix[0] is no value of type BIGINT"],
    ["indexNulls", { prefix: [null], reverse: 1 }, "reverse must be a boolean"],
    ["indexNulls", { prefix: [null], first: 1 }, 'unknown option "first" in arguments'],
  ];

  it.each(reads)("%s(%o) is refused with the place of the mistake", async (name, args, message) => {
    const { lake, index } = await openIndexed();
    using scope = await lake.catalog.reads();
    for (const reader of [lake.catalog, scope] as unknown as {
      [read: string]: (given: unknown) => Promise<unknown>;
    }[]) {
      const failure = await failureOf(async () => await reader[name]?.({ index, ...args }));
      expectRefusal(failure, "invalid_argument", message);
      expect(failure.message + failure.remedy).not.toContain(secret);
    }
  });

  it("of ranges in an index of both directions name both bounds", async () => {
    const { lake, table } = await openIndexed();
    const index = await lake.index(table, ["a", "b"], { name: "both", orders: [{}, { direction: "desc" }] });
    const args = { index, lower: { values: [1n, "2020-01-01"] }, upper: { values: [2n, "2020-01-01"] } };
    expectRefusal(await failureOf(lake.catalog.indexRange(args)), "invalid_argument", "lower and upper differ");
  });

  it("name the options that they know", async () => {
    const { lake, index } = await openIndexed();
    const failure = await failureOf(lake.catalog.indexRange({ index, lowr: undefined } as never));
    expect(failure.remedy).toBe("Pass nothing but index, at, lower, upper, reverse, limit.");
  });

  const others: readonly (readonly [string, Anything, string])[] = [
    ["recentRows", { limit: 1 }, 'unknown option "limit" in arguments'],
    ["recentRow", { rowId: 0n, at: 1n }, 'unknown option "at" in arguments'],
    ["scanInline", { scan: { kind: "table", at: 1n }, at: 1n }, 'unknown option "at" in arguments'],
    ["scanInline", { scan: { kind: "table", at: 1n, start: 0n } }, 'unknown option "start" in scan'],
    ["scanInline", { scan: { kind: "deletions", at: 1n, start: 0n, end: 1n } }, 'unknown option "end" in scan'],
    ["deletedFileRows", { file: 1n }, 'unknown option "file" in arguments'],
    ["scopedFileIndexEntries", { entries: [] }, 'unknown option "entries" in arguments'],
    ["scopedBackfillEntries", { columns: [1n], index: 1n }, 'unknown option "index" in arguments'],
    ["inlineBackfillEntries", { columns: [1n], index: 1n }, 'unknown option "index" in arguments'],
    ["flushInlined", { throughSnapshot: 1n }, 'unknown option "throughSnapshot" in arguments'],
  ];

  it.each(others)("%s(%o) is refused", async (name, args, message) => {
    const { lake, table } = await openIndexed();
    const catalog = lake.catalog as unknown as { [read: string]: (given: unknown) => Promise<unknown> };
    const failure = await failureOf(async () => await catalog[name]?.({ table, ...args }));
    expectRefusal(failure, "invalid_argument", message);
  });
});

describe("options of the catalog's own work", () => {
  it.each([
    ["commit", [() => undefined, { autor: "x" }], 'unknown option "autor" in options'],
    ["commitGroup", [[], { autor: "x" }], 'unknown option "autor" in options'],
    ["maintain", [{ sweepIndices: false }], 'unknown option "sweepIndices" in options'],
    ["maintain", [{ sweepIndexes: 0 }], "options.sweepIndexes must be a boolean"],
    ["maintain", [{ sweepFileStatistics: null }], "options.sweepFileStatistics must be a boolean"],
    ["reclaimIndexEntries", [{ index: 1n, limit: 1, max: 1 }], 'unknown option "max" in arguments'],
    [
      "recordMaintenancePass",
      [{ startedAtMicros: 1n, trigger: "t", steps: [], ended: 1n }],
      'unknown option "ended" in pass',
    ],
    [
      "recordMaintenancePass",
      [{ startedAtMicros: 1n, trigger: "t", steps: [{ step: "s", status: "ran", detail: "", took: 1 }] }],
      'unknown option "took" in pass.steps[0]',
    ],
  ])("%s refuses what it does not know", async (name, args, message) => {
    const lake = await Lake.open();
    const catalog = lake.catalog as unknown as { [call: string]: (...given: readonly unknown[]) => Promise<unknown> };
    expectRefusal(await failureOf(async () => await catalog[name]?.(...args)), "invalid_argument", message);
  });
});

const emptyFile = { path: "f", recordCount: 0, fileSizeBytes: 0, footerSize: 0 };

describe("verbs that the engine completes", () => {
  it.each([
    ["createIndex", { name: "j", columns: ["a"], uniqe: true }, 'unknown option "uniqe" in arguments'],
    ["createIndex", { name: "j", columns: ["a"], state: "building" }, 'unknown option "state" in arguments'],
    ["registerDataFile", { file: {}, entires: [] }, 'unknown option "entires" in arguments'],
    [
      "createIndex",
      { name: "j", columns: ["a"], backfillSnapshot: 3n },
      "backfillSnapshot says when a backfill was read",
    ],
    ["createIndex", { name: "j", columns: ["a"], backfill: [], backfillSnapshot: 3 }, "backfillSnapshot must be an id"],
    ["registerDataFile", { file: emptyFile, entries: null }, 'entries is neither a list nor "scoped-read"'],
    ["expireDataFile", { file: 0n, entries: [] }, 'unknown option "entries" in arguments'],
    ["registerDeleteFile", { file: {}, entries: [] }, 'unknown option "entries" in arguments'],
    ["expireDeleteFile", { file: 0n, removals: [] }, 'unknown option "removals" in arguments'],
    ["expireDeleteFile", { file: 0n, entries: [] }, 'entries must be one of "scoped-read"'],
    ["inlineInsert", { rows: [], schemaVersion: 1n }, 'unknown option "schemaVersion" in arguments'],
    [
      "inlineInsert",
      { rows: { schemaVersion: 1n, arrowSchema: new Uint8Array(), arrowBody: new Uint8Array(), rowCount: 1, rows: 1 } },
      'unknown option "rows" in rows',
    ],
    ["inlineDelete", { rowId: 0n, row: 0n }, 'unknown option "row" in arguments'],
    ["flushInlinedData", { schemaVersion: 1n, files: [], through: 1n }, 'unknown option "through" in arguments'],
    ["flushInlinedData", { schemaVersion: 1n, files: [{ path: "f" }] }, 'unknown option "path" in files[0]'],
    [
      "flushInlinedData",
      { schemaVersion: 1n, files: [{ file: { rows: 1 }, rowIdStart: 0n, beginSnapshot: 1n }] },
      'unknown option "rows" in files[0].file',
    ],
  ])("%s(%o) is refused", async (name, args, message) => {
    const { lake, table } = await openIndexed();
    await lake.commit(async (tx) => {
      const verbs = tx as unknown as { [verb: string]: (given: unknown) => unknown };
      const failure = await failureOf(async () => verbs[name]?.({ table, ...args }));
      expectRefusal(failure, "invalid_argument", message);
    });
  });
});

describe("entries that a caller supplies", () => {
  const rows = [
    { a: 1n, b: null },
    { a: 2n, b: null },
  ];

  it.each([
    [[1n, secret], "invalid_argument", "entries[1].values[1] is no value of type DATE"],
    [[1n], "invalid_argument", "entries[1].values has another number of values"],
    [secret, "invalid_argument", "entries[1].values has another number of values"],
  ] as const)("of a file: %o is refused with its place", async (values, code, message) => {
    const { lake, table, index } = await openIndexed();
    const entries = [
      { index, ordinal: 0, values: [1n, null] },
      { index, ordinal: 1, values },
    ];
    const failure = await failureOf(lake.register(table, rows, entries as never));
    expectRefusal(failure, code, message);
    expect(failure.message + failure.remedy).not.toContain(secret);
  });

  it("are counted over all indexes, as the caller numbered them", async () => {
    const { lake, table, index } = await openIndexed();
    const other = await lake.index(table, ["b"]);
    const entries = rows.flatMap(({ a }, ordinal) => [
      { index, ordinal, values: [a, null] },
      { index: other, ordinal, values: [ordinal === 1 ? secret : null] },
    ]);
    const failure = await failureOf(lake.register(table, rows, entries));
    expectRefusal(failure, "invalid_argument", "entries[3].values[0] is no value of type DATE");
  });

  it.each([
    [undefined, "entries[0].columns must be an array"],
    [5, "entries[0].columns must be an array"],
    [{ length: 2 }, "entries[0].columns must be an array"],
    [[null, null], "entries[0].columns[0] must be an object"],
    [[{ length: 2 }, 7], "entries[0].columns[1] must be an object"],
  ])("as vectors: %o is refused", async (columns, message) => {
    const { lake, table, index } = await openIndexed();
    const entries = [{ index, columns: columns as unknown as ColumnVector[] }];
    expectRefusal(await failureOf(lake.register(table, rows, entries)), "invalid_argument", message);
  });

  it("of rows that die are refused with their place", async () => {
    const { lake, table, index } = await openIndexed();
    const { dataFileId } = await lake.register(table, rows);
    const removals = [
      { index, rowId: 0n, values: [1n, null] },
      { index, rowId: 1n, values: [secret, null] },
    ];
    const failure = await failureOf(lake.deleteRows(table, dataFileId, [0, 1], removals));
    expectRefusal(failure, "invalid_argument", "removals[1].values[0] is no value of type BIGINT");
  });

  it("of a new index are refused with their place", async () => {
    const { lake, table } = await openIndexed();
    await lake.register(table, rows);
    const backfill = [
      { rowId: 0n, values: [null] },
      { rowId: 1n, values: [secret] },
    ];
    const failure = await failureOf(
      lake.commit((tx) => tx.createIndex({ table, name: "b", columns: ["b"], backfill })),
    );
    expectRefusal(failure, "invalid_argument", "backfill[1].values[0] is no value of type DATE");
  });
});
