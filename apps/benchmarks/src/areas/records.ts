import {
  ColumnValue,
  currentKey,
  DataFileValue,
  decodeKey,
  decodeValue,
  encodeValue,
  FileColumnStatsValue,
  IndexDefinitionValue,
  InlineChunkValue,
  type MessageType,
  SnapshotValue,
} from "@moraine/codec";
import { type Area, type Benchmark, type BenchmarkContext, expectEqual } from "../benchmark.js";
import { rate } from "../figure.js";
import { medianOf, secondsSync } from "../measure.js";

const inlineBodyBytes = 1024;

/** Record values and record keys: what a commit writes beside index entries, and what opening reads. */
export function recordArea(context: BenchmarkContext): Area {
  const of = <T>(name: string, type: MessageType<T>, sample: T): Benchmark =>
    recordBenchmark(context, name, type, sample);
  return {
    name: "records",
    benchmarks: [
      of("snapshot", SnapshotValue, {
        ...SnapshotValue.defaults,
        snapshotId: 123_456n,
        snapshotTimeMicros: 1_760_000_000_000_000n,
        schemaVersion: 12n,
        nextCatalogId: 345n,
        nextFileId: 67_890n,
        changesMade: "inserted_into_table:17",
        author: "loader",
        commitMessage: "hourly load",
      }),
      of("column", ColumnValue, {
        ...ColumnValue.defaults,
        columnId: 3n,
        beginSnapshot: 17n,
        tableId: 42n,
        columnOrder: 3n,
        columnName: "departure_time",
        columnType: "TIMESTAMP WITH TIME ZONE",
        nullsAllowed: true,
      }),
      of("data file", DataFileValue, {
        ...DataFileValue.defaults,
        dataFileId: 67_890n,
        tableId: 42n,
        beginSnapshot: 123_456n,
        path: "ducklake-019964b3-5a3f-7c61-9d55-0a8d2a1f3c77.parquet",
        pathIsRelative: true,
        fileFormat: "parquet",
        recordCount: 1_000_000n,
        fileSizeBytes: 54_321_098n,
        footerSize: 4_321n,
        rowIdStart: 87_000_000n,
        partitionValues: [{ partitionKeyIndex: 0n, partitionValue: "2026-01-31", isNull: false }],
      }),
      of("file column statistics", FileColumnStatsValue, {
        ...FileColumnStatsValue.defaults,
        dataFileId: 67_890n,
        tableId: 42n,
        columnId: 3n,
        columnSizeBytes: 1_234_567n,
        valueCount: 1_000_000n,
        nullCount: 17n,
        minValue: "2026-01-31 00:00:00+00",
        maxValue: "2026-01-31 23:59:59.999999+00",
      }),
      of("index definition", IndexDefinitionValue, {
        ...IndexDefinitionValue.defaults,
        indexId: 77n,
        tableId: 42n,
        beginSnapshot: 18n,
        indexName: "flights_by_origin_and_delay",
        columnIds: [4n, 7n],
        columnDescending: [false, true],
        columnNullsFirst: [false, false],
      }),
      of(`inline chunk of ${inlineBodyBytes} bytes`, InlineChunkValue, {
        ...InlineChunkValue.defaults,
        body: new Uint8Array(inlineBodyBytes).fill(7),
        rowIdStart: 87_000_000n,
        rowCount: 10n,
      }),
      recordKeyBenchmark(context),
    ],
  };
}

function recordBenchmark<T>(context: BenchmarkContext, name: string, type: MessageType<T>, sample: T): Benchmark {
  const { records, repeats } = context.sizes;
  return {
    name,
    async run() {
      let bytes = encodeValue(type, sample);
      const encoded = await medianOf(repeats, () => {
        return (
          records /
          secondsSync(() => {
            for (let i = 0; i < records; i++) bytes = encodeValue(type, sample);
          })
        );
      });
      let read = sample;
      const decoded = await medianOf(repeats, () => {
        return (
          records /
          secondsSync(() => {
            for (let i = 0; i < records; i++) read = decodeValue(type, bytes);
          })
        );
      });
      expectEqual("a record that was read back", JSON.stringify(read, asText), JSON.stringify(sample, asText));
      return [rate(`encode, ${name}`, "records", encoded), rate(`decode, ${name}`, "records", decoded)];
    },
  };
}

function asText(_name: string, value: unknown): unknown {
  return typeof value === "bigint" ? `${value}n` : value;
}

function recordKeyBenchmark(context: BenchmarkContext): Benchmark {
  const { records, repeats } = context.sizes;
  return {
    name: "record key",
    async run() {
      let key = currentKey("data_file", 42n, 0n);
      const encoded = await medianOf(repeats, () => {
        return (
          records /
          secondsSync(() => {
            for (let i = 0; i < records; i++) key = currentKey("data_file", 42n, 67_890n);
          })
        );
      });
      const decoded = await medianOf(repeats, () => {
        return (
          records /
          secondsSync(() => {
            for (let i = 0; i < records; i++) decodeKey(key);
          })
        );
      });
      expectEqual("the subspace of a key", decodeKey(key).subspace, "current");
      return [rate("encode, record key", "keys", encoded), rate("decode, record key", "keys", decoded)];
    },
  };
}
