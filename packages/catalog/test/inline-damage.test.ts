import {
  chunkLocatorKey,
  CorruptionError,
  decodeValue,
  encodeValue,
  InlineChunkRangeValue,
  InlineChunkValue,
  inlineChunkKey,
  InlineSchemaValue,
  inlineSchemaKey,
  MoraineError,
  type TableId,
} from "@moraine/codec";
import { BatchBuilder, getOne, type WritableStore } from "@moraine/store";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Catalog } from "../src/index.js";
import { failureOf } from "./support/errors.js";
import { Lake, main } from "./support/lake.js";

/** Thrown to give a commit up after its rows were prepared. */
class GiveUp extends Error {}

/** A table with a column of each kind of Arrow layout, with rows in one chunk. */
async function openTable() {
  const lake = await Lake.open();
  const table = await lake.commit((tx) =>
    tx.createTable({
      schema: main,
      name: "t",
      columns: [
        { name: "k", columnType: "BIGINT" },
        { name: "s", columnType: "VARCHAR" },
        { name: "b", columnType: "BOOLEAN" },
        { name: "d", columnType: "DECIMAL(30,5)" },
        { name: "u", columnType: "UUID" },
        { name: "f", columnType: "FLOAT" },
        { name: "list", columnType: "list", children: [{ name: "element", columnType: "VARCHAR" }] },
        { name: "struct", columnType: "struct", children: [{ name: "x", columnType: "DATE" }] },
        {
          name: "map",
          columnType: "map",
          children: [
            { name: "key", columnType: "VARCHAR" },
            { name: "value", columnType: "BIGINT" },
          ],
        },
      ],
    }),
  );
  const row = {
    k: 1n,
    s: "text",
    b: true,
    d: "12.5",
    u: "fedcba98-7654-3210-fedc-ba9876543210",
    f: 0.5,
    list: ["a", null],
    struct: { x: "2026-02-28" },
    map: new Map([["m", 1n]]),
  };
  await lake.insert(table, row, {}, { ...row, k: null, s: null }, { ...row, list: [], map: new Map() });
  const begin = await lake.head();
  const key = inlineChunkKey(table, 1n, begin, 0n);
  const chunk = decodeValue(InlineChunkValue, (await getOne(lake.store.inner, key))!);
  const plant = async (changed: Partial<InlineChunkValue>): Promise<void> => {
    const batch = new BatchBuilder();
    batch.put(key, encodeValue(InlineChunkValue, { ...chunk, ...changed }));
    await lake.store.inner.write(batch.finish());
    // Readers keep the head pinned until it moves.
    await lake.catalog.recordMaintenancePass({ startedAtMicros: 1n, trigger: "planted", steps: [] });
  };
  return { lake, table, begin, chunk, plant };
}

/** Everything that reads the rows of a chunk: they either work or say that it is damaged. */
async function readEverything(catalog: Catalog, table: TableId, at: bigint): Promise<string[]> {
  const aborted = async (work: Promise<unknown>): Promise<void> => {
    await work.catch((error: unknown) => {
      if (!(error instanceof GiveUp)) throw error;
    });
  };
  const giveUp = (): never => {
    throw new GiveUp("prepared");
  };
  const reads: (() => Promise<unknown>)[] = [
    () => catalog.recentRows({ table }),
    () => catalog.recentRow({ table, rowId: 2n }),
    () => catalog.scanInline({ table, scan: { kind: "insertions", start: 0n, at } }),
    () =>
      aborted(
        catalog.commitGroup<unknown>([
          (tx) => tx.createIndex({ table, name: "i", columns: ["k", "s", "b", "d", "u", "f"] }),
          (tx) => tx.inlineDelete({ table, rowId: 0n }),
          giveUp,
        ]),
      ),
  ];
  const outcomes: string[] = [];
  for (const read of reads) {
    try {
      await read();
      outcomes.push("read");
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      outcomes.push("corruption");
    }
  }
  return outcomes;
}

describe("a damaged chunk", () => {
  it(
    "whose bytes are random, cut, or changed anywhere is read or refused as damage, and never breaks anything else",
    { timeout: 120_000 },
    async () => {
      const { lake, table, begin, chunk, plant } = await openTable();
      const { body } = chunk;
      const seen = new Set<string>();
      const mutation = fc.oneof(
        { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }) },
        { weight: 1, arbitrary: fc.integer({ min: 0, max: body.length - 1 }).map((length) => body.slice(0, length)) },
        {
          weight: 8,
          arbitrary: fc
            .array(
              fc.tuple(
                fc.integer({ min: 0, max: body.length - 1 }),
                fc.oneof(fc.constantFrom(0, 1, 0x7f, 0x80, 0xff), fc.integer({ min: 0, max: 255 })),
              ),
              { minLength: 1, maxLength: 4 },
            )
            .map((changes) => {
              const copy = body.slice();
              for (const [at, byte] of changes) copy[at] = byte;
              return copy;
            }),
        },
      );
      await fc.assert(
        fc.asyncProperty(mutation, async (damaged) => {
          await plant({ body: damaged });
          for (const outcome of await readEverything(lake.catalog, table, begin)) seen.add(outcome);
        }),
        { numRuns: 300 },
      );
      // Both happen: some changes hit values only.
      expect(seen).toEqual(new Set(["read", "corruption"]));
      await plant({});
      expect((await lake.catalog.recentRows({ table })).length).toBe(4);
      expect(await lake.head()).toBe(begin);
    },
  );

  it("is found by a flush, which then writes no file and drains nothing", async () => {
    const { lake, table, plant } = await openTable();
    await plant({ body: Uint8Array.of(1, 2, 3) });
    expect((await failureOf(lake.catalog.flushInlined({ table }))).code).toBe("corruption");
    const files: string[] = [];
    for await (const { path } of lake.data.list("")) files.push(path);
    expect(files).toEqual([]);
    await plant({});
    expect((await lake.catalog.flushInlined({ table })).rowCount).toBe(4);
  });

  it.each([3n, 5n, 0n, 2n ** 40n, 2n ** 63n])(
    "that claims %i rows where it holds four is refused as damage at once",
    async (rowCount) => {
      const { lake, table, begin, plant } = await openTable();
      await plant({ rowCount });
      const outcomes = await readEverything(lake.catalog, table, begin);
      // A chunk of no rows has none to read.
      for (const outcome of outcomes.slice(0, 1)) expect(outcome).toBe(rowCount === 0n ? "read" : "corruption");
    },
  );

  it("whose offsets fall is refused, and not read as other text", async () => {
    const lake = await Lake.open();
    const table = await lake.table("s", { s: "VARCHAR" });
    await lake.insert(table, { s: "ab" }, { s: "cd" });
    const key = inlineChunkKey(table, 1n, await lake.head(), 0n);
    const chunk = decodeValue(InlineChunkValue, (await getOne(lake.store.inner, key))!);
    const text = Buffer.from(chunk.body).toString("hex");
    const offsets = "000000000200000004000000";
    expect(text.split(offsets).length).toBe(2);
    for (const fallen of ["000000000500000004000000", "000000000300000002000000", "ffffffff0200000004000000"]) {
      const batch = new BatchBuilder();
      const body = new Uint8Array(Buffer.from(text.replace(offsets, fallen), "hex"));
      batch.put(key, encodeValue(InlineChunkValue, { ...chunk, body }));
      await lake.store.inner.write(batch.finish());
      await lake.catalog.recordMaintenancePass({ startedAtMicros: 1n, trigger: "planted", steps: [] });
      expect((await failureOf(lake.catalog.recentRows({ table }))).code, fallen).toBe("corruption");
    }
  });

  it("that a locator names and that is not there is damage", async () => {
    const { lake, table } = await openTable();
    const batch = new BatchBuilder();
    batch.put(
      chunkLocatorKey(table, 9n, 1n, 1n, 7n),
      encodeValue(InlineChunkRangeValue, { rowIdStart: 0n, schemaVersion: 1n, beginSnapshot: 1n, chunkSeq: 7n }),
    );
    await lake.insert(table, { k: 1n }, { k: 1n }, { k: 1n }, { k: 1n }, { k: 1n }, { k: 1n });
    await lake.store.inner.write(batch.finish());
    await lake.catalog.recordMaintenancePass({ startedAtMicros: 1n, trigger: "planted", steps: [] });
    expect((await failureOf(lake.catalog.recentRow({ table, rowId: 9n }))).code).toMatch(/corruption/u);
  });
});

describe("a damaged schema record", () => {
  it("is refused as damage, whatever it holds", { timeout: 120_000 }, async () => {
    const { lake, table, begin } = await openTable();
    const key = inlineSchemaKey(table, 1n);
    const { arrowSchema } = decodeValue(InlineSchemaValue, (await getOne(lake.store.inner, key))!);
    const mutation = fc.oneof(
      { weight: 1, arbitrary: fc.uint8Array({ maxLength: 400 }) },
      {
        weight: 1,
        arbitrary: fc.integer({ min: 0, max: arrowSchema.length - 1 }).map((length) => arrowSchema.slice(0, length)),
      },
      {
        weight: 4,
        arbitrary: fc
          .array(fc.tuple(fc.integer({ min: 0, max: arrowSchema.length - 1 }), fc.integer({ min: 0, max: 255 })), {
            minLength: 1,
            maxLength: 3,
          })
          .map((changes) => {
            const copy = arrowSchema.slice();
            for (const [at, byte] of changes) copy[at] = byte;
            return copy;
          }),
      },
    );
    let damagedReads = 0;
    await fc.assert(
      fc.asyncProperty(mutation, async (damaged) => {
        const batch = new BatchBuilder();
        batch.put(key, encodeValue(InlineSchemaValue, { arrowSchema: damaged, sameAsVersion: undefined }));
        await lake.store.inner.write(batch.finish());
        // A catalog of its own, as the schema is kept once it was read; closing the lake's store is up to the lake.
        const catalog = await Catalog.open({ store: keptOpen(lake) });
        const outcomes = await readEverything(catalog, table, begin);
        if (outcomes.includes("corruption")) damagedReads += 1;
        await catalog.close();
      }),
      { numRuns: 120 },
    );
    expect(damagedReads).toBeGreaterThan(50);
  });

  it.each([
    ["refers to a version that is not there", { sameAsVersion: 9n }],
    ["refers to itself", { sameAsVersion: 1n }],
  ])("that %s is damage", async (_, changed) => {
    const { lake, table } = await openTable();
    const batch = new BatchBuilder();
    batch.put(
      inlineSchemaKey(table, 1n),
      encodeValue(InlineSchemaValue, { arrowSchema: new Uint8Array(), ...changed }),
    );
    await lake.store.inner.write(batch.finish());
    const catalog = await Catalog.open({ store: keptOpen(lake) });
    expect((await failureOf(catalog.recentRows({ table }))).code).toBe("corruption");
    await catalog.close();
  });

  it("that is gone is damage", async () => {
    const { lake, table } = await openTable();
    const batch = new BatchBuilder();
    batch.delete(inlineSchemaKey(table, 1n));
    await lake.store.inner.write(batch.finish());
    const catalog = await Catalog.open({ store: keptOpen(lake) });
    const failure = await failureOf(catalog.recentRows({ table }));
    expect(failure).toBeInstanceOf(MoraineError);
    expect(failure.code).toBe("corruption");
    await catalog.close();
  });
});

/** The lake's store for another catalog, which may close it without effect. */
function keptOpen(lake: Lake): WritableStore {
  const { inner } = lake.store;
  return {
    location: inner.location,
    failure: null,
    getMany: (keys) => inner.getMany(keys),
    scan: (range, options) => inner.scan(range, options),
    snapshot: () => inner.snapshot(),
    checkpointMemory: () => inner.checkpointMemory(),
    write: (batch) => inner.write(batch),
    close: async () => undefined,
  };
}
