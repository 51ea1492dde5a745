import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Catalog as Engine } from "@moraine/catalog";
import { encodeValue, FormatValue, sysFormatKey } from "@moraine/codec";
import { BatchBuilder, openStore, type WriteBatch } from "@moraine/store";
import type { ErrorCode, OpenOptions, TableId } from "moraine";
import { Catalog, mainSchema, MoraineError } from "moraine";
import { afterAll, describe, expect, it } from "vitest";

const folder = mkdtempSync(join(tmpdir(), "moraine-catalog-"));
process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Refusal {
  readonly code: ErrorCode;
  readonly message: string;
}

async function refusal(work: () => Promise<unknown>): Promise<Refusal> {
  const error: unknown = await work().then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(MoraineError);
  const { code, message, remedy } = error as MoraineError;
  expect(remedy).not.toBe("");
  return { code, message };
}

const columns = [{ name: "k", columnType: "BIGINT" }];

describe("options", () => {
  it.each<[string, unknown, ErrorCode, RegExp]>([
    ["none", undefined, "invalid_argument", /options must be an object/u],
    ["an unknown one", { store: "memory://o", datapath: "x" }, "invalid_argument", /"datapath"/u],
    ["no store", {}, "invalid_argument", /store must be/u],
    ["an empty store", { store: "" }, "invalid_argument", /store must be/u],
    ["a store of an unknown kind", { store: "ftp://x" }, "configuration", /ftp/u],
    ["an empty data path", { store: "memory://o", dataPath: "" }, "invalid_argument", /dataPath must be/u],
    ["a data path of an unknown kind", { store: "memory://o", dataPath: "ftp://x" }, "unsupported", /ftp/u],
    ["flush of another word", { store: "memory://o", flush: "lazy" }, "invalid_argument", /flush must be/u],
    ["flush without its interval", { store: "memory://o", flush: {} }, "invalid_argument", /flush\.intervalMs/u],
    ["flush with more", { store: "memory://o", flush: { intervalMs: 1, ms: 1 } }, "invalid_argument", /"ms"/u],
    [
      "an interval of nothing",
      { store: "memory://o", flush: { intervalMs: 0 } },
      "invalid_argument",
      /flush\.intervalMs/u,
    ],
    ["a word for takeOver", { store: "memory://o", takeOver: "yes" }, "invalid_argument", /takeOver must be/u],
    ["null for encrypted", { store: "memory://o", encrypted: null }, "invalid_argument", /encrypted must be/u],
    ["half a timeout", { store: "memory://o", requestTimeoutMs: 0.5 }, "invalid_argument", /requestTimeoutMs must be/u],
    ["a number for blockCache", { store: "memory://o", blockCache: 1 }, "invalid_argument", /blockCache must be/u],
  ])("with %s are refused by name", async (_, options, code, message) => {
    const refused = await refusal(() => Catalog.open(options as OpenOptions));
    expect(refused.code).toBe(code);
    expect(refused.message).toMatch(message);
  });

  it("of a read-only handle are checked as well", async () => {
    const open = (options: object) => refusal(() => Catalog.openReadOnly(options as { store: string }));
    expect((await open({ store: "memory://o", dataPath: "x" })).message).toMatch(/"dataPath"/u);
    expect((await open({ store: "memory://o", pollIntervalMs: -1 })).message).toMatch(/pollIntervalMs/u);
    expect((await open({ store: "memory://nothing" })).code).toBe("not_found");
  });

  it("of calls are checked as well", async () => {
    await using catalog = await Catalog.open({ store: "memory://calls" });
    const closure = (): void => undefined;
    const calls: [string, () => Promise<unknown>][] = [
      ['"auther"', () => catalog.commit(closure, { auther: "x" } as object)],
      ["message", () => catalog.commit(closure, { message: 1 as never })],
      ["signal", () => catalog.commit(closure, { signal: "stop" as never })],
      ["closure", () => catalog.commit("x" as never)],
      ["closures", () => catalog.commitGroup("x" as never)],
      ['"sweep"', () => catalog.maintain({ sweep: true } as object)],
      ["batchSize", () => catalog.maintain({ batchSize: 0 })],
      ["onProgress", () => catalog.maintain({ onProgress: 1 as never })],
      ["onProgress", () => catalog.census({ onProgress: 1 as never })],
      ["limit", () => catalog.snapshots({ limit: -1 })],
      ["before", () => catalog.snapshots({ before: 1 as never })],
      ["index", () => catalog.reclaimIndexEntries({ index: 1 as never, limit: 1 })],
      ["limit", () => catalog.reclaimIndexEntries({ index: 1n, limit: 0 })],
      ["startedAtMicros", () => catalog.recordMaintenancePass(undefined as never)],
    ];
    for (const [argument, call] of calls) {
      const { code, message } = await refusal(call);
      expect([argument, code]).toEqual([argument, "invalid_argument"]);
      expect(message).toContain(argument);
    }
  });
});

describe("a data path", () => {
  it("is recorded when the store is made, and then need not be named", async () => {
    const store = join(folder, "recorded/store");
    const dataPath = join(folder, "recorded/data");
    await (await Catalog.open({ store, dataPath })).close();
    await using again = await Catalog.open({ store });
    expect((await again.snapshot()).dataPath()).toBe(`${dataPath}/`);
  });

  it("may be named again in another spelling, and no other one", async () => {
    const store = join(folder, "fixed/store");
    await (await Catalog.open({ store, dataPath: join(folder, "fixed/data") })).close();
    await (await Catalog.open({ store, dataPath: `file://${folder}/fixed//data/` })).close();
    const refused = await refusal(() => Catalog.open({ store, dataPath: join(folder, "fixed/other") }));
    expect(refused.code).toBe("configuration");
    // The refused handle holds nothing: neither the store nor its lock.
    await (await Catalog.open({ store })).close();
  });

  it("is not told with the credentials that its URL may carry", async () => {
    for (const dataPath of ["http://user:s3cret@host/x", "s3://KEY:s3cret@bucket/x"]) {
      const refused = await refusal(() => Catalog.open({ store: "memory://credentials", dataPath }));
      expect(["configuration", "unsupported"]).toContain(refused.code);
      expect(refused.message).toContain("***@");
      expect(refused.message).not.toContain("s3cret");
    }
  });

  it("on another machine, or with a NUL character, is refused", async () => {
    const open = (dataPath: string) => refusal(() => Catalog.open({ store: "memory://elsewhere", dataPath }));
    expect((await open("file://host/x")).code).toBe("configuration");
    expect((await open("a\0b")).code).toBe("invalid_argument");
  });

  it("that is a file is refused", async () => {
    const dataPath = join(folder, "a-file");
    writeFileSync(dataPath, "");
    const refused = await refusal(() => Catalog.open({ store: join(folder, "with-file/store"), dataPath }));
    expect(refused).toEqual({ code: "configuration", message: `configuration: the data path ${dataPath} is a file` });
  });

  it("that overlaps the store is refused before the store is opened", async () => {
    const store = join(folder, "overlap/store");
    await using writer = await Catalog.open({ store });
    const refused = await refusal(() => Catalog.open({ store, dataPath: join(folder, "overlap") }));
    expect(refused.code).toBe("configuration");
    // Nobody has fenced this one.
    await writer.commit((tx) => tx.createSchema({ name: "s" }));
  });
});

describe("a data path that contains the store", () => {
  it("is opened where SQL has recorded it, named or not, and never recorded here", async () => {
    const dataPath = join(folder, "containing");
    const store = join(dataPath, "store");
    expect((await refusal(() => Catalog.open({ store, dataPath }))).code).toBe("configuration");
    const bySql = await Engine.open({ store: await openStore(store), dataPath: `${dataPath}/` });
    await bySql.close();
    for (const options of [{ store }, { store, dataPath }, { store, dataPath: `file://${dataPath}/` }]) {
      await using catalog = await Catalog.open(options);
      expect((await catalog.snapshot()).dataPath()).toBe(`${dataPath}/`);
    }
    expect((await refusal(() => Catalog.open({ store, dataPath: folder }))).code).toBe("configuration");
  });
});

describe("an opening that is refused", () => {
  it.each(["memory", "file"])("for its data path leaves the writer that there is alone (%s)", async (kind) => {
    const store = kind === "memory" ? "memory://refused" : join(folder, "refused/store");
    await using writer = await Catalog.open({ store, dataPath: join(folder, "refused/data") });
    for (const takeOver of [false, true]) {
      const options = { store, dataPath: join(folder, "refused/other"), takeOver };
      expect((await refusal(() => Catalog.open(options))).code).toBe("configuration");
    }
    await writer.commit((tx) => tx.createSchema({ name: "s" }));
  });

  it("for the store's format leaves the writer that there is alone", async () => {
    const store = "memory://newer";
    const laterFormat = (): WriteBatch => {
      const batch = new BatchBuilder();
      batch.put(sysFormatKey, encodeValue(FormatValue, { formatVersion: 99n, writerVersion: "later" }));
      return batch.finish();
    };
    const newer = await openStore(store);
    await newer.write(laterFormat());
    expect((await refusal(() => Catalog.open({ store }))).code).toBe("unsupported");
    await newer.write(laterFormat());
    await newer.close();
  });
});

describe("what a snapshot gives", () => {
  it("is the caller's own", async () => {
    await using catalog = await Catalog.open({ store: "memory://own" });
    const { table, index } = (
      await catalog.commit((tx) => {
        const made = tx.createTable({
          schema: mainSchema,
          name: "t",
          columns: [...columns, { name: "l", columnType: "INTEGER" }],
        });
        return { table: made, index: tx.createIndex({ table: made, name: "k", columns: ["k"], unique: true }) };
      })
    ).value;
    const snapshot = await catalog.snapshot();
    for (const given of [snapshot.indexesOf(table)[0], snapshot.indexByName(table, "k")]) {
      const { columns: ids, directions, nulls } = given as unknown as Record<string, unknown[]>;
      for (const list of [ids, directions, nulls]) list!.fill(2n);
    }
    await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 1n, l: 2 }] }));
    const doubled = await refusal(() => catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ k: 1n, l: 3 }] })));
    expect(doubled.code).toBe("constraint");
    expect(await catalog.indexLookup({ index, key: [1n] })).toEqual([0n]);
  });
});

describe("handles", () => {
  it("are opened, not constructed", async () => {
    const construct = Catalog as unknown as new (options: object) => unknown;
    expect((await refusal(async () => new construct({ store: "memory://new" }))).code).toBe("invalid_argument");
  });

  it("of one process on one store: the newer one fences the older", async () => {
    const store = join(folder, "two/store");
    const older = await Catalog.open({ store });
    const newer = await Catalog.open({ store });
    await newer.commit((tx) => tx.createSchema({ name: "s" }));
    expect((await refusal(() => older.commit((tx) => tx.createSchema({ name: "t" })))).code).toBe("fenced");
    await older.close();
    await newer.commit((tx) => tx.createSchema({ name: "u" }));
    expect((await newer.snapshot()).schemas().map(({ name }) => name)).toEqual(["main", "s", "u"]);
    await newer.close();
  });

  it("of a store whose folder was moved: nothing is committed any more, and it is opened where it is now, or when it is back", async () => {
    const store = join(folder, "moved/store");
    const old = await Catalog.open({ store });
    const reader = await Catalog.openReadOnly({ store });
    await old.commit((tx) => tx.createSchema({ name: "s" }));
    renameSync(store, `${store}-now`);
    // The old handle is still open, and there is no lock of that name.
    const moved = await Catalog.open({ store: `${store}-now` });
    await moved.commit((tx) => tx.createSchema({ name: "t" }));
    for (const work of [
      () => old.commit((tx) => tx.createSchema({ name: "lost" })),
      () => old.commit((tx) => tx.createSchema({ name: "lost" })),
      () => old.recentRows({ table: 1n as TableId }),
    ]) {
      const { code, message } = await refusal(work);
      expect([code, message]).toEqual(["store_gone", expect.stringContaining(`the folder ${store} of a store`)]);
    }
    await expect.poll(async () => (await refusal(() => reader.snapshot())).code).toBe("store_gone");
    const beganMs = performance.now();
    for (const handle of [old, reader]) await handle.close();
    expect(performance.now() - beganMs).toBeLessThan(3_000);
    expect(existsSync(store)).toBe(false);
    await moved.close();
    renameSync(`${store}-now`, store);
    await using back = await Catalog.open({ store });
    expect((await back.snapshot()).schemas().map(({ name }) => name)).toEqual(["main", "s", "t"]);
  });

  it("fail with `closed` once they are, and may be closed again", async () => {
    const catalog = await Catalog.open({ store: "memory://closed" });
    await using reader = await Catalog.openReadOnly({ store: "memory://closed" });
    await catalog.close();
    await catalog.close();
    const calls = [
      () => catalog.snapshot(),
      () => catalog.snapshots(),
      () => catalog.census(),
      () => catalog.commit(() => undefined),
      () => catalog.reads(),
      () => catalog.maintain(),
      () => catalog.maintenanceStatus(),
    ];
    for (const call of calls) expect((await refusal(call)).code).toBe("closed");
    expect((await reader.snapshot()).schemas()).toHaveLength(1);
    await reader.close();
    expect((await refusal(() => reader.snapshot())).code).toBe("closed");
  });

  it("that only read follow the writer", async () => {
    await using catalog = await Catalog.open({ store: "memory://followed" });
    await using reader = await Catalog.openReadOnly({ store: "memory://followed", pollIntervalMs: 10 });
    const { value: table } = await catalog.commit((tx) => tx.createTable({ schema: mainSchema, name: "t", columns }));
    await expect.poll(async () => (await reader.snapshot()).tableById(table)?.name).toBe("t");
    expect(await reader.snapshots()).toEqual(await catalog.snapshots());
  });
});

describe("snapshots", () => {
  it("come newest first, by pages", async () => {
    await using catalog = await Catalog.open({ store: "memory://snapshots" });
    for (const name of ["a", "b", "c"]) await catalog.commit((tx) => tx.createSchema({ name }), { message: name });
    const all = await catalog.snapshots();
    expect(all.map(({ id }) => id)).toEqual([3n, 2n, 1n, 0n]);
    expect(all.map(({ message }) => message)).toEqual(["c", "b", "a", undefined]);
    expect(all[0]?.changes).toBe('created_schema:"c"');
    const [first, second] = await catalog.snapshots({ limit: 2 });
    expect([first, second]).toEqual(all.slice(0, 2));
    expect(await catalog.snapshots({ before: second!.id })).toEqual(all.slice(2));
    expect(await catalog.snapshots({ limit: 0 })).toEqual([]);
    expect(await catalog.snapshots({ before: all[3]!.id })).toEqual([]);
  });
});

describe("a census", () => {
  it("counts every subspace, and each index with what is dropped", async () => {
    await using catalog = await Catalog.open({ store: "memory://census" });
    const { value } = await catalog.commit((tx) => {
      const table = tx.createTable({ schema: mainSchema, name: "t", columns });
      const kept = tx.createIndex({ table, name: "kept", columns: ["k"], unique: true });
      const dropped = tx.createIndex({ table, name: "dropped", columns: ["k"] });
      tx.inlineInsert({ table, rows: [{ k: 1 }, { k: 2 }, { k: null }] });
      return { table, kept, dropped };
    });
    await catalog.commit((tx) => tx.dropIndex({ index: value.dropped }));
    const census = await catalog.census();
    expect(census.location).toBe("memory://census");
    expect(census.indexes).toEqual([
      expect.objectContaining({
        indexId: value.kept,
        name: "kept",
        tableId: value.table,
        state: "ready",
        entries: 3,
        uniqueEntries: 2,
      }),
      expect.objectContaining({
        indexId: value.dropped,
        name: undefined,
        tableId: undefined,
        state: "dropped",
        entries: 3,
        uniqueEntries: 0,
      }),
    ]);
    const names = census.subspaces.map(({ subspace }) => subspace);
    expect(names).toEqual([
      "system",
      "snapshot",
      "current",
      "history",
      "inline",
      "index",
      "schema_version",
      "changelog",
    ]);
    for (const part of ["entries", "keyBytes", "valueBytes"] as const) {
      expect(census.subspaces.reduce((sum, size) => sum + size[part], 0)).toBe(census.total[part]);
    }
    await catalog.maintain();
    expect((await catalog.census()).indexes.map(({ name }) => name)).toEqual(["kept"]);
  });
});
