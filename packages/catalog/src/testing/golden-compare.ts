import {
  type EntityValue,
  type MessageType,
  SnapshotValue,
  decodeKey,
  decodeValue,
  encodeValue,
  entityMessages,
} from "@moraine/codec";
import { parseChanges } from "../model/changes-text.js";
import type { GoldenItem } from "./golden-data.js";
import { fromHex, type RecordedBatch, toHex } from "./records.js";

/** The time that stands in every snapshot record of the scripts. */
const goldenTimeMicros = 1_700_000_000_000_000n;

/** Times below this are arguments of the call, and are compared. */
const firstClockMicros = 1_650_000_000_000_000n;

type Named = EntityValue["schema" | "table" | "view"];

/**
 * Puts the fixed values of golden/README.md in place of what differs from run to run: uuids by first appearance in
 * the script, batches in order and keys in byte order, and clock times. Keeps count over the batches of one script.
 */
export class GoldenNormaliser {
  readonly #uuids = new Map<string, string>();

  normalise(puts: ReadonlyMap<string, Uint8Array>): Map<string, string> {
    const out = new Map<string, string>();
    for (const hex of [...puts.keys()].sort()) {
      const bytes = puts.get(hex) as Uint8Array;
      out.set(hex, toHex(this.#value(hex, bytes)));
    }
    return out;
  }

  #value(hex: string, bytes: Uint8Array): Uint8Array {
    const key = decodeKey(fromHex(hex));
    if (key.subspace === "snapshot") {
      const value = decodeValue(SnapshotValue, bytes);
      const changesMade = referenceChanges(value.changesMade);
      const isClock = value.snapshotTimeMicros >= firstClockMicros;
      const snapshotTimeMicros = isClock ? goldenTimeMicros : value.snapshotTimeMicros;
      return encodeValue(SnapshotValue, { ...value, changesMade, snapshotTimeMicros });
    }
    if (key.subspace !== "current" && key.subspace !== "history") return bytes;
    const { kind } = key.entity;
    if (kind !== "schema" && kind !== "table" && kind !== "view") return bytes;
    const message: MessageType<Named> = entityMessages[kind];
    const value = decodeValue(message, bytes);
    return encodeValue(
      message,
      withUuid(value, (uuid) => this.#uuid(uuid)),
    );
  }

  #uuid(uuid: string): string {
    if (uuid.startsWith("5eed")) return uuid;
    const known = this.#uuids.get(uuid);
    if (known !== undefined) return known;
    const fixed = `00000000-0000-4000-8000-${String(this.#uuids.size + 1).padStart(12, "0")}`;
    this.#uuids.set(uuid, fixed);
    return fixed;
  }
}

/** The reference does not tell changes of inlined rows from others. */
function referenceChanges(text: string): string {
  const told = text.replaceAll(/,inlined_delete:\d+/gu, "").replaceAll(/\binline_flush:/gu, "merge_adjacent:");
  return parseChanges(told).toText();
}

function withUuid(value: Named, fixed: (uuid: string) => string): Named {
  if ("schemaUuid" in value) return { ...value, schemaUuid: fixed(value.schemaUuid) };
  if ("tableUuid" in value) return { ...value, tableUuid: fixed(value.tableUuid) };
  return { ...value, viewUuid: fixed(value.viewUuid) };
}

/** What a batch of a script holds, in the form that two sides can be compared in. */
export interface ComparableBatch {
  /** Key and value in hex, in key order. */
  readonly puts: readonly (readonly [key: string, value: string])[];
  /** Keys that were live, in key order. */
  readonly deletes: readonly string[];
}

/** The batch that the reference wrote, as far as `includes` takes its keys. */
export function expectedBatch(item: GoldenItem, includes: (keyHex: string) => boolean): ComparableBatch {
  const puts = (item.puts ?? []).map((put): [string, string] => [put.key, put.value]).filter(([key]) => includes(key));
  return { puts: sorted(puts), deletes: [...(item.deletes ?? [])].filter(includes).sort() };
}

/** Our own batch. Deletes of keys that were not live have no effect and are left out. */
export function actualBatch(
  batch: RecordedBatch,
  normaliser: GoldenNormaliser,
  isLive: (keyHex: string) => boolean,
  includes: (keyHex: string) => boolean,
): ComparableBatch {
  const puts = [...normaliser.normalise(batch.puts)].filter(([key]) => includes(key));
  return { puts: sorted(puts), deletes: [...batch.deletes].filter((key) => isLive(key) && includes(key)).sort() };
}

function sorted(puts: readonly (readonly [string, string])[]): (readonly [string, string])[] {
  return [...puts].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}
