import {
  type ColumnVector,
  decodeIndexKey,
  IndexKeyBuilder,
  type IndexKeys,
  type IndexLayout,
  type IndexValueType,
} from "@moraine/codec";
import { type Area, type Benchmark, type BenchmarkContext, expectEqual } from "../benchmark.js";
import { type Figure, rate } from "../figure.js";
import { medianOf, secondsSync } from "../measure.js";
import { type Target, targets } from "../targets.js";
import { generatedTextBytes, randomVector } from "./vectors.js";

const valueTypes: readonly IndexValueType[] = [
  "int8",
  "int16",
  "int32",
  "int64",
  "int128",
  "uint8",
  "uint16",
  "uint32",
  "uint64",
  "float32",
  "float64",
  "boolean",
  "string",
  "bytes",
];

const buildTargets: Readonly<Partial<Record<string, Target>>> = {
  int64: targets.int64KeysPerSecond,
  string: targets.string20KeysPerSecond,
};

/** Index keys: built from column vectors into one buffer, and taken apart one by one. */
export function keyArea(context: BenchmarkContext): Area {
  const single = valueTypes.map((type) => {
    return keyBenchmark(context, type, typeLabel(type), [{ type, descending: false }], buildTargets[type]);
  });
  const composite = keyBenchmark(context, "composite", "composite (string, int64 descending)", [
    { type: "string", descending: false },
    { type: "int64", descending: true },
  ]);
  return { name: "index keys", benchmarks: [...single, composite] };
}

interface KeyColumn {
  readonly type: IndexValueType;
  readonly descending: boolean;
}

function typeLabel(type: IndexValueType): string {
  return type === "string" || type === "bytes" ? `${type} of ${generatedTextBytes} bytes` : type;
}

function keyBenchmark(
  context: BenchmarkContext,
  name: string,
  label: string,
  columns: readonly KeyColumn[],
  target?: Target,
): Benchmark {
  const { encodedKeys, decodedKeys, repeats } = context.sizes;
  return {
    name,
    async run() {
      const vectors = columns.map(({ type }) => randomVector(type, encodedKeys));
      const rowIds = BigUint64Array.from({ length: encodedKeys }, (_, i) => BigInt(i));
      const figures: Figure[] = [];
      for (const unique of [true, false]) {
        const layout: IndexLayout = {
          indexId: 1n,
          unique,
          columns: columns.map(({ type, descending }) => ({ valueType: type, descending, nullsFirst: false })),
        };
        const shape = unique ? "unique" : "multi";
        const built = await medianOf(repeats, () => encodedKeys / secondsSync(() => build(layout, vectors, rowIds)));
        figures.push(rate(`build, ${label}, ${shape}`, "keys", built, target === undefined ? {} : { target }));
        const keys = build(layout, vectors, rowIds);
        expectEqual("the number of keys", keys.count, encodedKeys);
        const decoded = await medianOf(repeats, () => decodedKeys / secondsSync(() => decode(keys, decodedKeys)));
        figures.push(rate(`decode, ${label}, ${shape}`, "keys", decoded));
      }
      return figures;
    },
  };
}

function build(layout: IndexLayout, vectors: readonly ColumnVector[], rowIds: BigUint64Array): IndexKeys {
  const builder = new IndexKeyBuilder(layout);
  builder.appendColumns(vectors, rowIds);
  return builder.finish();
}

function decode({ layout, data, ends }: IndexKeys, count: number): void {
  let start = 0;
  for (let i = 0; i < count; i++) {
    const end = ends[i] as number;
    decodeIndexKey(layout, data.subarray(start, end));
    start = end;
  }
}
