import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { DuckDBInstance } from "@duckdb/node-api";
import type { RowId, SchemaId, TableId } from "@moraine/codec";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Catalog } from "./catalog.js";
import { type FileCatalog, openFileCatalog } from "./testing/file-catalog.js";

const main = 0n as SchemaId;
let lake: FileCatalog;
let folder: string;
let catalog: Catalog;

beforeEach(async () => {
  lake = await openFileCatalog();
  ({ catalog, folder } = lake);
});

afterEach(() => lake.close());

async function createTable(): Promise<TableId> {
  const { value } = await catalog.commit((transaction) =>
    transaction.createTable({
      schema: main,
      name: "t",
      columns: [
        { name: "k", columnType: "BIGINT" },
        { name: "u", columnType: "UUID" },
        { name: "s", columnType: "VARCHAR" },
        { name: "at", columnType: "TIMESTAMP_S" },
      ],
    }),
  );
  return value;
}

async function readFile(path: string): Promise<{ readonly types: string[]; readonly rows: unknown[][] }> {
  const connection = await (await DuckDBInstance.create()).connect();
  const reader = await connection.runAndReadAll(`SELECT * FROM '${path}'`);
  return { types: reader.columnTypes().map(String), rows: reader.getRowsJson() };
}

const uuid = "0191d6a5-1c0f-7b58-8a2e-3f5b6c7d8e9f";

describe("flushInlined", () => {
  it("writes the live rows, keeps their ids and leaves the index as it is", async () => {
    const table = await createTable();
    const { value: index } = await catalog.commit((transaction) =>
      transaction.createIndex({ table, name: "t_k", columns: ["k"], unique: true }),
    );
    await catalog.commit((transaction) =>
      transaction.inlineInsert({
        table,
        rows: [{ k: 1n, u: uuid, s: "a", at: new Date(1_700_000_000_000) }, { k: 2n }, { k: 3n, s: "c" }],
      }),
    );
    await catalog.commit((transaction) => transaction.inlineDelete({ table, rowId: 1n }));
    await catalog.commit((transaction) => transaction.inlineInsert({ table, rows: [{ k: 4n, s: "d" }] }));

    const flushed = await catalog.flushInlined({ table });

    expect(flushed.rowCount).toBe(3);
    expect(await catalog.recentRows({ table })).toEqual([]);
    const [file] = (await catalog.snapshot()).dataFilesOf(table);
    expect(file).toMatchObject({ recordCount: 3n, rowIdStart: 0n, beginSnapshot: 3n, partialMax: 5n });
    const { types, rows } = await readFile(join(folder, "main/t", file!.path));
    expect(types).toEqual(["BIGINT", "UUID", "VARCHAR", "TIMESTAMP", "BIGINT", "BIGINT"]);
    expect(rows).toEqual([
      ["1", uuid, "a", "2023-11-14 22:13:20", "0", "3"],
      ["3", null, "c", null, "2", "3"],
      ["4", null, "d", null, "3", "5"],
    ]);
    expect(await catalog.indexLookup({ index, key: [3n] })).toEqual([2n]);
    expect(await catalog.indexLookup({ index, key: [2n] })).toEqual([]);
  });

  it("is read back by row id when an index is built over the flushed file", async () => {
    const table = await createTable();
    await catalog.commit((transaction) => transaction.inlineInsert({ table, rows: [{ k: 1n }, { k: 2n }, { k: 3n }] }));
    await catalog.commit((transaction) => transaction.inlineDelete({ table, rowId: 1n }));
    await catalog.flushInlined({ table });
    const { value: index } = await catalog.commit((transaction) =>
      transaction.createIndex({ table, name: "t_k", columns: ["k"], unique: true }),
    );
    expect(await catalog.indexRange({ index })).toEqual([0n, 2n]);
    expect(await catalog.indexLookup({ index, key: [3n] })).toEqual([2n] as RowId[]);
  });

  it("loses and doubles no row while others insert and delete", async () => {
    const table = await createTable();
    const { value: index } = await catalog.commit((transaction) =>
      transaction.createIndex({ table, name: "t_k", columns: ["k"], unique: true }),
    );
    const inserted: bigint[] = [];
    const insert = async (k: number): Promise<void> => {
      const { value } = await catalog.commit((transaction) =>
        transaction.inlineInsert({ table, rows: [{ k: BigInt(k) }] }),
      );
      inserted.push(value);
    };
    for (let k = 0; k < 20; k++) await insert(k);
    await Promise.all([catalog.flushInlined({ table }), ...Array.from({ length: 30 }, (_, i) => insert(100 + i))]);
    await catalog.flushInlined({ table });
    const snapshot = await catalog.snapshot();
    const records = snapshot.dataFilesOf(table).reduce((sum, file) => sum + file.recordCount, 0n);
    expect(records).toBe(50n);
    expect(await catalog.recentRows({ table })).toEqual([]);
    expect((await catalog.indexRange({ index })).toSorted((a, b) => Number(a - b))).toEqual(
      inserted.toSorted((a, b) => Number(a - b)),
    );
  });

  it("leaves no file behind when it cannot commit", async () => {
    const table = await createTable();
    await catalog.commit((transaction) => transaction.inlineInsert({ table, rows: [{ k: 1n }] }));
    const flush = catalog.flushInlined({ table });
    await catalog.commit((transaction) => transaction.dropTable({ table }));
    await expect(flush).rejects.toMatchObject({ code: "not_found" });
    expect(await readdir(join(folder, "main/t")).catch(() => [])).toEqual([]);
  });
});
