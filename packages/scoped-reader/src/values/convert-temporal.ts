import { InvalidArgumentError, isTimestampCount, parseIndexValue } from "@moraine/codec";
import type { TimeUnit } from "../parquet/schema.js";
import { ConversionFailed } from "../malformed.js";
import { bigIntegersOf, clearNulls, integersOf } from "./numbers.js";
import type { RawColumn } from "./raw-column.js";
import type { SourceType } from "./source-type.js";

type Validity = Uint8Array | null;
type DateSource = Extract<SourceType, { kind: "date" }>;

const perSecond: Readonly<Record<TimeUnit, bigint>> = { s: 1n, ms: 1_000n, us: 1_000_000n, ns: 1_000_000_000n };
const secondsPerDay = 86_400n;
const julianDayOfEpoch = 2_440_588n;
const int96Bytes = 12;
// DuckDB's infinities, for dates and for timestamps of every unit.
const infinityDays = 2 ** 31 - 1;
const infinityCount = 2n ** 63n - 1n;
const outOfRange = "a stored date or time is out of the range of the column's type";
const tooFine = "a stored time is finer than the unit of the column's type";

/** Dates as days since 1970-01-01. */
export function datesToDates(raw: RawColumn, source: DateSource, validity: Validity): Int32Array {
  if (source.unit === "day") {
    const copy = new Int32Array(integersOf(raw, 4, true));
    clearNulls(copy, validity);
    return copy;
  }
  const from = bigIntegersOf(raw, true);
  const to = new Int32Array(raw.length);
  const perDay = secondsPerDay * 1000n;
  for (let i = 0; i < from.length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    const value = from[i] ?? 0n;
    if (value % perDay !== 0n) throw new ConversionFailed("a stored date has a time of day");
    const days = Number(value / perDay);
    if (Math.abs(days) > infinityDays) throw new ConversionFailed(outOfRange);
    to[i] = days;
  }
  return to;
}

/** Dates as timestamps at midnight, as DuckDB casts them. */
export function datesToTimestamps(
  raw: RawColumn,
  source: DateSource,
  unit: TimeUnit,
  validity: Validity,
): BigInt64Array {
  const days = datesToDates(raw, source, validity);
  const to = new BigInt64Array(raw.length);
  const factor = secondsPerDay * perSecond[unit];
  for (let i = 0; i < days.length; i++) {
    const day = days[i] ?? 0;
    if (day === infinityDays) to[i] = infinityCount;
    else if (day === -infinityDays) to[i] = -infinityCount;
    else to[i] = checkedCount(BigInt(day) * factor, unit);
  }
  return to;
}

/** Counts of one unit as counts of another. A coarser unit must hold the value exactly. */
export function rescaleCounts(
  raw: RawColumn,
  bytes: 4 | 8,
  from: TimeUnit,
  to: TimeUnit,
  validity: Validity,
): BigInt64Array {
  const counts = bytes === 8 ? bigIntegersOf(raw, true) : widened(raw);
  if (from === to) {
    const copy = counts.slice();
    clearNulls(copy, validity);
    return copy;
  }
  return rescaled(counts, from, to, validity);
}

/** The 96-bit timestamps of older writers: nanoseconds of the day and a Julian day. Read in microseconds, as DuckDB does. */
export function int96ToTimestamps(raw: RawColumn, unit: TimeUnit, validity: Validity): BigInt64Array {
  const view = new DataView(raw.values.buffer, raw.values.byteOffset, raw.values.byteLength);
  const micros = new BigInt64Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    const nanosOfDay = view.getBigInt64(i * int96Bytes, true);
    const day = BigInt(view.getUint32(i * int96Bytes + 8, true)) - julianDayOfEpoch;
    micros[i] = checkedCount(day * secondsPerDay * perSecond.us + nanosOfDay / 1000n, "us");
  }
  return unit === "us" ? micros : rescaled(micros, "us", unit, validity);
}

/** Times in nanoseconds that are stored as text, the form that DuckDB gives them in Parquet. */
export function textsToTimes(raw: RawColumn, validity: Validity): BigInt64Array {
  const to = new BigInt64Array(raw.length);
  for (let i = 0; i < raw.length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    const text = Buffer.from(raw.values.subarray(raw.offsets?.[i], raw.offsets?.[i + 1])).toString("latin1");
    try {
      to[i] = parseIndexValue("TIME_NS", text) as bigint;
    } catch (cause) {
      if (!(cause instanceof InvalidArgumentError)) throw cause;
      throw new ConversionFailed("a stored text is no time of day");
    }
  }
  return to;
}

function rescaled(counts: BigInt64Array, from: TimeUnit, to: TimeUnit, validity: Validity): BigInt64Array {
  const result = new BigInt64Array(counts.length);
  const finer = perSecond[to] > perSecond[from];
  const factor = finer ? perSecond[to] / perSecond[from] : perSecond[from] / perSecond[to];
  for (let i = 0; i < counts.length; i++) {
    if (validity !== null && validity[i] === 0) continue;
    const value = counts[i] ?? 0n;
    if (value === infinityCount || value === -infinityCount) result[i] = value;
    else if (finer) result[i] = checkedCount(value * factor, to);
    else if (value % factor !== 0n) throw new ConversionFailed(tooFine);
    else result[i] = value / factor;
  }
  return result;
}

function widened(raw: RawColumn): BigInt64Array {
  return BigInt64Array.from(integersOf(raw, 4, true), BigInt);
}

/** A finite count. Beyond its calendar DuckDB does not cast. */
function checkedCount(value: bigint, unit: TimeUnit): bigint {
  if (value === infinityCount || value === -infinityCount || !isTimestampCount(value, unit))
    throw new ConversionFailed(outOfRange);
  return value;
}
