import { ConfigurationError } from "@moraine/codec";
import { checkCount } from "./arguments.js";
import type { Backend } from "./backend.js";
import { chooseLoops } from "./choose-loops.js";
import type { S3Options } from "./data/s3-client.js";
import { FileBackend } from "./file-backend.js";
import type { FlushPolicy, ReadableStore, ReaderOptions, StoreOptions, WritableStore } from "./interface.js";
import { limits } from "./limits.js";
import { parseLocation } from "./location.js";
import type { StoreLoops } from "./loops.js";
import { memoryBackend } from "./memory-backend.js";
import { SlateReader } from "./reader.js";
import { S3Backend } from "./s3-backend.js";
import { SlateWriter } from "./writer.js";

/**
 * Opens a store for writing and makes it where there is none. A writer that had it open is fenced by this.
 *
 * `url`: `memory://name`, `file:///path`, a path, or `s3://bucket/prefix`. Fails with `configuration` (a location, option or
 * environment that cannot work, or a place without conditional writes), `store_unavailable` or `store`.
 */
export async function openStore(url: string, options: StoreOptions = {}): Promise<WritableStore> {
  return openStoreWith(chooseLoops(), url, options);
}

/**
 * Opens a store for reading only; it follows the writer. Fences nobody, and changes nothing but the list of checkpoints in the
 * manifest. Fails with `not_found` where there is no store, with `store_unavailable` where manifests may not be written, else
 * as `openStore`.
 */
export async function openStoreReader(url: string, options: ReaderOptions = {}): Promise<ReadableStore> {
  return openStoreReaderWith(chooseLoops(), url, options);
}

/** `openStore` with loops of one's own, for tests. */
export async function openStoreWith(loops: StoreLoops, url: string, options: StoreOptions): Promise<WritableStore> {
  const requestTimeoutMs = checkedTimeout("requestTimeoutMs", options.requestTimeoutMs, limits.requestTimeoutMs);
  const preflightTimeoutMs = checkedTimeout(
    "preflightTimeoutMs",
    options.preflightTimeoutMs,
    limits.preflightTimeoutMs,
  );
  checkCount("walObjectsPerCheckpoint", options.walObjectsPerCheckpoint, 1);
  const walMinAgeMs = checkedMinAge(options.walMinAgeMs);
  const flushDelayMs = checkedDelay(options.flush ?? "eager");
  if (requestTimeoutMs + flushDelayMs > walMinAgeMs / 4) {
    throw new ConfigurationError(
      `requestTimeoutMs and the flush interval are more than ${walMinAgeMs / 4} ms together, a quarter of the time that a writer is trusted unobserved`,
      { remedy: "Use a shorter timeout or interval." },
    );
  }
  const backend = openBackend(loops, url, requestTimeoutMs, options.s3);
  try {
    await backend.prepareForWriting(preflightTimeoutMs);
    return await SlateWriter.open(backend, loops, {
      requestTimeoutMs,
      walMinAgeMs,
      flushDelayMs,
      walObjectsPerCheckpoint: options.walObjectsPerCheckpoint ?? limits.walObjectsPerCheckpoint,
      blockCache: options.blockCache ?? true,
      onFailure: options.onFailure,
      now: options.now ?? Date.now,
    });
  } catch (error) {
    backend.close();
    throw error;
  }
}

/** `openStoreReader` with loops of one's own, for tests. */
export async function openStoreReaderWith(
  loops: StoreLoops,
  url: string,
  options: ReaderOptions,
): Promise<ReadableStore> {
  const requestTimeoutMs = checkedTimeout("requestTimeoutMs", options.requestTimeoutMs, limits.requestTimeoutMs);
  const preflightTimeoutMs = checkedTimeout(
    "preflightTimeoutMs",
    options.preflightTimeoutMs,
    limits.preflightTimeoutMs,
  );
  const pollIntervalMs = checkedTimeout("pollIntervalMs", options.pollIntervalMs, limits.readerPollIntervalMs);
  const backend = openBackend(loops, url, requestTimeoutMs, options.s3);
  try {
    await backend.prepareForReading(preflightTimeoutMs);
    return await SlateReader.open(backend, loops, { pollIntervalMs, requestTimeoutMs });
  } catch (error) {
    backend.close();
    throw error;
  }
}

function openBackend(loops: StoreLoops, url: string, requestTimeoutMs: number, s3: S3Options = {}): Backend {
  const location = parseLocation(url);
  switch (location.kind) {
    case "memory":
      return memoryBackend(location);
    case "file":
      return new FileBackend(location, loops.folders);
    case "s3":
      return new S3Backend(location, { requestTimeoutMs, pooledConnections: loops.pooledConnections, s3 });
  }
}

function checkedTimeout(name: string, value: number | undefined, usual: number): number {
  checkCount(name, value, 1);
  return value ?? usual;
}

function checkedMinAge(value: number | undefined): number {
  checkCount("walMinAgeMs", value, 1);
  if (value !== undefined && value < limits.walMinAgeMs) {
    throw new ConfigurationError(`walMinAgeMs is ${value}, less than ${limits.walMinAgeMs}`, {
      remedy: "Leave it out: a shorter age lets a suspended writer acknowledge writes that are lost.",
    });
  }
  return value ?? limits.walMinAgeMs;
}

function checkedDelay(policy: FlushPolicy): number {
  if (policy === "eager") return 0;
  checkCount("flush.intervalMs", policy.intervalMs, 1);
  return policy.intervalMs;
}
