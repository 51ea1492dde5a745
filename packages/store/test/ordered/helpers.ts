import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
  BatchBuilder,
  collectRows,
  type ReadView,
  type ScanOptions,
  type WritableStore,
  type WriteReceipt,
} from "../../src/index.js";

export function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

export function text(value: Uint8Array | undefined): string | undefined {
  return value === undefined ? undefined : new TextDecoder().decode(value);
}

/** Writes entries as one batch; `undefined` deletes. */
export function write(store: WritableStore, entries: Record<string, string | undefined>): Promise<WriteReceipt> {
  const batch = new BatchBuilder();
  for (const [key, value] of Object.entries(entries)) {
    if (value === undefined) batch.delete(bytes(key));
    else batch.put(bytes(key), bytes(value));
  }
  return store.write(batch.finish());
}

/** Rows of a scan as `key=value`. */
export async function rows(view: ReadView, start?: string, end?: string, options?: ScanOptions): Promise<string[]> {
  const range = {
    start: start === undefined ? undefined : bytes(start),
    end: end === undefined ? undefined : bytes(end),
  };
  const found = await collectRows(view.scan(range, options));
  return found.map(({ key, value }) => `${text(key)}=${text(value)}`);
}

/** A folder that is removed when the test has finished. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "moraine-store-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  return folder;
}

/** Closes a store when the test has finished, whatever state it is in. */
export function closing<T extends { close(): Promise<void> }>(store: T): T {
  onTestFinished(() => store.close().catch(() => undefined));
  return store;
}
