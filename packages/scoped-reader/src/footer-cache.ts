import { InvalidArgumentError } from "@moraine/codec";
import { FileCache } from "./file-cache.js";
import { limits } from "./limits.js";
import type { ParquetFooter } from "./parquet/footer.js";

/** Parsed footers of recently read files, by place, path and size. They are measured as they are in their files. */
export class FooterCache extends FileCache<ParquetFooter> {
  constructor(capacityBytes: number = limits.footerCacheBytes) {
    if (!Number.isSafeInteger(capacityBytes) || capacityBytes < 0) {
      throw new InvalidArgumentError("capacityBytes is not a number of bytes", {
        remedy: "Pass a whole number of 0 or more.",
      });
    }
    super(capacityBytes, ({ sizeBytes }) => sizeBytes);
  }
}
