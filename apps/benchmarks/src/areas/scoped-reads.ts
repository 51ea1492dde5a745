import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { openDataStore } from "@moraine/store";
import { type ColumnRequest, type FileSource, scanFile, type ScanOptions } from "@moraine/scoped-reader";
import { type Area, type Benchmark, type BenchmarkContext, expectEqual, lazy } from "../benchmark.js";
import { rate } from "../figure.js";
import { medianOf, seconds } from "../measure.js";
import { writeParquet } from "../parquet.js";
import { shuffled } from "../random.js";
import { count } from "../report.js";
import { type Target, targets } from "../targets.js";

const fileName = "events.parquet";

const bigintColumn = request("v", "BIGINT", 1n);
const stringColumn = request("name", "VARCHAR", 2n);

function request(name: string, columnType: string, fieldId: bigint): ColumnRequest {
  return { fieldId, name, columnType, initialDefault: undefined, historicalNames: [name] };
}

/** Named columns of a Parquet file on the local disk that DuckDB wrote (snappy, row groups of 122,880 rows). */
export function scopedReadArea(context: BenchmarkContext): Area {
  const { sizes, folder } = context;
  const file = lazy(async (): Promise<FileSource> => {
    const files = join(folder, "scoped");
    await mkdir(files, { recursive: true });
    const written = await writeParquet(
      join(files, fileName),
      `SELECT (i * 7919) % ${sizes.scopedRows} AS v, 'name-' || (i * 31) % ${sizes.scopedRows} AS name FROM range(${sizes.scopedRows}) x(i)`,
      "{v: 1, name: 2}",
    );
    return {
      store: await openDataStore(files),
      path: fileName,
      ...written,
      encrypted: false,
      recordCount: BigInt(sizes.scopedRows),
      rowIdStart: 0n,
    };
  });
  const wanted = Math.max(1, Math.floor(sizes.scopedRows * sizes.scopedPositionShare));
  const percent = sizes.scopedPositionShare * 100;
  const positions = (): Uint32Array => shuffled(2, sizes.scopedRows).slice(0, wanted);
  const of = (name: string, rows: number, options: () => ScanOptions, target?: Target): Benchmark => ({
    name,
    async run() {
      const source = await file.get();
      const scan = options();
      const perSecond = await medianOf(sizes.repeats, async () => {
        let read = 0;
        const elapsed = await seconds(async () => {
          for await (const batch of scanFile(source, scan)) read += batch.length;
        });
        expectEqual("the number of rows", read, rows);
        return rows / elapsed;
      });
      return [
        rate(`${name}, ${count(sizes.scopedRows)} rows`, "rows", perSecond, target === undefined ? {} : { target }),
      ];
    },
  });
  return {
    name: "scoped reads",
    benchmarks: [
      of(
        "one bigint column",
        sizes.scopedRows,
        () => ({ columns: [bigintColumn], rowIds: "lineage" }),
        targets.scopedBigintRowsPerSecond,
      ),
      of("one string column", sizes.scopedRows, () => ({ columns: [stringColumn], rowIds: "lineage" })),
      of(`bigint column at ${percent} % of positions`, wanted, () => ({
        columns: [bigintColumn],
        rowIds: "lineage",
        positions: positions(),
      })),
      of(`string column at ${percent} % of positions`, wanted, () => ({
        columns: [stringColumn],
        rowIds: "lineage",
        positions: positions(),
      })),
    ],
    close: () => file.ifMade(({ store }) => store.close()),
  };
}
