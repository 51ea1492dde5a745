import type { TimeUnit } from "./column-type.js";

/** Counts of each unit in a second, and the decimal digits that they stand for. */
export const unitsPerSecond: Readonly<Record<TimeUnit, bigint>> = {
  s: 1n,
  ms: 1_000n,
  us: 1_000_000n,
  ns: 1_000_000_000n,
};
const unitDigits: Readonly<Record<TimeUnit, number>> = { s: 0, ms: 3, us: 6, ns: 9 };
const secondsPerDay = 86_400n;

/** DuckDB's infinities: the largest value of the type, and its negative. */
const infiniteDays = 2_147_483_647n;
const infiniteCount = 9_223_372_036_854_775_807n;

/** The first and the last moment that DuckDB has in each unit. The first is a midnight: it goes by whole days. */
const timestampLimits: Readonly<Record<TimeUnit, readonly [bigint, bigint]>> = {
  s: [-9_223_372_022_400n, 9_223_372_036_854n],
  ms: [-9_223_372_022_400_000n, 9_223_372_036_854_775n],
  us: [-9_223_372_022_400_000_000n, infiniteCount - 1n],
  ns: [-9_223_286_400_000_000_000n, infiniteCount - 1n],
};

/**
 * Whether DuckDB has the timestamp: an infinity, or a moment that it can show. Timestamps in seconds and milliseconds go through
 * microseconds on their way to Parquet and back, so 64 bits of them hold many that no file does.
 */
export function isTimestampCount(count: bigint, unit: TimeUnit): boolean {
  const [first, last] = timestampLimits[unit];
  return (count >= first && count <= last) || count === infiniteCount || count === -infiniteCount;
}

/** Days from 1970-01-01 of a day in the proleptic Gregorian calendar; year 0 is 1 BC. */
function daysFromCivil(year: number, month: number, day: number): number {
  const shifted = month <= 2 ? year - 1 : year;
  const era = Math.floor(shifted / 400);
  const yearOfEra = shifted - era * 400;
  const dayOfYear = Math.floor((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * 146_097 + dayOfEra - 719_468;
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const monthIndex = Math.floor((5 * dayOfYear + 2) / 153);
  const month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  return { year, month, day: dayOfYear - Math.floor((153 * monthIndex + 2) / 5) + 1 };
}

/** Days from the epoch of `YYYY-MM-DD`, `... (BC)` or an infinity; `undefined` for other text or no such day. */
export function parseDate(text: string): bigint | undefined {
  const infinite = parseInfinity(text);
  if (infinite !== 0) return infiniteDays * BigInt(infinite);
  const match = /^([+-]?)(\d{4,12})-(\d\d)-(\d\d)( \(BC\))?$/.exec(text);
  if (match === null) return undefined;
  const bc = match[5] !== undefined;
  let year = Number(match[2]);
  if (bc && (match[1] !== "" || year === 0)) return undefined;
  if (bc) year = 1 - year;
  else if (match[1] === "-") year = -year;
  const month = Number(match[3]);
  const day = Number(match[4]);
  const days = daysFromCivil(year, month, day);
  const back = civilFromDays(days);
  // A day that the calendar does not have comes back as another one.
  if (month < 1 || back.year !== year || back.month !== month || back.day !== day) return undefined;
  return BigInt(days);
}

/** The text of a day count, as DuckDB writes it. */
export function formatDate(days: bigint): string {
  if (days === infiniteDays) return "infinity";
  if (days === -infiniteDays) return "-infinity";
  const { year, month, day } = civilFromDays(Number(days));
  const shown = `${pad(year > 0 ? year : 1 - year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  return year > 0 ? shown : `${shown} (BC)`;
}

/** Counts from midnight of `HH:MM[:SS[.f]]`, up to 24:00:00; `undefined` for other text or a part finer than the unit. */
export function parseTime(text: string, unit: TimeUnit): bigint | undefined {
  const match = /^(\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)?$/.exec(text);
  if (match === null) return undefined;
  const hour = Number(match[1]);
  const minute = Number(match[2]);
  const second = Number(match[3] ?? 0);
  const digits = (match[4] ?? "").padEnd(9, "0");
  if (minute > 59 || second > 59 || /[1-9]/.test(digits.slice(unitDigits[unit]))) return undefined;
  const fraction = BigInt(`0${digits.slice(0, unitDigits[unit])}`);
  const count = BigInt(hour * 3_600 + minute * 60 + second) * unitsPerSecond[unit] + fraction;
  return count <= secondsPerDay * unitsPerSecond[unit] ? count : undefined;
}

/** The text of a count from midnight. */
export function formatTime(count: bigint, unit: TimeUnit): string {
  const perSecond = unitsPerSecond[unit];
  const seconds = Number(count / perSecond);
  const fraction = (count % perSecond).toString().padStart(unitDigits[unit], "0").replace(/0+$/, "");
  const shown = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
    .map((part) => pad(part, 2))
    .join(":");
  return fraction === "" ? shown : `${shown}.${fraction}`;
}

/**
 * Counts from the epoch of a date with or without a time and an offset (`Z`, `+HH`, `+HH:MM`). Without an offset the time
 * is taken as UTC. A number as offset makes no sense for a type without time zone, where it is refused.
 */
export function parseTimestamp(text: string, unit: TimeUnit, withTimeZone: boolean): bigint | undefined {
  const infinite = parseInfinity(text);
  if (infinite !== 0) return infiniteCount * BigInt(infinite);
  const match = /^([^ T]+(?: \(BC\))?)(?:[ T](\d\d:[\d:.]+)(?: ?(Z|[+-]\d\d(?::?\d\d)?))?)?$/.exec(text);
  if (match === null) return undefined;
  const days = parseDate(match[1] as string);
  const time = match[2] === undefined ? 0n : parseTime(match[2], unit);
  const offsetSeconds = parseOffset(match[3], withTimeZone);
  if (days === undefined || time === undefined || offsetSeconds === undefined) return undefined;
  if (time >= secondsPerDay * unitsPerSecond[unit] || parseInfinity(match[1] as string) !== 0) return undefined;
  return (days * secondsPerDay - BigInt(offsetSeconds)) * unitsPerSecond[unit] + time;
}

function parseOffset(text: string | undefined, withTimeZone: boolean): number | undefined {
  if (text === undefined || text === "Z") return 0;
  const hours = Number(text.slice(1, 3));
  const minutes = Number(text.slice(3).replace(":", ""));
  if (!withTimeZone || hours > 15 || minutes > 59) return undefined;
  return (hours * 3_600 + minutes * 60) * (text.startsWith("-") ? -1 : 1);
}

/** The text of a count from the epoch, in UTC; `+00` marks an instant. */
export function formatTimestamp(count: bigint, unit: TimeUnit, withTimeZone: boolean): string {
  if (count === infiniteCount) return "infinity";
  if (count === -infiniteCount) return "-infinity";
  const perDay = secondsPerDay * unitsPerSecond[unit];
  let time = count % perDay;
  if (time < 0n) time += perDay;
  const shown = `${formatDate((count - time) / perDay)} ${formatTime(time, unit)}`;
  return withTimeZone ? `${shown}+00` : shown;
}

function parseInfinity(text: string): -1 | 0 | 1 {
  switch (text.toLowerCase()) {
    case "infinity":
    case "+infinity":
      return 1;
    case "-infinity":
      return -1;
    default:
      return 0;
  }
}

function pad(value: number, width: number): string {
  return value.toString().padStart(width, "0");
}
