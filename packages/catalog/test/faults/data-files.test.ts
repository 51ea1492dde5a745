import type { DataFileId, DeleteFileId, IndexId, RowId, TableId } from "@moraine/codec";
import { type DataStore, DataStoreSet, type ResolvedPath } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { type Fault, type FaultyDataStore, faultyDataStore } from "../../../store/test/faulty-data-store.js";
import type { CommitOptions, Transaction } from "../../src/index.js";
import type { DataFile } from "../../src/verbs/data-files.js";
import type { DeleteFile } from "../../src/verbs/delete-files.js";
import { catalogText } from "../support/catalog-text.js";
import { failureOf, outcomeOf } from "../support/errors.js";
import { turnOfTheLoop } from "../support/gate.js";
import { Lake } from "../support/lake.js";

/** The data stores of a lake, with a plan of what goes wrong in the one at its data path. */
class FaultyStores extends DataStoreSet {
  #faulty: FaultyDataStore | undefined;
  #inner: DataStore | undefined;

  override resolve(path: string): ResolvedPath {
    const resolved = super.resolve(path);
    this.#inner ??= resolved.store;
    return { store: this.#faulty ?? resolved.store, path: resolved.path };
  }

  /** Lets things go wrong from here on; none if the plan is empty. */
  plan(...faults: readonly Fault[]): FaultyDataStore {
    this.#inner ??= this.root;
    this.#faulty = faultyDataStore(this.#inner, faults);
    return this.#faulty;
  }
}

interface Fixture {
  readonly lake: Lake;
  readonly stores: FaultyStores;
  readonly table: TableId;
  readonly index: IndexId;
  readonly dataFileId: DataFileId;
  readonly rowIdStart: RowId;
  readonly deleteFileId: DeleteFileId;
  readonly newFile: DataFile;
  readonly newDeleteFile: DeleteFile;
}

/** A table with inline rows and two files, of which one has a delete file, and files that are yet to be registered. */
async function openFixture(): Promise<Fixture> {
  let stores: FaultyStores | undefined;
  const lake = await Lake.open({
    catalog: {
      openDataFiles: (path) => {
        stores = new FaultyStores(path);
        return stores;
      },
    },
  });
  if (stores === undefined) throw new Error("the catalog opened no data files");
  const table = await lake.table("t", { k: "BIGINT", s: "VARCHAR" });
  const index = await lake.index(table, ["k"], { unique: true });
  await lake.index(table, ["s", "k"]);
  await lake.insert(table, { k: 1n, s: "a" }, { k: 2n, s: "b" });
  const { dataFileId, rowIdStart } = await lake.register(table, [
    { k: 10n, s: "c" },
    { k: 11n, s: "d" },
    { k: 12n, s: "e" },
  ]);
  const other = await lake.register(table, [{ k: 20n }, { k: 21n }, { k: 22n }]);
  const deleteFileId = await lake.deleteRows(table, other.dataFileId, [1]);
  const newFile = await lake.writeFile(table, [{ k: 30n }, { k: 31n }]);
  const newDeleteFile = await lake.writeDeleteFile(table, dataFileId, [0, 2]);
  return { lake, stores, table, index, dataFileId, rowIdStart, deleteFileId, newFile, newDeleteFile };
}

type Verb = (tx: Transaction, fixture: Fixture) => unknown;

const verbs: readonly (readonly [string, Verb])[] = [
  ["a registration", (tx, { table, newFile }) => tx.registerDataFile({ table, file: newFile, entries: "scoped-read" })],
  [
    "a delete file",
    (tx, { table, newDeleteFile }) => tx.registerDeleteFile({ table, file: newDeleteFile, removals: "scoped-read" }),
  ],
  [
    "the expiry of a file",
    (tx, { table, dataFileId }) => tx.expireDataFile({ table, file: dataFileId, removals: "scoped-read" }),
  ],
  [
    "the expiry of a delete file",
    (tx, { table, deleteFileId }) => tx.expireDeleteFile({ table, file: deleteFileId, entries: "scoped-read" }),
  ],
  ["a new index", (tx, { table }) => tx.createIndex({ table, name: "late", columns: ["s"] })],
  ["the delete of a row in a file", (tx, { table, rowIdStart }) => tx.inlineDelete({ table, rowId: rowIdStart + 1n })],
  [
    "a commit of several of them",
    (tx, { table, dataFileId, newFile }) => {
      tx.inlineInsert({ table, rows: [{ k: 40n }] });
      tx.expireDataFile({ table, file: dataFileId, removals: "scoped-read" });
      tx.registerDataFile({ table, file: newFile, entries: "scoped-read" });
    },
  ],
];

async function run(fixture: Fixture, verb: Verb, options?: CommitOptions): Promise<void> {
  await fixture.lake.catalog.commit((tx) => {
    verb(tx, fixture);
  }, options);
}

/** Everything that must be as it was. */
async function stateOf({ lake, table }: Fixture): Promise<unknown> {
  await lake.expectVerified(table);
  return { text: await catalogText(lake.catalog), writes: lake.store.writes, rows: await lake.scan(table) };
}

describe("a data store that goes wrong during a commit", () => {
  it.each(verbs)(
    "in any read of %s leaves the catalog as it was, and the commit lands when it is made again",
    async (_, verb) => {
      const counted = await openFixture();
      const clean = counted.stores.plan();
      await run(counted, verb);
      const reads = clean.operations.length;
      expect(reads).toBeGreaterThan(0);
      for (const kind of ["fail", "cut"] as const) {
        const fixture = await openFixture();
        const before = await stateOf(fixture);
        for (let at = 1; at <= reads; at++) {
          fixture.stores.plan({ at, kind });
          expect(await outcomeOf(run(fixture, verb)), `${kind} ${at} of ${reads}`).toBe("store_unavailable");
          expect(await stateOf(fixture), `${kind} ${at} of ${reads}`).toEqual(before);
        }
        fixture.stores.plan();
        await run(fixture, verb);
        expect(await stateOf(fixture)).not.toEqual(before);
      }
    },
  );

  it("for good lets no registration land, and commits that need no file go on", async () => {
    const fixture = await openFixture();
    const { lake, table, stores } = fixture;
    stores.plan({ at: 1, times: Number.POSITIVE_INFINITY, kind: "fail", error: new Error("a socket broke") });
    for (const [, verb] of verbs) {
      const failure = await run(fixture, verb).catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(Error);
    }
    await lake.insert(table, { k: 50n });
    await lake.delete(table, 0n);
    await lake.expectVerified(table);
  });

  it.each(verbs)(
    "by standing still in %s holds nobody else up, and the commit lands when it goes on",
    async (_, verb) => {
      const fixture = await openFixture();
      const { lake, stores } = fixture;
      const faulty = stores.plan({ at: 1, kind: "stall" });
      const stalled = run(fixture, verb);
      await faulty.untilStalled();
      const other = await lake.table("other", { k: "BIGINT" });
      await lake.insert(other, { k: 1n });
      faulty.release();
      await stalled;
      await lake.expectVerified(fixture.table);
      expect((await lake.scan(other)).length).toBe(1);
    },
  );

  it("by standing still can be given up, and leaves the catalog as it was", async () => {
    const fixture = await openFixture();
    const before = await stateOf(fixture);
    const faulty = fixture.stores.plan({ at: 1, kind: "stall" });
    const stop = new AbortController();
    const stalled = failureOf(run(fixture, verbs[0]![1], { signal: stop.signal }));
    await faulty.untilStalled();
    stop.abort();
    expect((await stalled).code).toBe("interrupted");
    faulty.release();
    await turnOfTheLoop(20);
    expect(await stateOf(fixture)).toEqual(before);
    await run(fixture, verbs[0]![1]);
  });

  it("by standing still does not keep the catalog from closing", async () => {
    const fixture = await openFixture();
    const faulty = fixture.stores.plan({ at: 1, kind: "stall" });
    const stalled = outcomeOf(run(fixture, verbs[0]![1]));
    await faulty.untilStalled();
    await fixture.lake.catalog.close();
    faulty.release();
    expect(await stalled).toBe("closed");
  });
});

describe("a data store that goes wrong during a flush", () => {
  async function objects(lake: Lake): Promise<string[]> {
    const paths: string[] = [];
    for await (const { path } of lake.data.list("")) paths.push(path);
    return paths;
  }

  it.each(["fail", "cut"] as const)("in any write (%s) leaves the rows inline and no file behind", async (kind) => {
    const fixture = await openFixture();
    const { lake, stores, table } = fixture;
    // Two schema versions, so two files to write.
    await lake.commit((tx) => tx.addColumn({ table, definition: { name: "extra", columnType: "BIGINT" } }));
    await lake.insert(table, { k: 60n, extra: 1n });
    const before = { state: await stateOf(fixture), objects: await objects(lake) };
    for (const at of [1, 2]) {
      stores.plan({ operation: "put", at, kind });
      expect(await outcomeOf(lake.catalog.flushInlined({ table })), `write ${at}`).toBe("store_unavailable");
      expect({ state: await stateOf(fixture), objects: await objects(lake) }, `write ${at}`).toEqual(before);
    }
    stores.plan();
    expect(await lake.catalog.flushInlined({ table })).toMatchObject({ rowCount: 3 });
    await lake.expectVerified(table);
    expect((await lake.catalog.recentRows({ table })).length).toBe(0);
  });

  it("by standing still holds nobody up; rows that come meanwhile stay inline, and rows that go are not in the file", async () => {
    const fixture = await openFixture();
    const { lake, stores, table } = fixture;
    const faulty = stores.plan({ operation: "put", at: 1, kind: "stall" });
    const flush = lake.catalog.flushInlined({ table });
    await faulty.untilStalled();
    await lake.insert(table, { k: 70n });
    await lake.delete(table, 0n);
    faulty.release();
    expect((await flush).rowCount).toBe(2);
    const rows = await lake.scan(table);
    expect(rows.length).toBe(7);
    await lake.expectVerified(table);
  });
});
