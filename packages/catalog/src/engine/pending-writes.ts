import {
  type BatchBuilder,
  keyAt,
  type KeyRange,
  type PackedKeys,
  type PackedValues,
  type ReadView,
  packValues,
  rowKey,
  rowValue,
  type RowBlock,
  type ScanOptions,
  valueAt,
} from "@moraine/store";

/** A write of one key, as callers see it. */
export interface RecordWrite {
  readonly key: Uint8Array;
  /** `undefined` for a delete. */
  readonly value: Uint8Array | undefined;
}

/** A write of one key; `text` is the key as `keyText` gives it. */
interface Write extends RecordWrite {
  readonly text: string;
}

/** The records that one commit puts and deletes, the last write of a key winning. */
export class WriteSet {
  /** What comes later wins: writes by the text of their key, and lists of deletes that are kept as they came. */
  readonly #parts: (Map<string, Write> | PackedKeys)[] = [];

  put(key: Uint8Array, value: Uint8Array): void {
    this.#add({ text: keyText(key), key, value });
  }

  delete(key: Uint8Array): void {
    this.#add({ text: keyText(key), key, value: undefined });
  }

  /** Deletes many keys, without an object or a string for each. They are not copied. */
  deletePacked(keys: PackedKeys): void {
    if (keys.ends.length > 0) this.#parts.push(keys);
  }

  get isEmpty(): boolean {
    return this.#parts.length === 0;
  }

  /** Takes over the writes of a later commit. Records that every commit rewrites, such as a table's statistics, are then written once. */
  addAll(later: WriteSet): void {
    for (const part of later.#parts) {
      if (part instanceof Map) for (const write of part.values()) this.#add(write);
      else this.#parts.push(part);
    }
  }

  appendTo(batch: BatchBuilder): void {
    for (const part of this.#parts) {
      if (!(part instanceof Map)) {
        batch.deletePacked(part);
        continue;
      }
      for (const { key, value } of part.values()) {
        if (value === undefined) batch.delete(key);
        else batch.put(key, value);
      }
    }
  }

  /** The write that counts of each key, in the order in which keys came first. */
  writes(): Iterable<RecordWrite> {
    const merged = new Map<string, Write>();
    this.mergeInto(merged);
    return merged.values();
  }

  /** Lays the writes over those of earlier commits. */
  mergeInto(merged: Map<string, Write>): void {
    for (const part of this.#parts) {
      if (part instanceof Map) {
        for (const write of part.values()) merged.set(write.text, write);
        continue;
      }
      for (let i = 0; i < part.ends.length; i++) {
        const key = keyAt(part, i);
        const text = keyText(key);
        merged.set(text, { text, key, value: undefined });
      }
    }
  }

  #add(write: Write): void {
    let last = this.#parts.at(-1);
    if (!(last instanceof Map)) this.#parts.push((last = new Map<string, Write>()));
    last.set(write.text, write);
  }
}

/** A key as a string of its bytes: strings hash and compare quickly, and in the order of the bytes. */
function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}

/**
 * Records of commits that are staged and not durable yet. A commit that is prepared on top of them reads the store through
 * `over`, and so sees what they will have written.
 */
export class PendingWrites {
  readonly #parent: PendingWrites | undefined;
  readonly #sets = new Set<WriteSet>();

  constructor(parent?: PendingWrites) {
    this.#parent = parent;
  }

  /** Pending writes of their own on top of these, for commits that are not staged yet. */
  fork(): PendingWrites {
    return new PendingWrites(this);
  }

  add(writes: WriteSet): void {
    if (!writes.isEmpty) this.#sets.add(writes);
  }

  remove(writes: WriteSet): void {
    this.#sets.delete(writes);
  }

  /** The store as it will be when everything pending at this moment has landed. */
  over(view: ReadView): ReadView {
    const merged = new Map<string, Write>();
    this.#mergeInto(merged);
    return merged.size === 0 ? view : new OverlayView(view, merged);
  }

  #mergeInto(merged: Map<string, Write>): void {
    if (this.#parent !== undefined) this.#parent.#mergeInto(merged);
    for (const writes of this.#sets) writes.mergeInto(merged);
  }
}

class OverlayView implements ReadView {
  readonly #base: ReadView;
  readonly #entries: ReadonlyMap<string, Write>;

  constructor(base: ReadView, entries: ReadonlyMap<string, Write>) {
    this.#base = base;
    this.#entries = entries;
  }

  async getMany(keys: PackedKeys): Promise<PackedValues> {
    const below = await this.#base.getMany(keys);
    const values: (Uint8Array | undefined)[] = [];
    for (let i = 0; i < keys.ends.length; i++) {
      const entry = this.#entries.get(keyText(keyAt(keys, i)));
      values.push(entry === undefined ? valueAt(below, i) : entry.value);
    }
    return packValues(values);
  }

  async *scan(range: KeyRange, options: ScanOptions = {}): AsyncIterableIterator<RowBlock> {
    const reverse = options.reverse === true;
    const sign = reverse ? -1 : 1;
    const start = range.start === undefined ? undefined : keyText(range.start);
    const end = range.end === undefined ? undefined : keyText(range.end);
    const above = [...this.#entries.values()]
      .filter(({ text }) => (start === undefined || text >= start) && (end === undefined || text < end))
      .sort((a, b) => (a.text < b.text ? -sign : sign));
    let remaining = options.limit ?? Number.POSITIVE_INFINITY;
    let next = 0;
    // The limit is applied to the merged rows: overlay deletes must not shorten the answer.
    for await (const block of this.#base.scan(range, { ...options, limit: Number.MAX_SAFE_INTEGER })) {
      const rows: { key: Uint8Array; value: Uint8Array }[] = [];
      for (let i = 0; i < block.count && rows.length < remaining; i++) {
        const key = rowKey(block, i);
        const text = keyText(key);
        let entry = above[next];
        while (entry !== undefined && entry.text !== text && entry.text < text !== reverse) {
          if (entry.value !== undefined) rows.push({ key: entry.key, value: entry.value });
          next += 1;
          entry = above[next];
        }
        if (entry !== undefined && entry.text === text) {
          if (entry.value !== undefined) rows.push({ key, value: entry.value });
          next += 1;
        } else {
          rows.push({ key, value: rowValue(block, i) });
        }
      }
      rows.length = Math.min(rows.length, remaining);
      remaining -= rows.length;
      if (rows.length > 0) yield packRows(rows);
      if (remaining <= 0) return;
    }
    const rest = above.slice(next).flatMap(({ key, value }) => (value === undefined ? [] : [{ key, value }]));
    rest.length = Math.min(rest.length, remaining);
    if (rest.length > 0) yield packRows(rest);
  }
}

function packRows(rows: readonly { readonly key: Uint8Array; readonly value: Uint8Array }[]): RowBlock {
  let bytes = 0;
  for (const { key, value } of rows) bytes += key.byteLength + value.byteLength;
  const data = new Uint8Array(bytes);
  const ends = new Uint32Array(rows.length * 2);
  let offset = 0;
  rows.forEach(({ key, value }, i) => {
    data.set(key, offset);
    offset += key.byteLength;
    ends[2 * i] = offset;
    data.set(value, offset);
    offset += value.byteLength;
    ends[2 * i + 1] = offset;
  });
  return { count: rows.length, data, ends };
}
