import { MoraineError } from "@moraine/codec";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { request, sourceOf, TestLake } from "../test/support/lake.js";
import { scanRows } from "../test/support/values.js";
import { type FileSource, readDeletePositions } from "./index.js";

let lake: TestLake;
const files: { name: string; bytes: Uint8Array; recordCount: bigint }[] = [];
const rowCount = 400;
const columns = [
  request("n", "BIGINT", 1n),
  request("s", "VARCHAR", 2n),
  request("d", "DECIMAL(30,2)", 3n),
  request("b", "BOOLEAN", 4n),
  request("k", "INTEGER", 5n),
];
const query = `SELECT CASE WHEN i % 5 = 0 THEN NULL ELSE i * 7 END::BIGINT AS n, 'value ' || (i % 50) AS s, (i / 3)::DECIMAL(30,2) AS d,
  i % 2 = 0 AS b, (hash(i) % 1000000)::INTEGER AS k, i AS pos FROM range(${rowCount}) t(i)`;

beforeAll(async () => {
  lake = await TestLake.create();
  for (const codec of ["uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"]) {
    for (const version of ["v1", "v2"]) {
      const name = `${codec}-${version}.parquet`;
      const options = `FIELD_IDS {n: 1, s: 2, d: 3, b: 4, k: 5, pos: 2147483540}, COMPRESSION ${codec}, PARQUET_VERSION ${version}`;
      const { recordCount } = await lake.write(name, query, options);
      files.push({ name, bytes: await lake.bytes(name), recordCount });
    }
  }
});
afterAll(async () => {
  await lake.close();
});

/** A file held in memory, so that thousands of damaged ones can be read. */
function inMemory(bytes: Uint8Array, recordCount: bigint): FileSource {
  return sourceOf(
    {
      location: "memory",
      head: (path) => Promise.resolve({ path, sizeBytes: bytes.length }),
      readRanges: (_, ranges) =>
        Promise.resolve(ranges.map(({ offset, length }) => bytes.slice(offset, offset + length))),
      put: () => Promise.reject(new Error("read only")),
      delete: () => Promise.reject(new Error("read only")),
      list: () => lake.store.list(""),
      close: () => Promise.resolve(),
    },
    "damaged.parquet",
    bytes.length,
    recordCount,
  );
}

const allowed = ["data_file", "corruption", "constraint", "unsupported"];

/** Reads a damaged file. It may still be readable; if it is not, the error must be one of ours, and the next read must work. */
async function readDamaged(bytes: Uint8Array, recordCount: bigint): Promise<"read" | "refused"> {
  const source = inMemory(bytes, recordCount);
  try {
    await scanRows(source, { columns, rowIds: "lineage" });
    await readDeletePositions(source, { recordCount: 1000n });
    return "read";
  } catch (error) {
    if (!(error instanceof MoraineError)) throw error;
    expect(allowed).toContain(error.code);
    return "refused";
  }
}

// Without bias: fast-check prefers small numbers, and all damage would fall on the first bytes.
const share = fc.noBias(fc.nat(2 ** 30 - 1)).map((part) => part / 2 ** 30);
const anyFile = fc.noBias(fc.nat(11));
const flips = fc.array(fc.tuple(share, fc.noBias(fc.integer({ min: 1, max: 255 }))), { minLength: 1, maxLength: 3 });

function damaged(bytes: Uint8Array, changes: [place: number, change: number][], from = 0): Uint8Array {
  const copy = bytes.slice();
  for (const [place, change] of changes) {
    const at = from + Math.floor(place * (copy.length - from));
    copy[at] = (copy[at] ?? 0) ^ change;
  }
  return copy;
}

test("flipped bits anywhere give rows or a typed error, and the reader goes on", async () => {
  await fc.assert(
    fc.asyncProperty(anyFile, flips, async (file, changes) => {
      const { bytes, recordCount } = files[file] ?? { bytes: new Uint8Array(0), recordCount: 0n };
      await readDamaged(damaged(bytes, changes), recordCount);
    }),
    { numRuns: 400 },
  );
  for (const { bytes, recordCount } of files) {
    expect(await scanRows(inMemory(bytes, recordCount), { columns, rowIds: "lineage" })).toHaveLength(rowCount);
  }
});

test("flipped bits in the footer do too", async () => {
  await fc.assert(
    fc.asyncProperty(anyFile, flips, async (file, changes) => {
      const { bytes, recordCount } = files[file] ?? { bytes: new Uint8Array(0), recordCount: 0n };
      const footerLength = new DataView(bytes.buffer).getUint32(bytes.length - 8, true);
      await readDamaged(damaged(bytes, changes, bytes.length - 8 - footerLength), recordCount);
    }),
    { numRuns: 400 },
  );
});

test("a truncated file is refused at every length", async () => {
  await fc.assert(
    fc.asyncProperty(anyFile, share, async (file, kept) => {
      const { bytes, recordCount } = files[file] ?? { bytes: new Uint8Array(0), recordCount: 0n };
      expect(await readDamaged(bytes.slice(0, Math.floor(kept * bytes.length)), recordCount)).toBe("refused");
    }),
    { numRuns: 150 },
  );
});

test("bytes that never were a Parquet file are refused, whatever they end with", async () => {
  const magic = [0x50, 0x41, 0x52, 0x31];
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.boolean(), fc.nat(300), async (bytes, ends, length) => {
      const trailer = ends ? [length & 0xff, length >> 8, 0, 0, ...magic] : [];
      expect(await readDamaged(Uint8Array.of(...bytes, ...trailer), 1n)).toBe("refused");
    }),
    { numRuns: 300 },
  );
});
