import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { ColumnVector, IndexId, TableId } from "@moraine/codec";
import { UniquenessFilters } from "@moraine/index-core";
import type { WritableStore } from "@moraine/store";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { CommitClosure, CommitEvent, FileEntries, PlainRow } from "../src/index.js";
import { failureOf, outcomeOf } from "./support/errors.js";
import { Gate, turnOfTheLoop } from "./support/gate.js";
import { indexEntriesIn } from "./support/hooked-store.js";
import { Lake } from "./support/lake.js";

// A commit of eight entries is large here. No commits that share a batch here ask for more than three keys together, and a
// large one asks for eight of its first index, then for five of its second.
const largeEntries = 8;
const fewestKeysOfLarge = 5;
vi.mock("../src/engine/limits.js", async (original) => ({
  ...(await original<object>()),
  largeCommitEntries: 8,
  derivedEntriesPerTurn: 3,
  commitsReadAhead: 2,
  exclusiveAttemptMs: 60_000,
}));

// Reading ahead is what this is about: no filter of known keys spares the reads.
vi.mock("../src/engine/index-filters.js", () => ({
  openFilters: (store: WritableStore) => new UniquenessFilters({ store, rowsOf: () => undefined }),
}));

const columns = { k: "BIGINT", n: "BIGINT", g: "BIGINT" };

/** Rows whose `k` counts up from `first`, with NULLs in `n`. */
function rowsFrom(first: number, count = largeEntries): PlainRow[] {
  return Array.from({ length: count }, (_, i) => ({
    k: BigInt(first + i),
    n: i % 3 === 0 ? null : BigInt(first + i),
    g: BigInt(i % 2),
  }));
}

interface Tables {
  readonly lake: Lake;
  readonly table: TableId;
  readonly other: TableId;
  readonly byK: IndexId;
}

async function openTables(): Promise<Tables> {
  const lake = await Lake.open();
  const table = await lake.table("large", columns);
  const other = await lake.table("other", columns);
  const byK = await lake.index(table, ["k"], { unique: true });
  await lake.index(table, ["n"], { unique: true });
  await lake.index(table, ["g", "k"]);
  await lake.index(other, ["k"], { unique: true, name: "other_k" });
  // The first insert records the schema of inline rows, which is read.
  for (const into of [table, other]) await lake.insert(into, { k: -1n, n: -1n, g: 0n });
  return { lake, table, other, byK };
}

/** Lets the keys of a large commit be read up to a window, where they wait for the gate. */
function gateAtWindow(lake: Lake, window: number): Gate {
  const gate = new Gate();
  let windows = 0;
  lake.store.hooks.beforeGet = async (keyCount) => {
    if (keyCount >= fewestKeysOfLarge && ++windows === window) await gate.pass();
  };
  return gate;
}

function vectorOf(rows: readonly PlainRow[], name: string): ColumnVector {
  const values = BigInt64Array.from(rows, (row) => (row[name] as bigint | null) ?? 0n);
  const validity = Uint8Array.from(rows, (row) => (row[name] === null ? 0 : 1));
  return { type: "int64", length: rows.length, validity, values, offsets: null };
}

/** Each way in which many entries come to a commit. Rows and entries are made once, and the closure counts its runs. */
const forms: Readonly<
  Record<string, (tables: Tables, rows: readonly PlainRow[], ran: () => void) => Promise<CommitClosure<unknown>>>
> = {
  "inline rows": ({ table }, rows, ran) =>
    Promise.resolve((tx) => {
      ran();
      return tx.inlineInsert({ table, rows });
    }),
  "inline rows that are made anew in each run": ({ table }, rows, ran) =>
    Promise.resolve((tx) => {
      ran();
      return tx.inlineInsert({ table, rows: rows.map((row) => ({ ...row })) });
    }),
  "a file with vectors": async ({ lake, table }, rows, ran) => {
    const file = await lake.writeFile(table, rows);
    const [k, n, g] = ["k", "n", "g"].map((name) => vectorOf(rows, name));
    return (tx) => {
      ran();
      const [byK, byN, byG] = tx.indexesOf(table);
      const entries = [
        { index: byK!.id, columns: [k!] },
        { index: byN!.id, columns: [n!] },
        { index: byG!.id, columns: [g!, k!] },
      ];
      return tx.registerDataFile({ table, file, entries });
    };
  },
  "a file with an entry for each row": async ({ lake, table }, rows, ran) => {
    const file = await lake.writeFile(table, rows);
    const snapshot = await lake.catalog.snapshot();
    const [byK, byN, byG] = snapshot.indexesOf(table);
    const entries = rows.flatMap(({ k, n, g }, ordinal) => [
      { index: byK!.id, ordinal, values: [k] },
      { index: byN!.id, ordinal, values: [n] },
      { index: byG!.id, ordinal, values: [g, k] },
    ]);
    return (tx) => {
      ran();
      return tx.registerDataFile({ table, file, entries });
    };
  },
  "a file that is read": async ({ lake, table }, rows, ran) => {
    const file = await lake.writeFile(table, rows);
    return (tx) => {
      ran();
      return tx.registerDataFile({ table, file, entries: "scoped-read" });
    };
  },
};

describe.each(Object.entries(forms))("a large commit of %s", (name, form) => {
  it("lets small ones land while its keys are read, and lands with the row ids of its last run", async () => {
    const tables = await openTables();
    const { lake, table, other, byK } = tables;
    let runs = 0;
    const closure = await form(tables, rowsFrom(100), () => (runs += 1));
    const gate = gateAtWindow(lake, 2);
    const large = lake.commit(closure);
    await gate.reached;
    for (let i = 0; i < 5; i++) {
      await lake.insert(table, { k: BigInt(i), n: BigInt(i), g: 0n });
      await lake.insert(other, { k: BigInt(i), n: null, g: 0n });
    }
    await lake.delete(table, 1n);
    expect(await lake.lookup(byK, 100n)).toEqual([]);
    gate.open();
    await large;
    expect(await lake.lookup(byK, 100n)).toEqual([6n]);
    expect(runs).toBeGreaterThan(1);
    await lake.expectVerified(table);
    await lake.expectVerified(other);
  });

  it("is refused for a value that was taken after it had been read as free", async () => {
    const tables = await openTables();
    const { lake, table, byK } = tables;
    const closure = await form(tables, rowsFrom(100), () => undefined);
    const gate = gateAtWindow(lake, 2);
    const large = failureOf(lake.commit(closure));
    await gate.reached;
    await lake.insert(table, { k: 100n, n: null, g: 0n });
    gate.open();
    const failure = await large;
    expect([failure.code, failure.message]).toEqual(["constraint", expect.stringContaining("that row 1 holds")]);
    expect(await lake.lookup(byK, 100n)).toEqual([1n]);
    expect(await lake.lookup(byK, 101n)).toEqual([]);
    await lake.expectVerified(table);
  });

  it("lands on a value that was freed after it had been read as taken", async () => {
    const tables = await openTables();
    const { lake, table, byK } = tables;
    const held = await lake.insert(table, { k: 100n, n: null, g: 0n });
    const closure = await form(tables, rowsFrom(100), () => undefined);
    const gate = gateAtWindow(lake, 2);
    const large = lake.commit(closure);
    await gate.reached;
    await lake.delete(table, held);
    gate.open();
    await large;
    expect(await lake.lookup(byK, 100n)).toEqual([2n]);
    await lake.expectVerified(table);
  });

  it("lands after a few runs of its closure under a stream of small ones that never ends", async () => {
    const tables = await openTables();
    const { lake, table, other } = tables;
    let runs = 0;
    const closure = await form(tables, rowsFrom(1000), () => (runs += 1));
    let landed = false;
    let small = 0;
    const stream = async (into: TableId, first: number): Promise<void> => {
      for (let i = 0; !landed; i++, small++) await lake.insert(into, { k: BigInt(first + i), n: null, g: 0n });
    };
    const streams = [stream(table, 10_000), stream(table, 20_000), stream(other, 0)];
    // Each window of its keys lets some of them land first.
    lake.store.hooks.beforeGet = async (keyCount) => {
      const before = small;
      if (keyCount >= fewestKeysOfLarge) while (small < before + 3) await turnOfTheLoop(1);
    };
    await lake.commit(closure);
    landed = true;
    await Promise.all(streams);
    expect(small).toBeGreaterThan(9);
    expect(runs).toBeLessThanOrEqual(3);
    await lake.expectVerified(table);
  });

  it("is waited for when the catalog is closed right after", async () => {
    const tables = await openTables();
    const closure = await form(tables, rowsFrom(100), () => undefined);
    const large = outcomeOf(tables.lake.commit(closure));
    await tables.lake.catalog.close();
    // A data file may take for ever to read: nobody waits for that.
    if (name !== "a file that is read") expect(await large).toBe("landed");
    else expect(["landed", "closed"]).toContain(await large);
  });
});

describe("a large commit whose closure fills the same arrays anew in each run", () => {
  const filled: readonly (readonly [
    string,
    (tables: Tables, first: () => number) => Promise<CommitClosure<unknown>>,
  ])[] = [
    [
      "rows",
      ({ table }, first) => {
        const rows: PlainRow[] = [];
        return Promise.resolve((tx) => {
          rows.splice(0, rows.length, ...rowsFrom(first()));
          return tx.inlineInsert({ table, rows });
        });
      },
    ],
    [
      "vectors",
      async ({ lake, table }, first) => {
        const file = await lake.writeFile(table, rowsFrom(200));
        const vectors = ["k", "n", "g"].map((column) => vectorOf(rowsFrom(0), column));
        return (tx) => {
          const rows = rowsFrom(first());
          vectors.forEach(({ values }, i) => {
            (values as BigInt64Array).set(vectorOf(rows, ["k", "n", "g"][i]!).values as BigInt64Array);
          });
          const [byK, byN, byG] = tx.indexesOf(table);
          const [k, n, g] = vectors;
          const entries = [
            { index: byK!.id, columns: [k!] },
            { index: byN!.id, columns: [n!] },
            { index: byG!.id, columns: [g!, k!] },
          ];
          return tx.registerDataFile({ table, file, entries });
        };
      },
    ],
    [
      "entries",
      async ({ lake, table }, first) => {
        const file = await lake.writeFile(table, rowsFrom(200));
        const entries: Exclude<FileEntries, "scoped-read">[number][] = [];
        return (tx) => {
          const [byK, byN, byG] = tx.indexesOf(table);
          entries.length = 0;
          rowsFrom(first()).forEach(({ k, n, g }, ordinal) => {
            entries.push({ index: byK!.id, ordinal, values: [k] });
            entries.push({ index: byN!.id, ordinal, values: [n] });
            entries.push({ index: byG!.id, ordinal, values: [g, k] });
          });
          return tx.registerDataFile({ table, file, entries: entries as FileEntries });
        };
      },
    ],
  ];

  it.each(filled)("lands with what its last run gave: %s", async (_, form) => {
    const tables = await openTables();
    const { lake, table, other, byK } = tables;
    let runs = 0;
    // The file of each form holds the rows of the second run and later ones.
    const closure = await form(tables, () => (++runs === 1 ? 100 : 200));
    const gate = gateAtWindow(lake, 2);
    const large = lake.commit(closure);
    await gate.reached;
    await lake.insert(other, { k: 1n, n: null, g: 0n });
    gate.open();
    await large;
    expect(runs).toBeGreaterThan(1);
    expect(await lake.lookup(byK, 100n)).toEqual([]);
    expect(await lake.lookup(byK, 200n)).toEqual([1n]);
    await lake.expectVerified(table);
  });
});

describe("batches with large commits", () => {
  /** The writes of the catalog wait for the gate, once, from now on. */
  function gateAtWrite(lake: Lake): Gate {
    const gate = new Gate();
    let passed = false;
    lake.store.hooks.write = async (next) => {
      if (!passed) {
        passed = true;
        await gate.pass();
      }
      return await next();
    };
    return gate;
  }

  const sizesOf = (lake: Lake, from: number): number[] =>
    lake.store.batches.slice(from).map((batch) => indexEntriesIn(batch).length);

  it("begin with them: those before need not wait for a large write, those after share it", async () => {
    const { lake, table, other } = await openTables();
    const gate = gateAtWrite(lake);
    const from = lake.store.batches.length;
    const commits: Promise<unknown>[] = [lake.insert(other, { k: 1n, n: null, g: 0n })];
    await gate.reached;
    commits.push(lake.insert(other, { k: 2n, n: null, g: 0n }));
    const rows = rowsFrom(100);
    commits.push(lake.commit((tx) => tx.inlineInsert({ table, rows })));
    await turnOfTheLoop(50);
    commits.push(lake.insert(other, { k: 3n, n: null, g: 0n }));
    await turnOfTheLoop(5);
    gate.open();
    await Promise.all(commits);
    expect(sizesOf(lake, from)).toEqual([1, 1, 3 * largeEntries + 1]);
    await lake.expectVerified(table);
  });

  it("leave room between two of them for the small ones that came during the first", async () => {
    const { lake, table, other } = await openTables();
    const gate = gateAtWrite(lake);
    const from = lake.store.batches.length;
    const large = [rowsFrom(100), rowsFrom(200)].map((rows) => lake.commit((tx) => tx.inlineInsert({ table, rows })));
    await gate.reached;
    await turnOfTheLoop(50);
    const small = lake.insert(other, { k: 1n, n: null, g: 0n });
    await turnOfTheLoop(5);
    gate.open();
    await Promise.all([...large, small]);
    expect(sizesOf(lake, from)).toEqual([3 * largeEntries, 1, 3 * largeEntries]);
    await lake.expectVerified(table);
  });

  it("leave that room before one whose size shows in its turn", async () => {
    const { lake, table, other } = await openTables();
    // Three rows in three indexes that are not unique: nine entries, which are made at once and need no key to be read.
    const counted = await lake.table("counted", columns);
    for (const indexed of [["k"], ["n"], ["g"]]) await lake.index(counted, indexed);
    await lake.insert(counted, { k: -1n, n: -1n, g: 0n });
    const gate = gateAtWrite(lake);
    const from = lake.store.batches.length;
    const rows = rowsFrom(100);
    const large = lake.commit((tx) => tx.inlineInsert({ table, rows }));
    await gate.reached;
    const inTurn = lake.insert(counted, ...rowsFrom(200, 3));
    const small = lake.insert(other, { k: 1n, n: null, g: 0n });
    await turnOfTheLoop(5);
    gate.open();
    await Promise.all([large, inTurn, small]);
    expect(sizesOf(lake, from)).toEqual([3 * largeEntries, 1, 9]);
    await lake.expectVerified(counted);
  });

  it("come to all of many large ones, a few of which are read at a time, and to none that is cancelled", async () => {
    const { lake, table, byK } = await openTables();
    const gate = gateAtWindow(lake, 1);
    const cancelled = new AbortController();
    const commits = Array.from({ length: 8 }, async (_, i) => {
      const rows = rowsFrom(100 * i);
      const options = i < 4 ? { signal: cancelled.signal } : {};
      return await outcomeOf(lake.catalog.commit((tx) => tx.inlineInsert({ table, rows }), options));
    });
    await gate.reached;
    cancelled.abort();
    gate.open();
    expect(await Promise.all(commits)).toEqual([
      ...Array.from({ length: 4 }, () => "interrupted"),
      ...Array.from({ length: 4 }, () => "landed"),
    ]);
    expect(await lake.lookup(byK, 300n)).toEqual([]);
    expect((await lake.lookup(byK, 700n)).length).toBe(1);
    await lake.expectVerified(table);
  });

  it("begin with one whose keys were read ahead, too, when all before it is cancelled: they are not read again", async () => {
    const { lake, table, other } = await openTables();
    const events: CommitEvent[] = [];
    const note = (event: unknown): number => events.push(event as CommitEvent);
    subscribe("moraine:commit", note);
    onTestFinished(() => void unsubscribe("moraine:commit", note));
    const gate = new Gate();
    const asked: number[] = [];
    lake.store.hooks.beforeGet = async (keyCount) => {
      asked.push(keyCount);
      if (keyCount === 1) await gate.pass();
    };
    const from = lake.store.batches.length;
    const cancelled = new AbortController();
    const small = outcomeOf(
      lake.catalog.commit((tx) => tx.inlineInsert({ table: other, rows: [{ k: 1n }] }), { signal: cancelled.signal }),
    );
    await gate.reached;
    const rows = rowsFrom(100);
    const large = lake.commit((tx) => tx.inlineInsert({ table, rows }));
    await turnOfTheLoop(50);
    cancelled.abort();
    gate.open();
    await large;
    expect(await small).toBe("interrupted");
    expect(asked).toEqual([1, largeEntries, fewestKeysOfLarge]);
    expect(sizesOf(lake, from)).toEqual([3 * largeEntries]);
    expect(events).toMatchObject([
      { commits: 1, refused: 1, probes: 1 + largeEntries + fewestKeysOfLarge, entriesPut: 3 * largeEntries },
    ]);
    await lake.expectVerified(table);
  });

  it("hold them after one before them was refused, which had them run again", async () => {
    const { lake, table, other, byK } = await openTables();
    const gate = gateAtWrite(lake);
    const first = lake.insert(other, { k: 1n, n: null, g: 0n });
    await gate.reached;
    const refused = outcomeOf(lake.insert(table, { k: -1n, n: null, g: 0n }));
    const rows = rowsFrom(100);
    const large = lake.commit((tx) => tx.inlineInsert({ table, rows }));
    await turnOfTheLoop(50);
    const after = lake.insert(table, { k: 1n, n: null, g: 0n });
    gate.open();
    expect(await refused).toBe("constraint");
    await Promise.all([first, large, after]);
    expect(await lake.lookup(byK, 100n)).toEqual([1n]);
    expect(await lake.lookup(byK, 1n)).toEqual([9n]);
    await lake.expectVerified(table);
  });
});

describe("a large commit whose closure waits", () => {
  it("loses to a commit that touched the same, and to no other, however many land while its keys are read", async () => {
    const { lake, table, other } = await openTables();
    const attempt = async (meanwhile: () => Promise<unknown>): Promise<string> => {
      const rows = rowsFrom(100);
      const gate = gateAtWindow(lake, 2);
      const large = outcomeOf(
        lake.commit(async (tx) => {
          await turnOfTheLoop();
          return tx.inlineInsert({ table, rows });
        }),
      );
      await gate.reached;
      await meanwhile();
      gate.open();
      return await large;
    };
    expect(await attempt(() => lake.delete(table, 0n))).toBe("commit_conflict");
    const many = async (): Promise<void> => {
      for (let i = 0; i < 40; i++) {
        await Promise.all(
          Array.from({ length: 64 }, (_, j) => lake.insert(other, { k: BigInt(64 * i + j), n: null, g: 0n })),
        );
      }
    };
    expect(await attempt(many)).toBe("landed");
    await lake.expectVerified(table);
  });
});
