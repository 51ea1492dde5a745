/**
 * What was made of recently read files, by what identifies them: files that a catalog names never change. Keeps those that were used
 * last. Callers that ask for the same at once share one read; a failed read is forgotten, so the next caller tries again.
 */
export class FileCache<T> {
  readonly #capacityBytes: number;
  readonly #bytesOf: (value: T) => number;
  /** In the order of use. */
  readonly #values = new Map<string, Promise<T>>();
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  constructor(capacityBytes: number, bytesOf: (value: T) => number) {
    this.#capacityBytes = capacityBytes;
    this.#bytesOf = bytesOf;
  }

  /** Bytes of what is kept. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The value under `key`, read by `read` if it is not there. */
  get(key: string, read: () => Promise<T>): Promise<T> {
    const cached = this.#values.get(key);
    if (cached !== undefined) {
      this.#values.delete(key);
      this.#values.set(key, cached);
      return cached;
    }
    const reading = this.#fill(key, read);
    this.#values.set(key, reading);
    return reading;
  }

  async #fill(key: string, read: () => Promise<T>): Promise<T> {
    try {
      const value = await read();
      this.#admit(key, this.#bytesOf(value));
      return value;
    } catch (error) {
      this.#values.delete(key);
      throw error;
    }
  }

  #admit(key: string, sizeBytes: number): void {
    // One that has no room takes no other's place.
    if (sizeBytes > this.#capacityBytes) {
      this.#values.delete(key);
      return;
    }
    this.#sizes.set(key, sizeBytes);
    this.#bytes += sizeBytes;
    for (const oldest of this.#values.keys()) {
      if (this.#bytes <= this.#capacityBytes) return;
      const size = this.#sizes.get(oldest);
      if (size === undefined) continue; // still being read
      this.#values.delete(oldest);
      this.#sizes.delete(oldest);
      this.#bytes -= size;
    }
  }
}
