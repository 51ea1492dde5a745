import { stat } from "node:fs/promises";
import { ConfigurationError, describePath, InvalidArgumentError } from "@moraine/codec";
import type { DataStore } from "../interface.js";
import { dataLimits } from "./limits.js";
import { LocalDataStore } from "./local-data-store.js";
import { isAbsent, localFailure } from "./local-errors.js";
import { parseDataLocation } from "./location.js";
import { MemoryDataStore } from "./memory-data-store.js";
import { type S3Options, createS3Client } from "./s3-client.js";

export interface DataStoreOptions {
  /** S3: time of one request, its retries included. Default `dataLimits.requestTimeoutMs`. */
  readonly requestTimeoutMs?: number;
  /** S3: silence after which a read is cut and tried again. Default `dataLimits.stallTimeoutMs`. */
  readonly stallTimeoutMs?: number;
  /** S3: tries of one request, the first included. Default `dataLimits.requestAttempts`. */
  readonly requestAttempts?: number;
  /** Requests in flight of this store. Default `dataLimits.s3RequestsInFlight` or `localRequestsInFlight`. */
  readonly requestsInFlight?: number;
  /** Unwanted bytes between two ranges that are read to save a request. Default `dataLimits.s3GapBytes` or `localGapBytes`. */
  readonly gapBytes?: number;
  /** Longest single read; longer ranges are split. Default `dataLimits.s3ReadBytes` or `localReadBytes`. */
  readonly readBytes?: number;
  /** Local: files kept open. Default `dataLimits.openFiles`. */
  readonly openFiles?: number;
  /** S3: endpoint, region, credentials. Default: the environment and the AWS configuration files. */
  readonly s3?: S3Options;
}

/** `setTimeout` fires at once for anything longer. */
const longestTimerMs = 0x7fff_ffff;

const smallest = {
  requestTimeoutMs: 1,
  stallTimeoutMs: 1,
  requestAttempts: 1,
  requestsInFlight: 1,
  gapBytes: 0,
  readBytes: 1,
  openFiles: 1,
} as const;

/**
 * Opens byte-range access to data files: `file:///abs/path`, a plain path, `s3://bucket/prefix`, or `memory://name` (in this
 * process, for tests). Nothing is percent-decoded. A local folder need not exist: the first put creates it. S3 is not asked
 * anything yet; a wrong endpoint, bucket or key shows at the first call, within the request timeout.
 * Fails with `invalid_argument`, `configuration`, `unsupported` or `store_unavailable`.
 *
 * @example
 * const store = await openDataStore("s3://lake/data", { s3: { endpoint: "http://127.0.0.1:7070" } });
 * const { sizeBytes } = await store.head("main/orders/0001.parquet");
 * const [footer] = await store.readRanges("main/orders/0001.parquet", [{ offset: sizeBytes - 8, length: 8 }]);
 * await store.close();
 */
export async function openDataStore(url: string, options: DataStoreOptions = {}): Promise<DataStore> {
  checkOptions(options);
  const location = parseDataLocation(url);
  switch (location.kind) {
    case "file":
      await checkFolder(url, location.root);
      return new LocalDataStore(url, location.root, {
        requestsInFlight: options.requestsInFlight ?? dataLimits.localRequestsInFlight,
        gapBytes: options.gapBytes ?? dataLimits.localGapBytes,
        readBytes: options.readBytes ?? dataLimits.localReadBytes,
        openFiles: options.openFiles ?? dataLimits.openFiles,
      });
    case "s3": {
      const requestsInFlight = options.requestsInFlight ?? dataLimits.s3RequestsInFlight;
      const { S3DataStore } = await import("./s3-data-store.js");
      const client = await createS3Client(options.s3 ?? {}, requestsInFlight);
      return new S3DataStore(url, client, location.bucket, location.prefix, {
        requestsInFlight,
        gapBytes: options.gapBytes ?? dataLimits.s3GapBytes,
        readBytes: options.readBytes ?? dataLimits.s3ReadBytes,
        requestTimeoutMs: options.requestTimeoutMs ?? dataLimits.requestTimeoutMs,
        stallTimeoutMs: options.stallTimeoutMs ?? dataLimits.stallTimeoutMs,
        requestAttempts: options.requestAttempts ?? dataLimits.requestAttempts,
      });
    }
    case "memory":
      return new MemoryDataStore(url, location.name, location.prefix, {
        requestsInFlight: options.requestsInFlight ?? dataLimits.memoryRequestsInFlight,
        gapBytes: options.gapBytes ?? dataLimits.localGapBytes,
        readBytes: options.readBytes ?? dataLimits.localReadBytes,
      });
  }
}

function checkOptions(options: DataStoreOptions): void {
  for (const [name, least] of Object.entries(smallest) as [keyof typeof smallest, number][]) {
    const value = options[name];
    if (value !== undefined && (!Number.isSafeInteger(value) || value < least)) {
      throw new InvalidArgumentError(`options.${name} must be a whole number of at least ${least}`, {
        remedy: "Correct the option, or leave it out for its default.",
      });
    }
  }
  for (const name of ["requestTimeoutMs", "stallTimeoutMs"] as const) {
    if ((options[name] ?? 0) > longestTimerMs) {
      throw new InvalidArgumentError(`options.${name} must be at most ${longestTimerMs}`, {
        remedy: "Give a shorter time.",
      });
    }
  }
}

async function checkFolder(url: string, root: string): Promise<void> {
  try {
    if ((await stat(root)).isDirectory()) return;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return;
    if (!isAbsent(error)) throw localFailure(error, { verb: "read", path: "", location: url });
  }
  throw new ConfigurationError(`the data path ${describePath(url)} is, or leads through, a file`, {
    remedy: "Give a folder.",
  });
}
