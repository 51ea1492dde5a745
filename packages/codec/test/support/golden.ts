import { readFileSync } from "node:fs";
import type { IndexColumn, IndexLayout, IndexValue, IndexValueType } from "../../src/index.js";

/** One of the files under `golden/`. The caller says what it holds. */
export function readGolden<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(`../../../../golden/${name}`, import.meta.url), "utf8")) as T;
}

export function fromHex(hex: string): Uint8Array {
  return Uint8Array.from(Buffer.from(hex, "hex"));
}

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** A JSON value of a golden file: integers become `bigint`, `{hex}` bytes, `{bits}` floats, `{bigint}` what it says. */
export function revive(value: unknown): unknown {
  if (typeof value === "number") return BigInt(value);
  if (Array.isArray(value)) return value.map(revive);
  if (typeof value !== "object" || value === null) return value;
  const record = value as Record<string, unknown>;
  if (typeof record["hex"] === "string") return fromHex(record["hex"]);
  if (typeof record["bits"] === "string") return floatOf(fromHex(record["bits"]));
  if (typeof record["bigint"] === "string") return BigInt(record["bigint"]);
  return Object.fromEntries(Object.entries(record).map(([name, field]) => [name, revive(field)]));
}

function floatOf(bits: Uint8Array): number {
  const view = new DataView(bits.buffer);
  return bits.length === 4 ? view.getFloat32(0) : view.getFloat64(0);
}

export interface GoldenColumn extends IndexColumn {
  readonly value?: unknown;
}

/** A value of an index vector. Integers are numbers or decimal strings there. */
export function indexValue(type: IndexValueType, value: unknown): IndexValue {
  if (typeof value === "string" && type !== "string") return BigInt(value);
  return revive(value) as IndexValue;
}

export interface GoldenLayout {
  readonly indexId: number | string;
  readonly unique: boolean;
  readonly columns: readonly GoldenColumn[];
}

export function layoutOf(layout: GoldenLayout): IndexLayout {
  return { indexId: BigInt(layout.indexId), unique: layout.unique, columns: layout.columns };
}
