import {
  type EntityValue,
  type MessageType,
  GcFileValue,
  HeadValue,
  SnapshotValue,
  decodeKey,
  decodeValue,
  entityMessages,
  snapshotKey,
  sysHeadKey,
} from "@moraine/codec";
import type { BatchSink } from "../model/diff.js";
import { stateAt } from "../model/state-at.js";
import { CatalogState, type LoadedEntity } from "../model/state.js";

export const toHex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
export const fromHex = (hex: string): Uint8Array => new Uint8Array(Buffer.from(hex, "hex"));

/** One batch, held in memory: what a commit put and what it deleted, by key in hex. */
export class RecordedBatch implements BatchSink {
  readonly puts = new Map<string, Uint8Array>();
  readonly deletes = new Set<string>();

  put(key: Uint8Array, value: Uint8Array): void {
    this.puts.set(toHex(key), value);
  }

  delete(key: Uint8Array): void {
    this.deletes.add(toHex(key));
  }
}

/** The records of a store, by key in hex. */
export class Records {
  readonly values = new Map<string, Uint8Array>();

  apply(batch: RecordedBatch): void {
    for (const key of batch.deletes) this.values.delete(key);
    for (const [key, value] of batch.puts) this.values.set(key, value);
  }

  /** The state at the head, read from scratch. */
  head(): CatalogState {
    const head = this.#read(HeadValue, sysHeadKey);
    const snapshot = this.#read(SnapshotValue, snapshotKey(head.snapshotId));
    const { current, gcFiles } = this.#entities();
    return CatalogState.load(current, gcFiles, snapshot, head.batchSeq);
  }

  /** The state at a past snapshot, read from scratch. */
  at(snapshotId: bigint): CatalogState {
    const { current, history, gcFiles } = this.#entities();
    const { batchSeq } = this.#read(HeadValue, sysHeadKey);
    return stateAt([...history, ...current], gcFiles, this.#read(SnapshotValue, snapshotKey(snapshotId)), batchSeq);
  }

  #read<T>(type: MessageType<T>, key: Uint8Array): T {
    const value = this.values.get(toHex(key));
    if (value === undefined) throw new Error(`no record under ${toHex(key)}`);
    return decodeValue(type, value);
  }

  #entities(): { current: LoadedEntity[]; history: LoadedEntity[]; gcFiles: GcFileValue[] } {
    const current: LoadedEntity[] = [];
    const history: LoadedEntity[] = [];
    const gcFiles: GcFileValue[] = [];
    for (const [hex, bytes] of this.values) {
      const key = decodeKey(fromHex(hex));
      if (key.subspace === "gc_file") gcFiles.push(decodeValue(GcFileValue, bytes));
      if (key.subspace !== "current" && key.subspace !== "history") continue;
      const message: MessageType<EntityValue[keyof EntityValue]> = entityMessages[key.entity.kind];
      const value = decodeValue(message, bytes);
      (key.subspace === "current" ? current : history).push({ key: key.entity, value });
    }
    return { current, history, gcFiles };
  }
}
