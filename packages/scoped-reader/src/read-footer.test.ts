import { StoreError } from "@moraine/codec";
import { parquetMetadata } from "hyparquet";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CountingStore, request, TestLake } from "../test/support/lake.js";
import { withPageIndex } from "../test/support/page-index.js";
import { sampleTypes } from "../test/support/types.js";
import { scanRows } from "../test/support/values.js";
import { type FileSource, FooterCache } from "./index.js";
import { parseFooter } from "./parquet/footer.js";
import { readFooter } from "./read-footer.js";

let lake: TestLake;
let source: FileSource;
const options = { columns: [request("a", "BIGINT")], rowIds: "lineage" } as const;

beforeAll(async () => {
  lake = await TestLake.create();
  source = await lake.write("a.parquet", "SELECT i::BIGINT AS a FROM range(100) t(i)", "FIELD_IDS {a: 1}");
});
afterAll(async () => {
  await lake.close();
});

describe("footers say what another reader finds in them", () => {
  const everyType = sampleTypes.map(({ columnType }, i) => `NULL::${columnType} AS c${i}`).join(", ");
  const queries = [
    `SELECT ${everyType} FROM range(10)`,
    "SELECT {a: 1, b: {c: [1, 2], d: 'x'}} AS s, i, MAP {'k': [i]} AS m FROM range(5000) t(i)",
    "SELECT 1 AS a LIMIT 0",
  ];
  test.each(queries)("%s", async (query) => {
    await lake.write("footer.parquet", query, "ROW_GROUP_SIZE 2048");
    await lake.writeBytes("indexed.parquet", await withPageIndex(lake, "footer.parquet", 1024, 1000), 0n);
    for (const name of ["footer.parquet", "indexed.parquet"]) {
      const bytes = await lake.bytes(name);
      const metadata = parquetMetadata(bytes.slice().buffer);
      const footer = parseFooter(bytes.subarray(bytes.length - 8 - metadata.metadata_length, bytes.length - 8));
      expect(footer.rowCount).toBe(Number(metadata.num_rows));
      expect(footer.rowGroupRows).toEqual(metadata.row_groups.map((group) => Number(group.num_rows)));
      expect(footer.schema.leafCount).toBe(metadata.schema.filter(({ type }) => type !== undefined).length);
      for (const field of footer.schema.fields) {
        const element = metadata.schema.find(({ name: candidate }) => candidate === field.name);
        expect([field.physicalType, field.fieldId]).toEqual([element?.type, element?.field_id]);
        if (field.leaf === null) continue;
        metadata.row_groups.forEach((group, g) => {
          const column = group.columns[field.leaf ?? 0];
          const chunk = footer.chunk(g, field.leaf ?? 0, bytes.length);
          const start = column?.meta_data?.dictionary_page_offset ?? column?.meta_data?.data_page_offset;
          expect(column?.meta_data?.path_in_schema).toEqual([field.name]);
          expect([chunk.offset, chunk.length, chunk.values]).toEqual(
            [start, column?.meta_data?.total_compressed_size, column?.meta_data?.num_values].map(Number),
          );
          expect(chunk.offsetIndex?.offset).toBe(
            column?.offset_index_offset === undefined ? undefined : Number(column.offset_index_offset),
          );
        });
      }
    }
  });
});

describe("the footer's size", () => {
  test("when recorded, is read with one exact request", async () => {
    lake.store.reset();
    await readFooter(source);
    expect(lake.store.ranges).toEqual([
      { offset: source.sizeBytes - (source.footerSizeBytes ?? 0) - 8, length: (source.footerSizeBytes ?? 0) + 8 },
    ]);
  });

  test.each([undefined, 0, 1, 10, 1e9, -5, Number.NaN])("recorded as %s, is only a hint", async (footerSizeBytes) => {
    expect((await readFooter({ ...source, footerSizeBytes })).rowCount).toBe(100);
  });
});

describe("a file that is not as its catalog record says", () => {
  test("another row count is corruption", async () => {
    for (const recordCount of [0n, 99n, 101n]) {
      await expect(scanRows({ ...source, recordCount }, options)).rejects.toMatchObject({ code: "corruption" });
    }
  });

  test("another size is a data file error, which names both", async () => {
    for (const change of [-1, 1, 1000]) {
      const sizeBytes = source.sizeBytes + change;
      const message: unknown = expect.stringContaining(
        `has ${source.sizeBytes} bytes and its catalog record says ${sizeBytes}`,
      );
      await expect(scanRows({ ...source, sizeBytes }, options)).rejects.toMatchObject({ code: "data_file", message });
    }
  });

  test("sizes that are none are argument errors", async () => {
    for (const sizeBytes of [-1, 0.5, Number.NaN]) {
      await expect(scanRows({ ...source, sizeBytes }, options)).rejects.toMatchObject({ code: "invalid_argument" });
    }
  });

  test("a missing file is not found", async () => {
    await expect(scanRows({ ...source, path: "missing.parquet" }, options)).rejects.toMatchObject({
      code: "not_found",
    });
  });
});

describe("encrypted files are unsupported", () => {
  test("by their catalog record, before anything is read", async () => {
    lake.store.reset();
    await expect(scanRows({ ...source, encrypted: true }, options)).rejects.toMatchObject({ code: "unsupported" });
    expect(lake.store.calls).toBe(0);
  });

  test("by what DuckDB writes", async () => {
    await lake.sql.run("SET force_mbedtls_unsafe = 'true'");
    await lake.sql.run("PRAGMA add_parquet_key('k', '0123456789112345')");
    const name = "encrypted.parquet";
    await lake.sql.run(
      `COPY (SELECT 1::BIGINT AS a) TO '${lake.path(name)}' (FORMAT parquet, ENCRYPTION_CONFIG {footer_key: 'k'})`,
    );
    const bytes = await lake.bytes(name);
    const file = { ...source, path: name, sizeBytes: bytes.length, footerSizeBytes: undefined, recordCount: 1n };
    await expect(scanRows(file, options)).rejects.toMatchObject({ code: "unsupported" });
  });
});

describe("the footer cache", () => {
  test("spares later scans the footer", async () => {
    const cached = { ...source, footers: new FooterCache() };
    const first = await scanRows(cached, options);
    lake.store.reset();
    expect(await scanRows(cached, options)).toEqual(first);
    expect(
      lake.store.ranges.every(
        ({ offset, length }) => offset + length <= source.sizeBytes - (source.footerSizeBytes ?? 0) - 8,
      ),
    ).toBe(true);
  });

  test("gives callers at the same time one read", async () => {
    const cached = { ...source, footers: new FooterCache() };
    lake.store.reset();
    await Promise.all([readFooter(cached), readFooter(cached), readFooter(cached)]);
    expect(lake.store.calls).toBe(1);
  });

  test("forgets a failed read", async () => {
    const footers = new FooterCache();
    const store = new CountingStore(lake.store);
    store.readRanges = () => Promise.reject(new StoreError("down", { remedy: "Wait." }));
    const broken = { ...source, footers, store };
    const failures = await Promise.allSettled([
      readFooter(broken as unknown as FileSource),
      readFooter(broken as unknown as FileSource),
    ]);
    expect(failures.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect((await readFooter({ ...source, footers })).rowCount).toBe(100);
  });

  test("still checks the row count of every record", async () => {
    const footers = new FooterCache();
    await readFooter({ ...source, footers });
    await expect(readFooter({ ...source, footers, recordCount: 5n })).rejects.toMatchObject({ code: "corruption" });
  });

  test("drops the footer used longest ago when it is full", async () => {
    const footer = parseFooter((await lake.bytes("a.parquet")).subarray(-8 - (source.footerSizeBytes ?? 0), -8));
    const cache = new FooterCache(footer.sizeBytes * 2);
    const reads: string[] = [];
    const get = async (key: string): Promise<void> => {
      await cache.get(key, () => {
        reads.push(key);
        return Promise.resolve(footer);
      });
    };
    for (const key of ["a", "b", "a", "c", "a", "b"]) await get(key);
    expect(reads).toEqual(["a", "b", "c", "b"]);
    expect(cache.bytes).toBe(footer.sizeBytes * 2);
  });

  test("takes no size that is none", () => {
    for (const bytes of [-1, 1.5, Number.NaN]) {
      expect(() => new FooterCache(bytes)).toThrow(expect.objectContaining({ code: "invalid_argument" }));
    }
  });
});
