import type { S3Client } from "@aws-sdk/client-s3";
import type { ObjectStore } from "@slatedb/uniffi";
import { NotFoundError, MoraineError, StoreUnavailableError } from "@moraine/codec";
import type { Backend } from "./backend.js";
import { createS3Client } from "./data/s3-client.js";
import { limits } from "./limits.js";
import type { StoreLocation } from "./location.js";
import { decodeManifest, newestManifestName, type ManifestHead } from "./manifest.js";
import { resolveS3ObjectStore, type S3EngineOptions } from "./s3-environment.js";
import { checkBucket, checkConditionalPut, checkPutAgain, s3Error, statusOf, type S3Target } from "./s3-preflight.js";
import { within } from "./within.js";

/** A store under a prefix of a bucket. Durable means: the service has answered the PUT. */
export class S3Backend implements Backend {
  readonly path: string;
  readonly folder = null;
  readonly location: StoreLocation & { readonly kind: "s3" };
  readonly #options: S3EngineOptions;
  #client: S3Client | null = null;
  #objectStore: ObjectStore | null = null;

  constructor(location: StoreLocation & { readonly kind: "s3" }, options: S3EngineOptions) {
    this.#options = options;
    this.location = location;
    this.path = location.prefix;
  }

  get objectStore(): ObjectStore {
    if (this.#objectStore === null) throw new Error("the place has not been prepared");
    return this.#objectStore;
  }

  prepareForWriting(timeoutMs: number): Promise<void> {
    return this.#timed(timeoutMs, async (target, signal) => {
      await checkBucket(target, this.path, signal);
      await checkConditionalPut(target, this.path, signal);
      this.#objectStore ??= await resolveS3ObjectStore(target.client, target.bucket, this.#options);
    });
  }

  prepareForReading(timeoutMs: number): Promise<void> {
    return this.#timed(timeoutMs, async (target, signal) => {
      await checkBucket(target, this.path, signal);
      const manifest = await this.#newestManifest(target, signal);
      if (manifest === undefined) {
        throw new NotFoundError(`there is no store at ${this.location.url}`, {
          remedy: "Check the location, or open it for writing first.",
        });
      }
      // A reader pins what it reads by a new manifest, and tries for ever where it may not write one.
      await checkPutAgain(target, manifest.key, manifest.bytes, signal);
      this.#objectStore ??= await resolveS3ObjectStore(target.client, target.bucket, this.#options);
    });
  }

  openWriter<T>(open: () => Promise<T>): Promise<T> {
    return open();
  }

  readManifest(): Promise<ManifestHead | undefined> {
    return this.#timed(limits.preflightTimeoutMs, async (target, signal) => {
      const manifest = await this.#newestManifest(target, signal);
      return manifest === undefined ? undefined : decodeManifest(manifest.bytes);
    });
  }

  async diagnose(timeoutMs: number): Promise<MoraineError | undefined> {
    try {
      await this.#timed(timeoutMs, (target, signal) => checkBucket(target, this.path, signal));
      return undefined;
    } catch (error) {
      // Only what will not pass by itself is a reason to give up early; a service that does not answer may come back.
      const status = error instanceof MoraineError ? statusOf(error.cause) : undefined;
      return error instanceof MoraineError && status !== undefined && status < 500 && status !== 429
        ? error
        : undefined;
    }
  }

  close(): void {
    this.#objectStore?.dispose();
    this.#objectStore = null;
    this.#client?.destroy();
    this.#client = null;
  }

  /** Runs requests within a time. The SDK may take its time to notice an abort; the caller's time is kept whatever it does. */
  async #timed<T>(timeoutMs: number, work: (target: S3Target, signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#client ??= await createS3Client(this.#options.s3, limits.s3Sockets);
    const target: S3Target = {
      client: this.#client,
      bucket: this.location.bucket,
      endpoint: await endpointOf(this.#client),
    };
    const controller = new AbortController();
    const tooLate = (): MoraineError => {
      return new StoreUnavailableError(`${target.endpoint} did not answer within ${timeoutMs} ms`, {
        remedy: "Check the endpoint (AWS_ENDPOINT_URL) and the network.",
      });
    };
    try {
      return await within(work(target, controller.signal), timeoutMs, tooLate);
    } catch (error) {
      throw s3Error(error, target);
    } finally {
      controller.abort();
    }
  }

  async #newestManifest(target: S3Target, signal: AbortSignal): Promise<ManifestObject | undefined> {
    const { GetObjectCommand, ListObjectsV2Command, NoSuchKey } = await import("@aws-sdk/client-s3");
    const folder = `${this.path === "" ? "" : `${this.path}/`}manifest/`;
    // A manifest may be collected between listing and reading; then there is a newer one.
    for (let attempt = 1; ; attempt++) {
      const names: string[] = [];
      let token: string | undefined;
      do {
        const page = await target.client.send(
          new ListObjectsV2Command({ Bucket: target.bucket, Prefix: folder, ContinuationToken: token }),
          { abortSignal: signal },
        );
        for (const object of page.Contents ?? []) names.push((object.Key ?? "").slice(folder.length));
        token = page.NextContinuationToken;
      } while (token !== undefined);
      const newest = newestManifestName(names);
      if (newest === undefined) return undefined;
      try {
        const key = folder + newest;
        const command = new GetObjectCommand({ Bucket: target.bucket, Key: key });
        const object = await target.client.send(command, { abortSignal: signal });
        if (object.Body !== undefined) return { key, bytes: await object.Body.transformToByteArray() };
      } catch (error) {
        if (!(error instanceof NoSuchKey) || attempt >= limits.manifestReadAttempts) throw error;
      }
    }
  }
}

interface ManifestObject {
  readonly key: string;
  readonly bytes: Uint8Array;
}

async function endpointOf(client: S3Client): Promise<string> {
  const endpoint = await client.config.endpoint?.();
  if (endpoint === undefined) return "AWS S3";
  return `${endpoint.protocol}//${endpoint.hostname}${endpoint.port === undefined ? "" : `:${endpoint.port}`}`;
}
