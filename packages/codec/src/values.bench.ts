import { bench, describe } from "vitest";
import {
  currentKey,
  decodeKey,
  decodeValue,
  encodeValue,
  entityMessages,
  HeadValue,
  type MessageType,
  SnapshotValue,
} from "./index.js";

// One iteration handles 1,000 values.
const repeat = 1_000;

const samples: readonly [string, MessageType<object>, Readonly<Record<string, unknown>>][] = [
  ["head", HeadValue, { snapshotId: 12_345n, batchSeq: 23_456n }],
  ["table statistics", entityMessages.table_stats, { tableId: 3n, recordCount: 100n, nextRowId: 10_000n }],
  [
    "snapshot",
    SnapshotValue,
    {
      snapshotId: 1_234n,
      snapshotTimeMicros: 1_700_000_000_000_000n,
      schemaVersion: 3n,
      nextCatalogId: 12n,
      nextFileId: 9n,
      changesMade: "inserted_into_table:2",
    },
  ],
  [
    "column",
    entityMessages.column,
    {
      columnId: 3n,
      beginSnapshot: 5n,
      tableId: 2n,
      columnOrder: 3n,
      columnName: "customer_name",
      columnType: "VARCHAR",
      nullsAllowed: true,
    },
  ],
  [
    "data file",
    entityMessages.data_file,
    {
      dataFileId: 77n,
      tableId: 3n,
      beginSnapshot: 1_000n,
      path: "day=2024-01-01/part-0001.parquet",
      pathIsRelative: true,
      fileFormat: "parquet",
      recordCount: 100_000n,
      fileSizeBytes: 12_345_678n,
      footerSize: 900n,
      rowIdStart: 0n,
      partitionValues: [{ partitionKeyIndex: 0n, partitionValue: "2024-01-01" }],
    },
  ],
];

describe("1,000 values encoded", () => {
  for (const [name, type, fields] of samples) {
    const value = { ...type.defaults, ...fields };
    bench(name, () => {
      for (let i = 0; i < repeat; i++) encodeValue(type, value);
    });
  }
});

describe("1,000 values decoded", () => {
  for (const [name, type, fields] of samples) {
    const bytes = encodeValue(type, { ...type.defaults, ...fields });
    bench(name, () => {
      for (let i = 0; i < repeat; i++) decodeValue(type, bytes);
    });
  }
});

describe("1,000 keys", () => {
  bench("data file key made", () => {
    for (let i = 0; i < repeat; i++) currentKey("data_file", 5n, BigInt(i));
  });
  const keys = Array.from({ length: repeat }, (_, i) => currentKey("data_file", 5n, BigInt(i)));
  bench("data file key decoded", () => {
    for (let i = 0; i < repeat; i++) decodeKey(keys[i] as Uint8Array);
  });
});
