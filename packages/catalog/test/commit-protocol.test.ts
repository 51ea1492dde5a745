import {
  CommitConflictError,
  changelogKey,
  currentPrefix,
  encodeValue,
  FormatValue,
  type SnapshotId,
  sysFormatKey,
  sysHeadKey,
  sysMigrationKey,
  type TableId,
} from "@moraine/codec";
import { BatchBuilder, dropMemoryStore, getOne, openStore, openStoreReader } from "@moraine/store";
import { describe, expect, it, onTestFinished } from "vitest";
import { Catalog, ReadOnlyCatalog, type Transaction } from "../src/index.js";
import { CatalogSnapshot } from "../src/model/view.js";
import { failureOf, outcomeOf, retryWords } from "./support/errors.js";
import { Gate, turnOfTheLoop } from "./support/gate.js";
import { hex } from "./support/hooked-store.js";
import { Lake, main } from "./support/lake.js";
import { catalogText } from "./support/catalog-text.js";

describe("the format gate", () => {
  async function planted(plant: (batch: BatchBuilder) => void): Promise<string> {
    const location = `memory://gate-${process.pid}-${Math.random()}`;
    onTestFinished(() => dropMemoryStore(location));
    await (await Catalog.open({ store: await openStore(location) })).close();
    const store = await openStore(location);
    const batch = new BatchBuilder();
    plant(batch);
    await store.write(batch.finish());
    await store.close();
    return location;
  }

  it.each([
    [8n, "migration_required", /predates/u, /Migrate/u],
    [10n, "unsupported", /newer/u, /newer version/u],
  ])("a store of format %i is refused with what to do", async (formatVersion, code, says, remedy) => {
    const location = await planted((batch) =>
      batch.put(sysFormatKey, encodeValue(FormatValue, { formatVersion, writerVersion: "other" })),
    );
    const store = await openStore(location);
    onTestFinished(() => store.close());
    const failure = await failureOf(Catalog.open({ store }));
    expect(failure.code).toBe(code);
    expect(failure.message).toMatch(says);
    expect(failure.remedy).toMatch(remedy);
    const reader = await openStoreReader(location);
    onTestFinished(() => reader.close());
    expect((await failureOf(ReadOnlyCatalog.open({ store: reader }))).code).toBe(code);
  });

  it("a migration that was left half done is refused", async () => {
    const location = await planted((batch) => batch.put(sysMigrationKey, Uint8Array.of(1)));
    const store = await openStore(location);
    onTestFinished(() => store.close());
    expect((await failureOf(Catalog.open({ store }))).code).toBe("migration_required");
  });

  it("a store with a head and no format record is damage, and is not bootstrapped over", async () => {
    const location = await planted((batch) => batch.delete(sysFormatKey));
    expect((await failureOf(Catalog.open({ store: await openStore(location) }))).code).toBe("corruption");
    const store = await openStore(location);
    onTestFinished(() => store.close());
    expect(await getOne(store, sysFormatKey)).toBeUndefined();
    expect(await getOne(store, sysHeadKey)).toBeDefined();
  });

  it("two writers that create one store at the same moment leave one catalog, and each ends open or in a typed error", async () => {
    const location = `memory://genesis-${process.pid}`;
    onTestFinished(() => dropMemoryStore(location));
    const outcomes = await Promise.allSettled(
      Array.from({ length: 3 }, async () => await Catalog.open({ store: await openStore(location) })),
    );
    for (const outcome of outcomes) {
      if (outcome.status === "fulfilled") onTestFinished(() => outcome.value.close().catch(() => undefined));
      else expect(["fenced", "open_raced"]).toContain((outcome.reason as { code: string }).code);
    }
    const catalog = await Catalog.open({ store: await openStore(location) });
    onTestFinished(() => catalog.close());
    const snapshot = await catalog.snapshot();
    expect(snapshot.currentSnapshot.id).toBe(0n);
    expect(snapshot.schemas().map(({ id, name }) => [id, name])).toEqual([[0n, "main"]]);
  });

  it("what a store was created with stays: encryption is never flipped, and another data path is refused", async () => {
    const location = `memory://created-${process.pid}`;
    onTestFinished(() => dropMemoryStore(location));
    const first = await Catalog.open({ store: await openStore(location), encrypted: true, dataPath: "/lake/" });
    expect((await first.snapshot()).option("global", "encrypted")).toBe("true");
    await first.close();
    const again = await Catalog.open({ store: await openStore(location), encrypted: false, dataPath: "/lake" });
    expect((await again.snapshot()).option("global", "encrypted")).toBe("true");
    await again.close();
    const store = await openStore(location);
    onTestFinished(() => store.close());
    expect((await failureOf(Catalog.open({ store, dataPath: "/elsewhere" }))).code).toBe("configuration");
  });
});

describe("one commit", () => {
  it("gives what its closure returned and the snapshot that it made, and is there for a handle that opens later", async () => {
    const lake = await Lake.open();
    const { value, snapshotId } = await lake.catalog.commit((tx) => tx.createSchema({ name: "s" }));
    expect([value, snapshotId]).toEqual([1n, 1n]);
    await lake.catalog.close();
    const again = await Lake.open({ location: lake.location, dataPath: null });
    expect((await again.catalog.snapshot()).schemaByName("s")?.id).toBe(1n);
    expect(await again.head()).toBe(1n);
  });

  it("that stages nothing writes nothing and gives the head", async () => {
    const lake = await Lake.open();
    await lake.table("t", { k: "BIGINT" });
    const before = { writes: lake.store.writes, head: await lake.head() };
    const { value, snapshotId } = await lake.catalog.commit((tx) => tx.tableByName(main, "t")?.name);
    expect([value, snapshotId]).toEqual(["t", before.head]);
    expect({ writes: lake.store.writes, head: await lake.head() }).toEqual(before);
  });

  it("that fails leaves head, records and ids as they were, and the ids of a failed commit are given out by the next one", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.insert(table, { k: 1n });
    const before = await catalogText(lake.catalog);
    const writes = lake.store.writes;
    const failure = await failureOf(
      lake.commit((tx) => {
        tx.createSchema({ name: "s" });
        tx.inlineInsert({ table, rows: [{ k: 2n }] });
        tx.createTable({ schema: main, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] });
      }),
    );
    expect(failure.code).toBe("already_exists");
    expect(await catalogText(lake.catalog)).toBe(before);
    expect(lake.store.writes).toBe(writes);
    expect(
      await lake.commit((tx) => [tx.createSchema({ name: "s" }), tx.inlineInsert({ table, rows: [{ k: 2n }] })]),
    ).toEqual([2n, 1n]);
  });

  it("whose closure throws rejects with what it threw, also when it throws later or throws no error of ours", async () => {
    const lake = await Lake.open();
    const thrown = new RangeError("out of stock");
    await expect(
      lake.commit(() => {
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    await expect(
      lake.commit(async () => {
        await turnOfTheLoop();
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    expect(await lake.head()).toBe(0n);
  });

  it("is over when its closure has returned: verbs that are called later are refused", async () => {
    const lake = await Lake.open();
    const leaked = await lake.commit((tx) => () => tx.createSchema({ name: "late" }));
    expect((await failureOf(async () => leaked())).code).toBe("closed");
    expect((await lake.catalog.snapshot()).schemaByName("late")).toBeUndefined();
  });

  it("is over for reads, too, however its closure has ended", async () => {
    const lake = await Lake.open();
    const leaks: Transaction[] = [];
    await lake.commit((tx) => leaks.push(tx));
    await lake.commit(async (tx) => {
      await turnOfTheLoop();
      leaks.push(tx);
      tx.createSchema({ name: "s" });
    });
    const failing = (tx: Transaction): never => {
      leaks.push(tx);
      throw new Error("given up");
    };
    await expect(lake.commit(failing)).rejects.toThrow("given up");
    await expect(lake.commit(async (tx) => failing(tx))).rejects.toThrow("given up");
    expect(leaks).toHaveLength(4);
    const args = Object.fromEntries(
      ["tableByName", "viewByName", "macroByName", "indexBySchemaName"].map((name) => [name, [0n, "t"]]),
    );
    const others: Readonly<Record<string, readonly unknown[]>> = {
      schemaByName: ["main"],
      indexByName: [0n, "i"],
      indexById: [0n, 0n],
      columnStats: [0n, 0n],
      option: ["global", "o"],
    };
    const accessors = ["currentSnapshot", "snapshotId"];
    const reads = Object.getOwnPropertyNames(CatalogSnapshot.prototype).filter(
      (name) => !["constructor", "checkReadable", ...accessors].includes(name),
    );
    expect(reads.length).toBeGreaterThan(25);
    for (const tx of leaks) {
      const members = tx as unknown as Record<string, (...given: readonly unknown[]) => unknown>;
      for (const name of accessors) expect((await failureOf(async () => members[name])).code).toBe("closed");
      for (const name of reads) {
        const read = (): unknown => members[name]!(...(args[name] ?? others[name] ?? [0n]));
        expect((await failureOf(async () => read())).code, name).toBe("closed");
      }
    }
  });

  it("waits for a promise of another library, too", async () => {
    const lake = await Lake.open();
    const thenable = {
      // oxlint-disable-next-line unicorn/no-thenable -- what other promise libraries give
      then(resolve: (value: string) => void): void {
        setImmediate(() => resolve("done"));
      },
    };
    const { value, snapshotId } = await lake.catalog.commit((tx) => {
      tx.createSchema({ name: "s" });
      return thenable as unknown as Promise<string>;
    });
    expect([value, snapshotId]).toEqual(["done", 1n]);
  });

  it("started inside of another one's closure is refused at once", async () => {
    const lake = await Lake.open();
    let inner: Promise<unknown> | undefined;
    await lake.commit((tx) => {
      inner = failureOf(lake.commit((other) => other.createSchema({ name: "inner" })));
      return tx.createSchema({ name: "outer" });
    });
    expect(await inner).toMatchObject({ code: "invalid_argument" });
    expect((await lake.catalog.snapshot()).schemas().map(({ name }) => name)).toEqual(["main", "outer"]);
  });

  it.each([
    ["closure", () => ["no function" as never, {}] as const],
    ["options", () => [() => 1, null as never] as const],
    ["author", () => [() => 1, { author: 5 as never }] as const],
    ["message", () => [() => 1, { message: {} as never }] as const],
    ["extraInfo", () => [() => 1, { extraInfo: 1n as never }] as const],
    ["signal", () => [() => 1, { signal: "stop" as never }] as const],
  ])("checks its argument %s", async (argument, make) => {
    const lake = await Lake.open();
    const [closure, options] = make();
    const failure = await failureOf(async () => lake.catalog.commit(closure, options));
    expect(failure.code).toBe("invalid_argument");
    expect(failure.message).toContain(argument);
    const inGroup = await failureOf(async () => lake.catalog.commitGroup([closure], options));
    expect(inGroup.code).toBe("invalid_argument");
    expect(inGroup.message).toContain(argument);
  });

  it("registers and expires a file at once without leaving statistics of its columns", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const columnId = await lake.columnId(table, "k");
    const file = await lake.writeFile(table, [{ k: 1n }]);
    const columnStats = [{ columnId, columnSizeBytes: 8, valueCount: 1, nullCount: 0, min: "1", max: "1" }];
    const before = lake.store.writes;
    await lake.commit((tx) => {
      const { dataFileId } = tx.registerDataFile({ table, file: { ...file, columnStats } });
      tx.expireDataFile({ table, file: dataFileId });
    });
    const statistics = hex(currentPrefix("file_column_stats"));
    const keys = lake.store.batches
      .slice(before)
      .flat()
      .map(({ key }) => key);
    expect(keys.filter((key) => key.startsWith(statistics))).toEqual([]);
    expect((await lake.catalog.snapshot()).dataFilesOf(table)).toEqual([]);
  });

  it("records its author, its message and what else the caller says", async () => {
    const lake = await Lake.open();
    const { snapshotId } = await lake.catalog.commit((tx) => tx.createSchema({ name: "s" }), {
      author: "Ada",
      message: "first schema",
      extraInfo: '{"ticket":1}',
    });
    const record = lake.store.batches
      .at(-1)!
      .find(({ key }) => key === `03${snapshotId.toString(16).padStart(16, "0")}`);
    const text = Buffer.from(record!.value!, "hex").toString("latin1");
    for (const part of ["Ada", "first schema", '{"ticket":1}']) expect(text).toContain(part);
  });

  it("moves the head's batch number whatever it writes, and the snapshot only for what belongs to one", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const index = await lake.index(table, ["k"]);
    await lake.insert(table, { k: 1n });
    const at = async (): Promise<[bigint, bigint]> => {
      using scope = await lake.catalog.reads();
      return [scope.revision, scope.snapshot.currentSnapshot.id];
    };
    const [revision, head] = await at();
    await lake.commit((tx) => tx.setOption({ scope: "global", key: "k", value: "v" }));
    expect(await at()).toEqual([revision + 1n, head]);
    await lake.catalog.recordMaintenancePass({ startedAtMicros: 1n, trigger: "manual", steps: [] });
    expect(await at()).toEqual([revision + 2n, head]);
    await lake.commit((tx) => tx.dropIndex({ index }));
    expect(await at()).toEqual([revision + 3n, head + 1n]);
    await lake.catalog.maintain();
    expect(await at()).toEqual([revision + 4n, head + 1n]);
    await lake.insert(table, { k: 2n });
    expect(await at()).toEqual([revision + 5n, head + 2n]);
  });

  it("keeps a changelog for the newest 64 snapshots, and none for a commit of more than 4,096 records", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const has = async (snapshot: bigint): Promise<boolean> =>
      (await getOne(lake.store.inner, changelogKey(snapshot))) !== undefined;
    for (let i = 0; i < 70; i++) await lake.insert(table, { k: BigInt(i) });
    const head = await lake.head();
    expect([await has(head - 64n), await has(head - 63n), await has(head)]).toEqual([false, true, true]);
    const files = Array.from({ length: 5_000 }, (_, i) => ({
      path: `f${i}`,
      recordCount: 1,
      fileSizeBytes: 1,
      footerSize: 1,
    }));
    await lake.commit((tx) => {
      for (const file of files.slice(0, 4_000)) tx.registerDataFile({ table, file });
    });
    expect(await has(head + 1n)).toBe(true);
    await lake.commit((tx) => {
      for (const file of files) tx.registerDataFile({ table, file });
    });
    expect(await has(head + 2n)).toBe(false);
  });

  it("leaves in memory what a fresh load reads, after every kind of verb", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT", s: "VARCHAR" });
    const empty = await lake.table("empty", { k: "BIGINT" });
    const { dataFileId } = await lake.register(table, [
      { k: 1n, s: "a" },
      { k: 2n, s: "b" },
    ]);
    await lake.index(table, ["k"], { unique: true });
    await lake.deleteRows(table, dataFileId, [0]);
    const column = await lake.columnId(table, "s");
    await lake.commit((tx) => {
      const schema = tx.createSchema({ name: "other" });
      tx.renameTable({ table, name: "renamed" });
      // A table with files stays: their paths begin with its schema's.
      expect(() => tx.setTableSchema({ table, schema })).toThrow(expect.objectContaining({ code: "constraint" }));
      tx.setTableSchema({ table: empty, schema });
      tx.renameColumn({ table, column, name: "text" });
      tx.addColumn({ table, definition: { name: "extra", columnType: "DOUBLE" } });
      tx.setSorting({ table, keys: [{ expression: "k", direction: "DESC" }] });
      tx.createView({ schema, name: "v", dialect: "duckdb", sql: "SELECT 1" });
      tx.setOption({ scope: { table }, key: "o", value: "1" });
      tx.setTag({ target: { table }, key: "owner", value: "me" });
    });
    const inMemory = await catalogText(lake.catalog);
    await lake.catalog.close();
    const again = await Lake.open({ location: lake.location, dataPath: lake.dataPath! });
    expect(await catalogText(again.catalog)).toBe(inMemory);
  });
});

describe("commits beside each other", () => {
  it("that create different tables both land", async () => {
    const lake = await Lake.open();
    const [a, b] = await Promise.all([lake.table("a", { k: "BIGINT" }), lake.table("b", { k: "BIGINT" })]);
    expect(a).not.toBe(b);
    expect(
      (await lake.catalog.snapshot())
        .tablesIn(main)
        .map(({ name }) => name)
        .sort(),
    ).toEqual(["a", "b"]);
  });

  it("that alter one table one after the other or lose with a conflict: what landed is there once", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const landed: string[] = [];
    for (let round = 0; round < 20; round++) {
      const outcomes = await Promise.all(
        ["a", "b"].map(async (side) => {
          const name = `${side}${round}`;
          const outcome = await outcomeOf(
            lake.commit(async (tx) => {
              if (round % 2 === 1) await turnOfTheLoop(side === "a" ? 2 : 3);
              return tx.addColumn({ table, definition: { name, columnType: "BIGINT" } });
            }),
          );
          if (outcome === "landed") landed.push(name);
          return outcome;
        }),
      );
      expect(outcomes).toContain("landed");
      for (const outcome of outcomes) expect(["landed", "commit_conflict"]).toContain(outcome);
    }
    const names = (await lake.catalog.snapshot()).columnsOf(table).map(({ name }) => name);
    expect(names.sort()).toEqual(["k", ...landed].sort());
    // Rounds of closures that wait begin on one state, so one of the two has to lose.
    expect(landed.length).toBe(30);
  });

  it("that create one name leave one table, and the other gets a typed refusal", async () => {
    const lake = await Lake.open();
    const create = (wait: boolean): Promise<string> =>
      outcomeOf(
        lake.commit(async (tx) => {
          if (wait) await turnOfTheLoop();
          tx.createTable({ schema: main, name: "t", columns: [{ name: "k", columnType: "BIGINT" }] });
        }),
      );
    expect((await Promise.all([create(false), create(false)])).sort()).toEqual(["already_exists", "landed"]);
    expect((await Promise.all([create(true), create(true)])).sort()).toEqual(["already_exists", "already_exists"]);
    expect((await lake.catalog.snapshot()).tablesIn(main).length).toBe(1);
  });

  it("never share an id: snapshots, catalog ids and file ids rise and collide nowhere", async () => {
    const lake = await Lake.open();
    const created = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        lake.catalog.commit(async (tx) => {
          if (i % 3 === 1) await turnOfTheLoop(i % 5);
          const table = tx.createTable({ schema: main, name: `t${i}`, columns: [{ name: "k", columnType: "BIGINT" }] });
          const { dataFileId } = tx.registerDataFile({
            table,
            file: { path: "f", recordCount: 1, fileSizeBytes: 1, footerSize: 1 },
          });
          return [table, dataFileId] as const;
        }),
      ),
    );
    const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : 1);
    expect(created.map(({ value }) => BigInt(value[0])).sort(ascending)).toEqual(
      Array.from({ length: 24 }, (_, i) => BigInt(i + 1)),
    );
    expect(created.map(({ value }) => BigInt(value[1])).sort(ascending)).toEqual(
      Array.from({ length: 24 }, (_, i) => BigInt(i)),
    );
    expect(created.map(({ snapshotId }) => BigInt(snapshotId)).sort(ascending)).toEqual(
      Array.from({ length: 24 }, (_, i) => BigInt(i + 1)),
    );
  });

  it("that append to one table both land, with row ids that touch", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const append = (recordCount: number) =>
      lake.commit(async (tx) => {
        await turnOfTheLoop();
        return tx.registerDataFile({
          table,
          file: { path: `f${recordCount}`, recordCount, fileSizeBytes: 1, footerSize: 1 },
        }).rowIdStart;
      });
    const starts = await Promise.all([append(100), append(50)]);
    expect([...starts].sort((a, b) => Number(a - b))).toEqual(starts[0] === 0n ? [0n, 100n] : [0n, 50n]);
    expect((await lake.catalog.snapshot()).tableStats(table)).toMatchObject({ recordCount: 150n, nextRowId: 150n });
  });

  it("that delete from different files both land, and from one file one of them loses", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const [left, right] = [
      await lake.register(table, [{ k: 1n }, { k: 2n }]),
      await lake.register(table, [{ k: 3n }, { k: 4n }]),
    ];
    const remove = async (dataFileId: typeof left.dataFileId, position: number): Promise<string> => {
      const file = await lake.writeDeleteFile(table, dataFileId, [position]);
      return await outcomeOf(
        lake.commit(async (tx) => {
          await turnOfTheLoop();
          tx.registerDeleteFile({ table, file, removals: "scoped-read" });
        }),
      );
    };
    const files = [
      await lake.writeDeleteFile(table, left.dataFileId, [0]),
      await lake.writeDeleteFile(table, right.dataFileId, [1]),
    ];
    const gate = new Gate();
    const both = files.map((file) =>
      outcomeOf(
        lake.commit(async (tx) => {
          await gate.pass();
          tx.registerDeleteFile({ table, file, removals: "scoped-read" });
        }),
      ),
    );
    await gate.reached;
    gate.open();
    expect(await Promise.all(both)).toEqual(["landed", "landed"]);
    expect(await lake.column(table, "k")).toEqual([2n, 3n]);
    const third = await lake.register(table, [{ k: 5n }, { k: 6n }]);
    const outcomes = await Promise.all([remove(third.dataFileId, 0), remove(third.dataFileId, 1)]);
    expect(outcomes.sort()).toEqual(["commit_conflict", "landed"]);
  });

  it("an append that a drop overtakes is refused, and so is an option of the dropped table", async () => {
    const lake = await Lake.open();
    const attempt = async (
      work: (table: TableId) => (tx: Parameters<Parameters<typeof lake.commit>[0]>[0]) => void,
      name: string,
    ): Promise<string> => {
      const table = await lake.table(name, { k: "BIGINT" });
      const gate = new Gate();
      const late = outcomeOf(
        lake.commit(async (tx) => {
          await gate.pass();
          work(table)(tx);
        }),
      );
      await gate.reached;
      await lake.commit((tx) => tx.dropTable({ table }));
      gate.open();
      return await late;
    };
    expect(["commit_conflict", "not_found"]).toContain(
      await attempt((table) => (tx) => tx.inlineInsert({ table, rows: [{ k: 1n }] }), "a"),
    );
    expect(await attempt((table) => (tx) => tx.setOption({ scope: { table }, key: "k", value: "v" }), "b")).toBe(
      "not_found",
    );
    const snapshot = await lake.catalog.snapshot();
    expect(snapshot.tablesIn(main)).toEqual([]);
  });

  it("options that two commits write at once: the last one wins", async () => {
    const lake = await Lake.open();
    const gate = new Gate();
    const late = lake.commit(async (tx) => {
      await gate.pass();
      tx.setOption({ scope: "global", key: "k", value: "late" });
    });
    await gate.reached;
    await lake.commit((tx) => tx.setOption({ scope: "global", key: "k", value: "early" }));
    gate.open();
    await late;
    expect((await lake.catalog.snapshot()).option("global", "k")).toBe("late");
  });
});

describe("a closure that waits", () => {
  it("is run again when what landed meanwhile touches nothing of its own, and sees it", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const gate = new Gate();
    const seen: bigint[] = [];
    const late = lake.commit(async (tx) => {
      seen.push(tx.tableStats(table)!.nextRowId);
      await gate.pass();
      return tx.inlineInsert({ table, rows: [{ k: 2n }] });
    });
    await gate.reached;
    await lake.insert(table, { k: 1n });
    gate.open();
    expect(await late).toBe(1n);
    expect(seen).toEqual([0n, 1n]);
    expect(await lake.column(table, "k")).toEqual([1n, 2n]);
  });

  it("loses with a conflict that names the commit, when that touched the same state", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const gate = new Gate();
    let runs = 0;
    const late = failureOf(
      lake.commit(async (tx) => {
        runs += 1;
        await gate.pass();
        tx.addColumn({ table, definition: { name: "late", columnType: "BIGINT" } });
      }),
    );
    await gate.reached;
    await lake.insert(table, { k: 1n });
    const { snapshotId } = await lake.catalog.commit((tx) =>
      tx.addColumn({ table, definition: { name: "early", columnType: "BIGINT" } }),
    );
    gate.open();
    const failure = await late;
    expect(failure).toBeInstanceOf(CommitConflictError);
    expect(failure.retryable).toBe(true);
    // The lowest snapshot that is in the way: the insert already is, as an alter excludes it.
    expect(failure.message).toContain(`commit ${snapshotId - 1n} touched the same state`);
    expect(runs).toBe(1);
    expect((await lake.catalog.snapshot()).columnsOf(table).map(({ name }) => name)).toEqual(["k", "early"]);
  });

  it("keeps its turn from the third attempt on, so that a stream of others cannot overtake it for ever", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const others: Promise<bigint>[] = [];
    let runs = 0;
    const slow = await lake.commit(async (tx) => {
      const run = ++runs;
      await turnOfTheLoop(1);
      // Each run starts another commit that would overtake this one, and waits until it had every chance to.
      others.push(lake.insert(table, { k: BigInt(run) }));
      await turnOfTheLoop(10);
      return tx.inlineInsert({ table, rows: [{ k: 100n }] });
    });
    expect(runs).toBe(3);
    // Two others went before it; the third had to wait.
    expect(slow).toBe(2n);
    expect(await Promise.all(others)).toEqual([0n, 1n, 3n]);
  });

  it("that fails on a state which is no longer the newest is run again, as its failure may have come from that", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    const unique = await lake.index(table, ["k"], { unique: true });
    const gate = new Gate();
    let runs = 0;
    const late = lake.commit(async (tx) => {
      runs += 1;
      await gate.pass();
      // Looks at the newest head; the transaction of the first run is older and has never given that row id out.
      const [rowId] = await lake.lookup(unique, 1n);
      tx.inlineDelete({ table, rowId: rowId! });
    });
    await gate.reached;
    await lake.insert(table, { k: 1n });
    gate.open();
    await late;
    expect(runs).toBe(2);
    expect(await lake.scan(table)).toEqual([]);
    await lake.expectVerified(table);
  });

  it("that was refused for a commit which does not land after all is run again without it", async () => {
    const lake = await Lake.open();
    const table = await lake.table("t", { k: "BIGINT" });
    await lake.index(table, ["k"], { unique: true });
    await lake.insert(table, { k: 1n });
    const createOther = (duplicate: boolean): Promise<string> =>
      outcomeOf(
        lake.commit((tx) => {
          if (duplicate) tx.inlineInsert({ table, rows: [{ k: 1n }] });
          tx.createTable({ schema: main, name: "other", columns: [{ name: "k", columnType: "BIGINT" }] });
        }),
      );
    // The first one creates the name and is then refused by the index; the second must not hear of that name.
    expect(await Promise.all([createOther(true), createOther(false)])).toEqual(["constraint", "landed"]);
    expect((await lake.catalog.snapshot()).tableByName(main, "other")).toBeDefined();
  });

  it("that was refused for a commit hears of it when that commit can be seen", async () => {
    const lake = await Lake.open();
    const gate = new Gate();
    lake.store.hooks.write = async (next) => {
      await gate.pass();
      return await next();
    };
    const create = (): Promise<unknown> => lake.table("t", { k: "BIGINT" });
    const winner = create();
    await gate.reached;
    let told = false;
    const loser = failureOf(create()).then(async (failure) => {
      told = true;
      return [failure.code, (await lake.catalog.snapshot()).tableByName(main, "t") !== undefined];
    });
    await turnOfTheLoop(10);
    expect(told).toBe(false);
    gate.open();
    await winner;
    expect(await loser).toEqual(["already_exists", true]);
  });
});

describe("what refusals say", () => {
  it("no error but a lost race holds a word on which DuckLake would repeat the commit, not even in a name", async () => {
    const lake = await Lake.open();
    const name = "Unique_CONFLICT concurrent PRIMARY KEY";
    const table = await lake.table(name, { [name]: "BIGINT", other: "BIGINT" });
    const index = await lake.index(table, [name], { unique: true, name });
    await lake.insert(table, { [name]: 1n, other: 1n });
    const file = await lake.writeFile(table, [
      { [name]: 5n, other: 1n },
      { [name]: 1n, other: 1n },
    ]);
    const attempts: (() => Promise<unknown>)[] = [
      () => lake.insert(table, { [name]: 1n }),
      () => lake.insert(table, { [name]: "1" }),
      () => lake.insert(table, { [`${name}!`]: 1n }),
      () => lake.index(table, [name], { name: name.toUpperCase() }),
      () => lake.table(name, { k: "BIGINT" }),
      () => lake.commit((tx) => tx.registerDataFile({ table, file, entries: "scoped-read" })),
      () => lake.commit((tx) => tx.registerDataFile({ table, file })),
      () =>
        lake.commit((tx) => tx.registerDataFile({ table, file, entries: [{ index, ordinal: 0, values: [1n, 2n] }] })),
      () => lake.commit((tx) => tx.registerDataFile({ table, file, entries: [{ index, ordinal: 0, values: [5n] }] })),
      () => lake.commit((tx) => tx.registerDataFile({ table, file, entries: [{ index, columns: [] }] })),
      () => lake.commit(async (tx) => tx.dropColumn({ table, column: await lake.columnId(table, name) })),
      () => lake.catalog.indexNulls({ index, prefix: [1n] }),
      () => lake.catalog.indexLookup({ index, key: [1n, 2n] }),
      () =>
        lake.commit((tx) =>
          tx.registerDataFile({ table, file: { ...file, path: `${name}.parquet` }, entries: "scoped-read" }),
        ),
      () => lake.table("t", { k: name }).then((other) => lake.insert(other, { k: 1n })),
    ];
    for (const attempt of attempts) {
      const failure = await failureOf(attempt);
      expect(failure.message).not.toMatch(retryWords);
      expect(failure.remedy).not.toMatch(retryWords);
    }
  });
});

it("reads at a snapshot above the head are refused", async () => {
  const lake = await Lake.open();
  expect((await failureOf(lake.catalog.snapshotAt(5n as SnapshotId))).code).toBe("not_found");
});
