import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Catalog, type FileIndexEntry } from "moraine";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { useS3Environment } from "../../../../packages/store/test/s3-environment.js";
import { hasS3Server, startS3Server, type S3Server } from "../../../../packages/store/test/s3-server.js";
import { EventLake, eventRow, events, type Place } from "./event-lake.js";

describe.skipIf(!hasS3Server("lakes in S3"))("a lake in S3", () => {
  const folder = mkdtempSync(join(tmpdir(), "moraine-s3-lake-"));
  let server: S3Server;
  let restore: () => void;
  let lakes = 0;

  beforeAll(async () => {
    server = await startS3Server();
    await server.createBucket("lakes");
    restore = useS3Environment(server);
  });
  afterAll(async () => {
    restore();
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function freshPlace(): Place {
    const name = `lake-${++lakes}`;
    return { store: `s3://lakes/${name}/store`, dataPath: `s3://lakes/${name}/data` };
  }
  /** The store on this machine, its data files in S3. */
  function mixedPlace(): Place {
    return { ...freshPlace(), store: join(folder, `store-${lakes}`) };
  }

  it.each([
    ["store and data in S3", freshPlace],
    ["store local, data in S3", mixedPlace],
  ])("%s: every way in and out leaves indexes that answer as a full scan", { timeout: 120_000 }, async (_, place) => {
    const lake = await EventLake.create(place());
    const { catalog } = lake;
    const table = await lake.table();
    const { byId } = await lake.indexes();

    // Files with entries of the caller's, row by row and as vectors, and with entries that are read out of the file.
    const given = await lake.putFile("given.parquet", events(0, 120));
    const entries = await entriesOf(lake, 0, 120);
    const first = await catalog.commit((tx) => tx.registerDataFile({ table, file: given, entries }));
    const read = await lake.putFile("read.parquet", events(1_000, 900));
    const second = await catalog.commit((tx) => tx.registerDataFile({ table, file: read, entries: "scoped-read" }));
    const vectors = await lake.putFile("vectors.parquet", events(5_000, 150));
    const found = await catalog.scopedFileIndexEntries({ table, file: vectors });
    await catalog.commit((tx) => tx.registerDataFile({ table, file: vectors, entries: found }));
    const rows = Array.from({ length: 60 }, (_entry, i) => eventRow(10_000 + i));
    const inline = await catalog.commit((tx) => tx.inlineInsert({ table, rows }));
    await lake.expectVerified();

    // Refused: a duplicate between a file and an inline row, one between two files, one that is inlined.
    const head = await headOf(catalog);
    const clash = await lake.putFile("clash.parquet", events(10_059, 5));
    const clashes = { table, file: clash, entries: "scoped-read" } as const;
    await expect(catalog.commit((tx) => tx.registerDataFile(clashes))).rejects.toMatchObject({ code: "constraint" });
    const overlap = await lake.putFile("overlap.parquet", events(1_899, 2));
    const overlaps = { table, file: overlap, entries: await entriesOf(lake, 1_899, 2) };
    await expect(catalog.commit((tx) => tx.registerDataFile(overlaps))).rejects.toMatchObject({ code: "constraint" });
    const again = [eventRow(20_000), eventRow(1_500)];
    await expect(catalog.commit((tx) => tx.inlineInsert({ table, rows: again }))).rejects.toMatchObject({
      code: "constraint",
    });
    expect(await headOf(catalog)).toBe(head);
    expect(await catalog.indexLookup({ index: byId, key: [20_000] })).toEqual([]);

    // Deletes: a delete file, single rows of files, inline rows; one key comes back in the commit that frees it.
    const target = second.value.dataFileId;
    const file = await lake.putDeleteFile(
      "deletes.parquet",
      target,
      "read.parquet",
      "SELECT 3 * range AS pos FROM range(270)",
    );
    await catalog.commit((tx) => tx.registerDeleteFile({ table, file, removals: "scoped-read" }));
    await catalog.commit((tx) => {
      tx.inlineDelete({ table, rowId: first.value.rowIdStart + 7n });
      tx.inlineDelete({ table, rowId: second.value.rowIdStart + 1n });
      tx.inlineDelete({ table, rowId: inline.value + 3n });
      tx.inlineInsert({ table, rows: [eventRow(7), eventRow(1_000)] });
    });
    await lake.expectVerified();

    // An index over what is there by now is built out of the objects.
    const { value: byScore } = await catalog.commit((tx) =>
      tx.createIndex({ table, name: "events_score", columns: ["score", "id"], unique: true }),
    );
    await lake.expectVerified();

    // Inline rows become an object; ids stay. A dropped index is swept.
    const flushed = await catalog.flushInlined({ table });
    expect(flushed.rowCount).toBe(61);
    expect(await catalog.recentRows({ table })).toEqual([]);
    const [flushedFile] = (await catalog.snapshot())
      .dataFilesOf(table)
      .filter(({ id }) => flushed.dataFileIds.includes(id));
    const object = await lake.data.head(`main/events/${flushedFile!.path}`);
    expect(BigInt(object.sizeBytes)).toBe(flushedFile!.fileSizeBytes);
    await catalog.commit((tx) => tx.inlineDelete({ table, rowId: inline.value + 4n }));
    await lake.expectVerified();
    await catalog.commit((tx) => tx.dropIndex({ index: byScore }));
    const live = await lake.duckDb.bigints("SELECT count(*) FROM live");
    expect((await catalog.maintain()).indexEntriesReclaimed).toBe(Number(live[0]));
    expect((await catalog.census()).indexes.map(({ name, entries: count }) => [name, count])).toEqual(
      ["events_id", "events_name", "events_day"].map((name) => [name, Number(live[0])]),
    );

    // Rows that a vanished delete file named come back, a whole file goes.
    const [deleteFile] = (await catalog.snapshot())
      .deleteFilesOf(table)
      .filter(({ dataFileId }) => dataFileId === target);
    const revived = eventRow(1_000);
    const [holder] = await catalog.indexLookup({ index: byId, key: [revived.id] });
    const revive = { table, file: deleteFile!.id, entries: "scoped-read" } as const;
    await expect(catalog.commit((tx) => tx.expireDeleteFile(revive))).rejects.toMatchObject({ code: "constraint" });
    await catalog.commit((tx) => {
      tx.inlineDelete({ table, rowId: holder! });
      tx.expireDeleteFile(revive);
      tx.expireDataFile({ table, file: first.value.dataFileId, removals: "scoped-read" });
    });
    await lake.expectVerified();

    // Opened again, for writing and for reading.
    const before = await headOf(catalog);
    const reopened = await lake.open();
    expect(await headOf(reopened)).toBe(before);
    await using reader = await Catalog.openReadOnly({ store: lake.place.store });
    await lake.expectVerified(reader);
    await reopened.commit((tx) => tx.inlineInsert({ table, rows: [eventRow(30_000)] }));
    expect(await reopened.indexLookup({ index: byId, key: [30_000] })).toHaveLength(1);
  });

  it("is followed by a reader that sees each commit whole and in order", { timeout: 120_000 }, async () => {
    const lake = await EventLake.create(freshPlace());
    const { catalog } = lake;
    const table = await lake.table();
    const { byId } = await lake.indexes();
    const reader = await Catalog.openReadOnly({ store: lake.place.store, pollIntervalMs: 20 });
    onTestFinished(() => reader.close());
    const commits = 25;
    const file = await lake.putFile("followed.parquet", events(50_000, 100));
    const writing = (async () => {
      let previous: bigint | undefined;
      for (let i = 0; i < commits; i++) {
        const dies = previous;
        const { value } = await catalog.commit((tx) => {
          if (dies !== undefined) tx.inlineDelete({ table, rowId: dies });
          return tx.inlineInsert({ table, rows: [eventRow(2 * i), eventRow(2 * i + 1)] });
        });
        previous = value;
        if (i === 10) await catalog.commit((tx) => tx.registerDataFile({ table, file, entries: "scoped-read" }));
        if (i === 18) await catalog.flushInlined({ table });
      }
    })();
    const last = 2 * (commits - 1);
    let odd = 0;
    const states = new Set<number>();
    const wrong: unknown[] = [];
    await vi.waitFor(
      async () => {
        // Of each commit the odd row stays, and the even one lives until the next commit. A flush leaves nothing inline.
        const inline = (await reader.recentRows({ table })).map(({ values }) => Number(values["id"]));
        const newest = Math.max(...inline);
        const odds = inline.filter((id) => id % 2 === 1);
        const isWhole =
          odds.every((id, at) => id === newest - 2 * (odds.length - 1 - at)) && inline.includes(newest - 1);
        if (inline.length > 0 && !(isWhole && inline.length === odds.length + 1)) wrong.push(inline);
        const found = await reader.indexRange({ index: byId, upper: { values: [49_999] } });
        const keys = Array.from({ length: commits }, (_, i) => [2 * i + 1]);
        const { length } = await reader.indexLookupMany({ index: byId, keys });
        // The second read is not older than the first, and the first holds one row more than commits.
        if (length < odd || found.length - 1 > length) wrong.push({ found: found.length, length, odd });
        odd = length;
        states.add(length);
        expect(await reader.indexLookup({ index: byId, key: [last] })).toHaveLength(1);
      },
      { timeout: 90_000, interval: 5 },
    );
    await writing;
    expect(wrong).toEqual([]);
    expect(states.size).toBeGreaterThan(2);
    await vi.waitFor(async () => expect(await headOf(reader)).toBe(await headOf(catalog)), { timeout: 20_000 });
    await lake.expectVerified(reader);
    await lake.expectVerified();
  });

  it("has one writer: the older one is fenced and has acknowledged nothing that is lost", async () => {
    const lake = await EventLake.create(freshPlace());
    const older = lake.catalog;
    const table = await lake.table();
    await older.commit((tx) => tx.inlineInsert({ table, rows: [eventRow(1)] }));
    const newer = await Catalog.open(lake.place);
    onTestFinished(() => newer.close());
    const late = Array.from({ length: 5 }, (_, i) =>
      older.commit((tx) => tx.inlineInsert({ table, rows: [eventRow(100 + i)] })),
    );
    for (const outcome of await Promise.allSettled(late))
      expect(outcome).toMatchObject({ status: "rejected", reason: { code: "fenced" } });
    await expect(older.commit((tx) => tx.inlineInsert({ table, rows: [eventRow(2)] }))).rejects.toMatchObject({
      code: "fenced",
      retryable: false,
    });
    await expect(older.snapshot()).rejects.toMatchObject({ code: "fenced" });
    await newer.commit((tx) => tx.inlineInsert({ table, rows: [eventRow(2)] }));
    await lake.expectVerified(newer);
    expect(await lake.duckDb.bigints("SELECT id FROM live ORDER BY id")).toEqual([1n, 2n]);
  });
});

async function headOf(catalog: Pick<Catalog, "snapshot">): Promise<bigint> {
  return (await catalog.snapshot()).currentSnapshot.id;
}

/** Entries for a file of these events, as a caller gives them who has the rows at hand. */
async function entriesOf(lake: EventLake, first: number, count: number): Promise<FileIndexEntry[]> {
  const { byId, byName, byDay } = await lake.indexes();
  return Array.from({ length: count }, (_, ordinal) => {
    const { id, name, score, day } = eventRow(first + ordinal);
    return [
      { index: byId, ordinal, values: [id] },
      { index: byName, ordinal, values: [name, score] },
      { index: byDay, ordinal, values: [day] },
    ];
  }).flat();
}
