import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type DataStoreOptions, openDataStore } from "../../src/data/open-data-store.js";
import type { DataStore } from "../../src/interface.js";
import { hasS3Server, startS3Server } from "../s3-server.js";

/** A place where data stores can be opened. */
export interface StartedBackend {
  /** Opens a store on the same contents as every other one of this backend. */
  open(options?: DataStoreOptions): Promise<DataStore>;
  stop(): Promise<void>;
}

export interface Backend {
  readonly name: string;
  readonly available: boolean;
  readonly start: () => Promise<StartedBackend>;
}

/** Every kind of data store, for suites that all of them must pass. */
export function allBackends(tests: string): Backend[] {
  return [
    { name: "memory", available: true, start: startMemory },
    { name: "file", available: true, start: startFile },
    { name: "s3", available: hasS3Server(tests), start: startS3 },
  ];
}

function startMemory(): Promise<StartedBackend> {
  const url = `memory://${randomUUID()}`;
  return Promise.resolve({
    open: (options) => openDataStore(url, options),
    stop: () => Promise.resolve(),
  });
}

async function startFile(): Promise<StartedBackend> {
  const folder = await mkdtemp(join(tmpdir(), "moraine-data-"));
  return {
    open: (options) => openDataStore(`file://${folder}/lake %41 é`, options),
    stop: () => rm(folder, { recursive: true, force: true }),
  };
}

async function startS3(): Promise<StartedBackend> {
  const server = await startS3Server();
  await server.createBucket("lake");
  const s3 = { endpoint: server.endpoint, region: server.region, credentials: server.credentials };
  return {
    open: (options) => openDataStore("s3://lake/some/prefix/", { ...options, s3 }),
    stop: () => server.stop(),
  };
}
