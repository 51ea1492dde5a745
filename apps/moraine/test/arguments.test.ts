import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Catalog, mainSchema, MoraineError, type Transaction } from "moraine";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "moraine-arguments-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What callers from JavaScript pass by mistake. */
const junk: readonly unknown[] = [
  undefined,
  null,
  0,
  -1,
  1.5,
  Number.NaN,
  "",
  "text",
  true,
  [],
  {},
  () => 1,
  1n,
  -1n,
  2n ** 64n,
  Symbol("symbol"),
  new Date(Number.NaN),
  [null],
  [[null]],
  [Symbol("symbol")],
  { values: 1 },
  { values: [Symbol("symbol")] },
  { kind: "table" },
  Object.create(null),
];

const readProperties = "at index key keys limit lower prefix reverse rowId scan table trigger upper".split(" ");
const verbProperties = (
  "backfill column columns definition entries file files implementations index key keys macro maintenance name orders " +
  "removals rowId rows schema schemaVersion scope stats table target unique value view"
).split(" ");

type Call = (args: unknown) => unknown;

/** Every method of an object and of what it inherits, but those that end it. */
function methodsOf(object: object, except: readonly string[]): string[] {
  const names = new Set<string>();
  for (let part: unknown = object; part !== Object.prototype && part !== null; part = Object.getPrototypeOf(part)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(part as object))) {
      if (typeof value === "function" && name !== "constructor" && !except.includes(name)) names.add(name);
    }
  }
  return [...names].sort();
}

interface WrongCall {
  readonly args: unknown;
  readonly text: string;
}

/** Calls with junk as each property of arguments that are otherwise right. */
function spoilt(bases: readonly object[], properties: readonly string[]): WrongCall[] {
  return bases.flatMap((base) =>
    properties.flatMap((name) =>
      junk.map((value, at) => ({
        args: { ...base, [name]: value },
        text: `${Object.keys(base).join(",")} with ${name} = junk ${at}`,
      })),
    ),
  );
}

/** What calls threw that is no typed error, with the call. */
async function untyped(object: object, names: readonly string[], calls: readonly WrongCall[]): Promise<string[]> {
  const found: string[] = [];
  for (const name of names) {
    const method = (Reflect.get(object, name) as Call).bind(object);
    for (const { args, text } of calls) {
      try {
        await method(args);
      } catch (error) {
        if (!(error instanceof MoraineError)) found.push(`${name}: ${text}: ${String(error)}`);
      }
    }
  }
  return found;
}

describe("wrong arguments", async () => {
  const catalog = await Catalog.open({ store: "memory://arguments", dataPath: join(folder, "data") });
  const { value } = await catalog.commit((tx) => {
    const table = tx.createTable({ schema: mainSchema, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] });
    const index = tx.createIndex({ table, name: "i", columns: ["k"], unique: true });
    tx.inlineInsert({ table, rows: [{ k: 1 }, { k: 2 }] });
    return { table, index };
  });
  const { table, index } = value;
  const bases = [
    { index, key: [1] },
    { index, keys: [[1]] },
    { index, lower: { values: [1] } },
    { index, prefix: [null] },
    { table, rowId: 0n },
  ];
  const bare = junk.map((args, at) => ({ args, text: `junk ${at}` }));
  const ends = ["close", "release", "end"];

  it("of reads are typed errors", async () => {
    await using reader = await Catalog.openReadOnly({ store: "memory://arguments" });
    const scope = await catalog.reads();
    for (const handle of [catalog, reader, scope]) {
      const names = methodsOf(handle, [...ends, "reads", "commit", "commitGroup", "flushInlined"]);
      expect(names.length).toBeGreaterThan(6);
      expect(await untyped(handle, names, [...bare, ...spoilt(bases, readProperties)])).toEqual([]);
    }
    scope.release();
  });

  it("of verbs are typed errors, and leave nothing behind", async () => {
    const before = await catalog.snapshot();
    const undone = new Error("undone");
    await catalog
      .commit(async (tx: Transaction) => {
        // Of connected handles among themselves, and in no type of the contract.
        const internal = ["takeUuids", "insertChunks"];
        const verbs = methodsOf(tx, [...ends, ...internal]).filter((name) => !(name in before));
        expect(verbs.length).toBeGreaterThan(30);
        const verbBases = [
          { table },
          { table, name: "x", columns: ["k"] },
          { schema: mainSchema, name: "x" },
          { table, rows: [{ k: 3 }] },
        ];
        expect(await untyped(tx, verbs, [...bare, ...spoilt(verbBases, verbProperties)])).toEqual([]);
        throw undone;
      })
      .catch((error: unknown) => expect(error).toBe(undone));
    const after = await catalog.snapshot();
    expect(after.currentSnapshot).toEqual(before.currentSnapshot);
    expect(await catalog.recentRows({ table })).toHaveLength(2);
    await catalog.close();
  });
});
