import { InvalidArgumentError } from "@moraine/codec";
import { absent, type PackedKeys, type WriteBatch } from "./interface.js";
import { limits } from "./limits.js";

/**
 * Builds a `WriteBatch` in one growing buffer. Bytes are copied when they are added, so the caller may reuse its own.
 * A builder is finished once; later additions are refused, because the batch shares its buffer.
 */
export class BatchBuilder {
  #data: Uint8Array;
  #ends = new Uint32Array(64);
  #count = 0;
  #bytes = 0;
  #finished = false;

  constructor(initialCapacityBytes: number = limits.batchInitialBytes) {
    if (!Number.isSafeInteger(initialCapacityBytes) || initialCapacityBytes < 0) {
      throw new InvalidArgumentError("initialCapacityBytes is not a size in bytes", {
        remedy: "Give a whole number from 0.",
      });
    }
    this.#data = new Uint8Array(initialCapacityBytes);
  }

  /** Entries added so far, repeated keys counted each time. */
  get count(): number {
    return this.#count;
  }

  /** Bytes of keys and values added so far. */
  get bytes(): number {
    return this.#bytes;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.putRange(key, 0, key.length, value, 0, value.length);
  }

  /** A put whose key and value are parts of larger buffers: no view has to be made for them. */
  putRange(
    keySource: Uint8Array,
    keyStart: number,
    keyEnd: number,
    valueSource: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    const keyLength = this.#checkKey(keySource, keyStart, keyEnd);
    const valueLength = valueEnd - valueStart;
    if (valueStart < 0 || valueLength < 0 || valueEnd > valueSource.length) throw outOfBuffer("value");
    if (valueLength > limits.valueBytes) {
      throw new InvalidArgumentError(`a value has ${valueLength} bytes, more than ${limits.valueBytes}`, {
        remedy: "Split the value over several keys.",
      });
    }
    this.#reserve(keyLength + valueLength);
    this.#append(keySource, keyStart, keyLength);
    this.#ends[2 * this.#count] = this.#bytes;
    this.#append(valueSource, valueStart, valueLength);
    this.#ends[2 * this.#count + 1] = this.#bytes;
    this.#count += 1;
  }

  delete(key: Uint8Array): void {
    this.deleteRange(key, 0, key.length);
  }

  /** A delete whose key is part of a larger buffer. */
  deleteRange(keySource: Uint8Array, keyStart: number, keyEnd: number): void {
    const keyLength = this.#checkKey(keySource, keyStart, keyEnd);
    this.#reserve(keyLength);
    this.#append(keySource, keyStart, keyLength);
    this.#ends[2 * this.#count] = this.#bytes;
    this.#ends[2 * this.#count + 1] = absent;
    this.#count += 1;
  }

  /** Puts every key with its value; without `values` each value is empty. */
  putPacked(keys: PackedKeys, values?: PackedKeys): void {
    if (values !== undefined && values.ends.length !== keys.ends.length) {
      throw new InvalidArgumentError(`values has ${values.ends.length} entries for ${keys.ends.length} keys`, {
        remedy: "Give one value for each key.",
      });
    }
    let keyStart = 0;
    let valueStart = 0;
    for (let i = 0; i < keys.ends.length; i++) {
      const keyEnd = keys.ends[i]!;
      if (values === undefined) {
        this.putRange(keys.data, keyStart, keyEnd, empty, 0, 0);
      } else {
        const valueEnd = values.ends[i]!;
        this.putRange(keys.data, keyStart, keyEnd, values.data, valueStart, valueEnd);
        valueStart = valueEnd;
      }
      keyStart = keyEnd;
    }
  }

  deletePacked(keys: PackedKeys): void {
    let start = 0;
    for (const end of keys.ends) {
      this.deleteRange(keys.data, start, end);
      start = end;
    }
  }

  finish(): WriteBatch {
    this.#checkOpen();
    this.#finished = true;
    const batch: WriteBatch = {
      count: this.#count,
      data: this.#data.subarray(0, this.#bytes),
      ends: this.#ends.subarray(0, 2 * this.#count),
    };
    built.add(batch);
    return batch;
  }

  #checkOpen(): void {
    if (this.#finished) {
      throw new InvalidArgumentError("the batch is already finished", { remedy: "Start a new BatchBuilder." });
    }
  }

  #checkKey(source: Uint8Array, start: number, end: number): number {
    this.#checkOpen();
    const length = end - start;
    if (start < 0 || length < 0 || end > source.length) throw outOfBuffer("key");
    if (length === 0) throw new InvalidArgumentError("a key is empty", { remedy: "Give every key at least one byte." });
    if (length > limits.keyBytes) {
      throw new InvalidArgumentError(`a key has ${length} bytes, more than ${limits.keyBytes}`, {
        remedy: "Use a shorter key.",
      });
    }
    return length;
  }

  #reserve(more: number): void {
    const needed = this.#bytes + more;
    if (needed > limits.packedBytes) {
      throw new InvalidArgumentError(`a batch would hold ${needed} bytes, more than ${limits.packedBytes}`, {
        remedy: "Write several smaller batches.",
      });
    }
    if (needed > this.#data.length) {
      const grown = new Uint8Array(Math.min(limits.packedBytes, Math.max(needed, this.#data.length * 2)));
      grown.set(this.#data.subarray(0, this.#bytes));
      this.#data = grown;
    }
    if (2 * this.#count + 2 > this.#ends.length) {
      const grown = new Uint32Array(this.#ends.length * 2);
      grown.set(this.#ends);
      this.#ends = grown;
    }
  }

  #append(source: Uint8Array, start: number, length: number): void {
    // A call to `set` needs a view; for the short keys and values of an index a plain loop is cheaper than making one.
    if (length <= 64) {
      const data = this.#data;
      const at = this.#bytes;
      for (let i = 0; i < length; i++) data[at + i] = source[start + i]!;
    } else {
      this.#data.set(source.subarray(start, start + length), this.#bytes);
    }
    this.#bytes += length;
  }
}

const empty = new Uint8Array(0);

const built = new WeakSet<WriteBatch>();

/** Whether a builder made the batch, which has then checked every entry: a million of them take longer than other work may wait. */
export function isBuilt(batch: WriteBatch): boolean {
  return built.has(batch);
}

function outOfBuffer(what: string): InvalidArgumentError {
  return new InvalidArgumentError(`a ${what} reaches outside its buffer`, { remedy: "Check the offsets." });
}
