import { InvalidArgumentError } from "@moraine/codec";
import { limits } from "./limits.js";
import type { ParquetFooter } from "./parquet/footer.js";

/**
 * Parsed footers of recently read files, by place, path and size: data files never change. Callers that ask for the same
 * footer at once share one read; a failed read is forgotten, so the next caller tries again.
 */
export class FooterCache {
  readonly #capacityBytes: number;
  readonly #footers = new Map<string, Promise<ParquetFooter>>();
  readonly #sizes = new Map<string, number>();
  #bytes = 0;

  constructor(capacityBytes: number = limits.footerCacheBytes) {
    if (!Number.isSafeInteger(capacityBytes) || capacityBytes < 0) {
      throw new InvalidArgumentError("capacityBytes is not a number of bytes", {
        remedy: "Pass a whole number of 0 or more.",
      });
    }
    this.#capacityBytes = capacityBytes;
  }

  /** Bytes that the cached footers take in their files. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The footer under `key`, read by `read` if it is not there. */
  get(key: string, read: () => Promise<ParquetFooter>): Promise<ParquetFooter> {
    const cached = this.#footers.get(key);
    if (cached !== undefined) {
      // Moved to the end: the map's order is the order of use.
      this.#footers.delete(key);
      this.#footers.set(key, cached);
      return cached;
    }
    const reading = this.#fill(key, read);
    this.#footers.set(key, reading);
    return reading;
  }

  async #fill(key: string, read: () => Promise<ParquetFooter>): Promise<ParquetFooter> {
    try {
      const footer = await read();
      this.#admit(key, footer.sizeBytes);
      return footer;
    } catch (error) {
      this.#footers.delete(key);
      throw error;
    }
  }

  #admit(key: string, sizeBytes: number): void {
    this.#sizes.set(key, sizeBytes);
    this.#bytes += sizeBytes;
    for (const oldest of this.#footers.keys()) {
      if (this.#bytes <= this.#capacityBytes) return;
      const size = this.#sizes.get(oldest);
      if (size === undefined) continue; // still being read
      this.#footers.delete(oldest);
      this.#sizes.delete(oldest);
      this.#bytes -= size;
    }
  }
}
