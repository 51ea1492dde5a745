import { getEventListeners } from "node:events";
import { changelogKey, type MoraineError, type SnapshotId, sysHeadKey, type TableId } from "@moraine/codec";
import { getOne } from "@moraine/store";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CommitClosure } from "../src/index.js";
import { catalogText } from "./support/catalog-text.js";
import { failureOf, outcomeOf } from "./support/errors.js";
import { Gate, turnOfTheLoop } from "./support/gate.js";
import { hex } from "./support/hooked-store.js";
import { Lake, main } from "./support/lake.js";

const createSchemas = (...names: string[]): CommitClosure<bigint>[] =>
  names.map((name) => (tx) => tx.createSchema({ name }));

describe("an explicit group", () => {
  it("costs one durable write, where separate commits cost one each", async () => {
    const lake = await Lake.open();
    const before = lake.store.writes;
    for (const name of ["a", "b", "c"]) await lake.commit((tx) => tx.createSchema({ name }));
    expect(lake.store.writes - before).toBe(3);
    await lake.catalog.commitGroup(createSchemas("d", "e", "f"));
    expect(lake.store.writes - before).toBe(4);
    expect((await lake.catalog.snapshot()).schemas().length).toBe(7);
  });

  it("gives its members consecutive snapshots in their order, each on the state that the one before it left", async () => {
    const lake = await Lake.open();
    const results = await lake.catalog.commitGroup<unknown>([
      (tx) => tx.createTable({ schema: main, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] }),
      (tx) => tx.inlineInsert({ table: tx.tableByName(main, "t")!.id, rows: [{ k: 1n }, { k: 2n }] }),
      (tx) => {
        const table = tx.tableByName(main, "t")!.id;
        tx.inlineDelete({ table, rowId: 0n });
        return tx.createIndex({ table, name: "t_k", columns: ["k"], unique: true });
      },
      (tx) => tx.inlineInsert({ table: tx.tableByName(main, "t")!.id, rows: [{ k: 1n }] }),
    ]);
    const head = await lake.head();
    expect(results.map(({ snapshotId }) => snapshotId)).toEqual([head - 3n, head - 2n, head - 1n, head]);
    expect(results.map(({ value }) => value)).toEqual([1n, 0n, 2n, 2n]);
    expect(await lake.lookup(2n as never, 1n)).toEqual([2n]);
    await lake.expectVerified(1n as never);
    // Each member can be travelled to.
    const at = async (snapshotId: bigint): Promise<unknown[]> => {
      const snapshot = await lake.catalog.snapshotAt(snapshotId as never);
      const rows = await lake.catalog.recentRows({ table: 1n as never, at: snapshotId as never });
      return [
        snapshot.tablesIn(main).length,
        snapshot.indexesOf(1n as never).length,
        rows.map(({ values }) => values["k"]),
      ];
    };
    expect(await at(head - 4n)).toEqual([0, 0, []]);
    expect(await at(head - 3n)).toEqual([1, 0, []]);
    expect(await at(head - 2n)).toEqual([1, 0, [1n, 2n]]);
    expect(await at(head - 1n)).toEqual([1, 1, [2n]]);
    expect(await at(head)).toEqual([1, 1, [2n, 1n]]);
  });

  it("lets a member delete a row that the member before it has moved to a file", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const index = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n }, { k: 2n }, { k: 3n });
    await lake.delete(table, 2n);
    const [begin, read] = [(await lake.head()) - 1n, (await lake.head()) as SnapshotId];
    const file = await lake.writeFile(table, [{ k: 1n }, { k: 2n }]);
    await lake.catalog.commitGroup<unknown>([
      (tx) =>
        tx.flushInlinedData({
          table,
          schemaVersion: 2n,
          throughSnapshot: read,
          files: [{ file, rowIdStart: 0n, beginSnapshot: begin }],
        }),
      (tx) => tx.inlineDelete({ table, rowId: 0n }),
      (tx) => tx.inlineInsert({ table, rows: [{ k: 1n }] }),
    ]);
    expect(await lake.catalog.indexRange({ index })).toEqual([3n, 1n]);
    await lake.expectVerified(table);
  });

  it("mints nothing for a member that stages nothing, and no snapshot for one of options only", async () => {
    const lake = await Lake.open();
    const head = await lake.head();
    using before = await lake.catalog.reads();
    const results = await lake.catalog.commitGroup<unknown>([
      (tx) => tx.schemas().length,
      (tx) => tx.createSchema({ name: "a" }),
      (tx) => tx.schemas().length,
      (tx) => tx.setOption({ scope: "global", key: "k", value: "v" }),
      (tx) => tx.createSchema({ name: "b" }),
    ]);
    expect(results.map(({ snapshotId }) => snapshotId - head)).toEqual([0n, 1n, 1n, 1n, 2n]);
    expect([results[0]!.value, results[2]!.value]).toEqual([1, 2]);
    using after = await lake.catalog.reads();
    // One step of the head's batch number for each member that wrote, and one head record for all of them.
    expect(after.revision - before.revision).toBe(3n);
    expect(lake.store.batches.at(-1)!.filter(({ key }) => key === hex(sysHeadKey)).length).toBe(1);
    expect(await getOne(lake.store.inner, changelogKey(head + 1n))).toBeDefined();
    expect(await getOne(lake.store.inner, changelogKey(head + 2n))).toBeDefined();
    expect(await getOne(lake.store.inner, changelogKey(head + 3n))).toBeUndefined();
  });

  it("that is empty commits nothing, and one of a single member is an ordinary commit", async () => {
    const lake = await Lake.open();
    const before = lake.store.writes;
    expect(await lake.catalog.commitGroup([])).toEqual([]);
    expect(lake.store.writes).toBe(before);
    expect(await lake.catalog.commitGroup(createSchemas("a"))).toEqual([
      { snapshotId: (await lake.head()) as never, value: 1n },
    ]);
    expect(lake.store.writes).toBe(before + 1);
  });

  it.each([0, 1, 2])("lands whole or not at all: member %i fails", async (position) => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n });
    const before = await catalogText(lake.catalog);
    const writes = lake.store.writes;
    const fails: readonly (readonly [string, CommitClosure<unknown>])[] = [
      [
        "already_exists",
        (tx) => tx.createTable({ schema: main, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] }),
      ],
      ["constraint", (tx) => tx.inlineInsert({ table, rows: [{ k: 1n }] })],
      ["not_found", (tx) => tx.inlineDelete({ table, rowId: 0n })],
    ];
    for (const [code, failing] of fails) {
      const members: CommitClosure<unknown>[] = [
        (tx) => tx.createSchema({ name: "a" }),
        (tx) => tx.inlineInsert({ table, rows: [{ k: 5n }] }),
        (tx) => tx.inlineInsert({ table, rows: [{ k: 6n }] }),
      ];
      if (code === "not_found") members.unshift((tx) => tx.inlineDelete({ table, rowId: 0n }));
      members.splice(code === "not_found" ? position + 1 : position, 0, failing);
      expect((await failureOf(lake.catalog.commitGroup(members))).code).toBe(code);
    }
    // A value that an earlier member of the same group added counts as taken, too.
    const twice: CommitClosure<unknown>[] = [7n, 8n, 7n].map((k) => (tx) => tx.inlineInsert({ table, rows: [{ k }] }));
    expect((await failureOf(lake.catalog.commitGroup(twice))).message).toContain(
      "row 3 claims a value that row 1 holds",
    );
    expect(await catalogText(lake.catalog)).toBe(before);
    expect(lake.store.writes).toBe(writes);
    await lake.expectVerified(table);
  });

  it("that loses a race to a commit which touches nothing of its own runs every member again", async () => {
    const lake = await Lake.open();
    const gate = new Gate();
    const runs: string[] = [];
    const group = lake.catalog.commitGroup<bigint>([
      (tx) => {
        runs.push("a");
        return tx.createTable({ schema: main, name: "a", columns: [{ name: "k", columnType: "BIGINT" }] });
      },
      async (tx) => {
        runs.push("b");
        await gate.pass();
        return tx.createTable({ schema: main, name: "b", columns: [{ name: "k", columnType: "BIGINT" }] });
      },
    ]);
    await gate.reached;
    const other = await lake.table("other", { k: "BIGINT" });
    gate.open();
    const results = await group;
    expect(other).toBe(1n);
    expect(results.map(({ value }) => value)).toEqual([2n, 3n]);
    expect(runs).toEqual(["a", "b", "a", "b"]);
  });
});

describe("commits that are made at once", () => {
  it("share durable writes without being asked, at most 64 to a write", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: -1n });
    const before = lake.store.writes;
    const rows = await Promise.all(Array.from({ length: 64 }, (_, i) => lake.insert(table, { k: BigInt(i) })));
    expect(lake.store.writes - before).toBe(1);
    expect(rows).toEqual(Array.from({ length: 64 }, (_, i) => BigInt(i + 1)));
    await Promise.all(Array.from({ length: 150 }, (_, i) => lake.insert(table, { k: BigInt(100 + i) })));
    expect(lake.store.writes - before).toBe(4);
    expect((await lake.catalog.snapshot()).tableStats(table)?.recordCount).toBe(215n);
    await lake.expectVerified(table);
  });

  it("join the next write while one is under way", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.insert(table, { k: 0n });
    const gate = new Gate();
    lake.store.hooks.write = async (next) => {
      await gate.pass();
      return await next();
    };
    const before = lake.store.writes;
    const first = lake.insert(table, { k: 1n });
    await gate.reached;
    const others = Array.from({ length: 20 }, (_, i) => lake.insert(table, { k: BigInt(10 + i) }));
    await turnOfTheLoop();
    expect(lake.store.writes - before).toBe(1);
    gate.open();
    expect(await Promise.all([first, ...others])).toEqual(Array.from({ length: 21 }, (_, i) => BigInt(i + 1)));
    expect(lake.store.writes - before).toBe(2);
  });

  it("report each failing one alone, and land all others with the same write, with ids that leave no gap", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 0n });
    const head = await lake.head();
    const before = lake.store.writes;
    const commits = Array.from({ length: 20 }, (_, i) =>
      lake.catalog.commit((tx) => {
        if (i === 9) throw new RangeError("not this one");
        // 4 repeats the stored value, 12 that of member 3.
        const k = i === 4 ? 0n : i === 12 ? 3n : BigInt(100 + i);
        return tx.inlineInsert({ table, rows: [{ k: i === 3 ? 3n : k }] });
      }),
    );
    const settled = await Promise.allSettled(commits);
    const failed = settled.flatMap((result, i) => (result.status === "rejected" ? [i] : []));
    expect(failed).toEqual([4, 9, 12]);
    expect(lake.store.writes - before).toBe(1);
    const landed = settled.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    expect(landed.map(({ value }) => value)).toEqual(Array.from({ length: 17 }, (_, i) => BigInt(i + 1)));
    expect(landed.map(({ snapshotId }) => snapshotId - head)).toEqual(
      Array.from({ length: 17 }, (_, i) => BigInt(i + 1)),
    );
    expect(await lake.lookup(unique, 3n)).toEqual([landed[3]!.value]);
    await lake.expectVerified(table);
  });

  it("one that only its forerunner's failure makes possible lands: a value that a refused commit had claimed is free", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 0n });
    const before = lake.store.writes;
    const outcomes = await Promise.all([
      outcomeOf(lake.insert(table, { k: 5n }, { k: 0n })),
      outcomeOf(lake.insert(table, { k: 5n })),
      outcomeOf(lake.insert(table, { k: 5n })),
    ]);
    expect(outcomes).toEqual(["constraint", "landed", "constraint"]);
    expect(lake.store.writes - before).toBe(1);
    expect(await lake.lookup(unique, 5n)).toEqual([1n]);
    await lake.expectVerified(table);
  });

  type Step =
    | { readonly kind: "insert"; readonly keys: readonly number[] }
    | { readonly kind: "delete"; readonly row: number }
    | { readonly kind: "create"; readonly name: string };
  const step: fc.Arbitrary<Step> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("insert" as const),
        keys: fc.array(fc.integer({ min: 0, max: 11 }), { minLength: 1, maxLength: 3 }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant("delete" as const), row: fc.integer({ min: 0, max: 6 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("create" as const), name: fc.constantFrom("x", "y") }) },
  );
  const firstKeys = [0, 1, 2];

  async function openTable(): Promise<{ readonly lake: Lake; readonly table: TableId }> {
    const lake = await Lake.open({ catalog: { nowMicros: () => 1n, newUuid: () => "uuid" }, dataPath: null });
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, ...firstKeys.map((k) => ({ k })));
    return { lake, table };
  }

  function closureOf(current: Step, table: TableId, waits = false): CommitClosure<void> {
    return async (tx) => {
      if (waits) await turnOfTheLoop(1);
      if (current.kind === "insert") tx.inlineInsert({ table, rows: current.keys.map((k) => ({ k })) });
      else if (current.kind === "delete") tx.inlineDelete({ table, rowId: BigInt(current.row) });
      else tx.createTable({ schema: main, name: current.name, columns: [{ name: "k", columnType: "BIGINT" }] });
    };
  }

  async function stateOf(lake: Lake, table: TableId): Promise<string> {
    await lake.expectVerified(table);
    const rows = (await lake.catalog.recentRows({ table })).map(
      ({ rowId, beginSnapshot, values }) => `${rowId}/${beginSnapshot}/${String(values["k"])}`,
    );
    return `${await catalogText(lake.catalog)} ${rows.join(" ")}`;
  }

  /** Whether there was anything that the refusal can have met: in the beginning, or by a commit that landed. */
  function hasReason(refused: Step, code: string, landed: readonly Step[]): boolean {
    if (code === "commit_conflict") return true;
    if (refused.kind === "create")
      return (
        code === "already_exists" && landed.some((other) => other.kind === "create" && other.name === refused.name)
      );
    if (refused.kind === "delete") {
      const died = landed.some((other) => other.kind === "delete" && other.row === refused.row);
      return code === "not_found" && (died || refused.row >= firstKeys.length);
    }
    const taken = [...firstKeys, ...landed.flatMap((other) => (other.kind === "insert" ? other.keys : []))];
    return (
      code === "constraint" &&
      (new Set(refused.keys).size < refused.keys.length || refused.keys.some((k) => taken.includes(k)))
    );
  }

  it("leave what they would have left one after the other, in the order of their snapshots, and each refusal has a reason", async () => {
    const runs = fc.array(fc.tuple(step, fc.boolean()), { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(runs, async (steps) => {
        const { lake, table } = await openTable();
        const results = await Promise.allSettled(
          steps.map(([current, waits]) => lake.catalog.commit(closureOf(current, table, waits))),
        );
        const landed = results
          .flatMap((result, at) =>
            result.status === "fulfilled" ? [{ at: result.value.snapshotId, current: steps[at]![0] }] : [],
          )
          .sort((a, b) => Number(a.at - b.at))
          .map(({ current }) => current);
        for (const [at, result] of results.entries()) {
          if (result.status === "fulfilled") continue;
          const { code } = result.reason as MoraineError;
          expect(hasReason(steps[at]![0], code, landed), `${code} for ${JSON.stringify(steps[at])}`).toBe(true);
        }
        const replay = await openTable();
        for (const current of landed) await replay.lake.commit(closureOf(current, replay.table));
        expect(await stateOf(lake, table)).toBe(await stateOf(replay.lake, replay.table));
        await Promise.all([lake.catalog.close(), replay.lake.catalog.close()]);
      }),
      { numRuns: 30 },
    );
  });
});

describe("a commit that its caller gives up", () => {
  it("before it begins runs nothing", async () => {
    const lake = await Lake.open();
    let ran = false;
    const work = lake.catalog.commit(
      (tx) => {
        ran = true;
        return tx.createSchema({ name: "s" });
      },
      { signal: AbortSignal.abort(new Error("enough")) },
    );
    const failure = await failureOf(work);
    expect(failure.code).toBe("interrupted");
    expect(failure.cause).toEqual(new Error("enough"));
    expect(ran).toBe(false);
    expect(await lake.head()).toBe(0n);
  });

  it("while its closure waits lands nothing, and its caller is told at once", async () => {
    const lake = await Lake.open();
    const stop = new AbortController();
    const gate = new Gate();
    const work = failureOf(
      lake.catalog.commit(
        async (tx) => {
          await gate.pass();
          return tx.createSchema({ name: "s" });
        },
        { signal: stop.signal },
      ),
    );
    await gate.reached;
    stop.abort();
    expect((await work).code).toBe("interrupted");
    gate.open();
    await lake.commit((tx) => tx.createSchema({ name: "other" }));
    expect((await lake.catalog.snapshot()).schemas().map(({ name }) => name)).toEqual(["main", "other"]);
  });

  it("before its write begins is left out of it, and those beside it land", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 0n });
    const gate = new Gate();
    lake.store.hooks.write = async (next) => {
      await gate.pass();
      return await next();
    };
    const first = lake.insert(table, { k: 1n });
    await gate.reached;
    const stop = new AbortController();
    const given = failureOf(
      lake.catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 2n }] }), { signal: stop.signal }),
    );
    const after = lake.insert(table, { k: 3n });
    await turnOfTheLoop();
    stop.abort();
    expect((await given).code).toBe("interrupted");
    gate.open();
    expect(await first).toBe(1n);
    // Its row id went to the next one.
    expect(await after).toBe(2n);
    expect(await lake.lookup(unique, 2n)).toEqual([]);
    await lake.expectVerified(table);
  });

  it("during its write lands all the same, and the caller is told at once to look", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.insert(table, { k: 0n });
    const gate = new Gate();
    lake.store.hooks.write = async (next) => {
      await gate.pass();
      return await next();
    };
    const stop = new AbortController();
    const given = failureOf(
      lake.catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 1n }] }), { signal: stop.signal }),
    );
    await gate.reached;
    const head = await lake.head();
    stop.abort();
    const failure = await given;
    expect([failure.code, failure.retryable]).toEqual(["interrupted", false]);
    expect(failure.remedy).toMatch(/Read the head again/u);
    expect(await lake.head()).toBe(head);
    gate.open();
    await expect.poll(() => lake.head()).toBe(head + 1n);
    expect(await lake.column(table, "k")).toEqual([0n, 1n]);
  });

  it("after it has landed has landed, and a signal that serves many commits keeps none of them", async () => {
    const lake = await Lake.open();
    const stop = new AbortController();
    for (let i = 0; i < 20; i++)
      await lake.catalog.commit((tx) => tx.createSchema({ name: `s${i}` }), { signal: stop.signal });
    expect(getEventListeners(stop.signal, "abort").length).toBe(0);
    stop.abort();
    expect((await lake.catalog.snapshot()).schemas().length).toBe(21);
  });
});
