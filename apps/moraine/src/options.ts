import { InvalidArgumentError } from "@moraine/codec";

/** Refuses anything but an object with properties of the given names, so that a misspelt option is not passed over. */
export function checkNames(value: unknown, argument: string, names: readonly string[]): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw wrong(argument, "an object");
  for (const name of Object.keys(value)) {
    if (!names.includes(name)) {
      throw new InvalidArgumentError(`${argument} has no property ${JSON.stringify(name)}`, {
        remedy: `Use only ${names.join(", ")}.`,
      });
    }
  }
}

export function checkText(value: unknown, argument: string): string {
  if (typeof value !== "string" || value === "" || value.includes("\0")) {
    throw wrong(argument, "a string that is not empty and has no NUL character");
  }
  return value;
}

export function checkOptionalText(value: unknown, argument: string): void {
  if (value !== undefined && typeof value !== "string") throw wrong(argument, "a string");
}

export function checkOptionalBoolean(value: unknown, argument: string): void {
  if (value !== undefined && typeof value !== "boolean") throw wrong(argument, "a boolean");
}

/** A whole number of at least `least`. */
export function checkOptionalCount(value: unknown, argument: string, least: number): void {
  if (value !== undefined && !(typeof value === "number" && Number.isSafeInteger(value) && value >= least)) {
    throw wrong(argument, `a whole number of at least ${least}`);
  }
}

export function checkOptionalFunction(value: unknown, argument: string): void {
  if (value !== undefined && typeof value !== "function") throw wrong(argument, "a function");
}

export function wrong(argument: string, expected: string): InvalidArgumentError {
  return new InvalidArgumentError(`${argument} must be ${expected}`, { remedy: `Pass ${expected} as ${argument}.` });
}
