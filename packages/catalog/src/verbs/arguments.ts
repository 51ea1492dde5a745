import { InvalidArgumentError } from "@moraine/codec";
import { quoted } from "../model/error-text.js";

/** A count or a size in bytes: a `bigint`, or a `number` that is a safe integer. Never negative. */
export type Count = bigint | number;

const largestU64 = 2n ** 64n - 1n;

export function invalid(argument: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`${argument} must be ${expected}`, {
    remedy: `Pass ${expected} as ${argument}.`,
  });
}

/** The default of an argument that was left out. Unlike `??`, it does not take `null` for left out. */
export function orDefault<T>(value: T | undefined, defaultValue: T): T {
  if (value === undefined) return defaultValue;
  return value;
}

/** Refuses anything but an object: callers from JavaScript pass what they like. */
export function checkObject<T extends object>(value: T, argument: string): T {
  if (typeof value !== "object" || (value as unknown) === null || Array.isArray(value))
    throw invalid(argument, "an object");
  return value;
}

/** Names of everything that an argument object may hold. The compiler asks for all of them, so no good one is refused. */
export type Names<T> = Readonly<Record<keyof T, true>>;

/** The same as `checkObject`, and refuses names that are not known: a misspelt option would silently do nothing. */
export function checkKnown<T extends object>(value: T, known: Names<T>, argument: string): T {
  checkObject(value, argument);
  // Names that an object inherits are read like its own. What `known` itself inherits is never `true`.
  for (const name in value) if (known[name] !== true) throw unknownName(name, known, argument);
  return value;
}

function unknownName(name: string, known: object, argument: string): InvalidArgumentError {
  const names = Object.keys(known).join(", ");
  return new InvalidArgumentError(`unknown option ${quoted(name)} in ${argument}`, {
    remedy: `Pass nothing but ${names}.`,
  });
}

/** A copy of the array, with `undefined` where it has a hole: `map` and its like pass holes over, and whatever they check. */
export function checkArray<T>(value: readonly T[] | undefined, argument: string): readonly T[] {
  const isArray: boolean = Array.isArray(value);
  if (value === undefined || !isArray) throw invalid(argument, "an array");
  return Array.from(value);
}

export function checkId(value: bigint, argument: string): bigint {
  if (typeof value !== "bigint" || value < 0n || value > largestU64) {
    throw invalid(argument, "an id: a bigint from 0 to 2^64 - 1");
  }
  return value;
}

export function checkCount(value: Count, argument: string): bigint {
  const integer = typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
  if (typeof integer !== "bigint" || integer < 0n || integer > largestU64) {
    throw invalid(argument, "a whole number that is not negative, as a bigint or a safe integer");
  }
  return integer;
}

export function checkString(value: string, argument: string): string {
  if (typeof value !== "string") throw invalid(argument, "a string");
  // A lone surrogate has no UTF-8 form: stored, it would come back as another string.
  if (/\p{Surrogate}/u.test(value)) throw invalid(argument, "a string of whole Unicode characters");
  return value;
}

export function checkText(value: string, argument: string): string {
  if (checkString(value, argument) === "") throw invalid(argument, "a string that is not empty");
  return value;
}

export function checkOptionalString(value: string | undefined, argument: string): string | undefined {
  return value === undefined ? undefined : checkString(value, argument);
}

export function checkBoolean(value: boolean, argument: string): boolean {
  if (typeof value !== "boolean") throw invalid(argument, "a boolean");
  return value;
}

export function checkOptionalBoolean(value: boolean | undefined, argument: string): boolean | undefined {
  return value === undefined ? undefined : checkBoolean(value, argument);
}

export function checkOneOf<T extends string>(value: T, allowed: readonly T[], argument: string): T {
  if (!allowed.includes(value)) throw invalid(argument, `one of ${allowed.map((choice) => `"${choice}"`).join(", ")}`);
  return value;
}

/** A name of any object: a string that says something. */
export function checkName(value: string, argument: string): string {
  checkString(value, argument);
  if (value === "")
    throw new InvalidArgumentError(`${argument} is empty`, { remedy: "Choose a name of at least one character." });
  // DuckDB's C interface ends a string at NUL.
  if (value.includes("\0"))
    throw new InvalidArgumentError(`${argument} holds a NUL character`, { remedy: "Choose a name without it." });
  return value;
}

/** A name that becomes part of the path of data files. */
export function checkPathName(value: string, argument: string): string {
  checkName(value, argument);
  if (value === "." || value === ".." || value.includes("/") || value.includes("\\")) {
    throw new InvalidArgumentError(`${argument} is not safe in a path`, {
      remedy: 'Choose a name without "/" and "\\" that is neither "." nor "..".',
    });
  }
  return value;
}
