import { Readable } from "node:stream";
import {
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadBucketCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  type ListObjectsV2CommandOutput,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { describePath, NotFoundError, StoreError, StoreUnavailableError } from "@moraine/codec";
import type { ByteRange, DataObject, DataStore } from "../interface.js";
import { checkBytes } from "./arguments.js";
import { Lifetime } from "./lifetime.js";
import { dataLimits } from "./limits.js";
import { type FileAction, describeAction, endsEarly } from "./local-errors.js";
import { checkDataPath, checkDataPrefix, isDataPath } from "./path.js";
import { checkRanges } from "./plan-reads.js";
import { readPlanned } from "./read-ranges.js";
import { TruncatedError } from "./s3-errors.js";
import { RequestRunner, type RequestTry } from "./s3-request.js";
import { Slots } from "./slots.js";

export interface S3DataStoreOptions {
  readonly requestsInFlight: number;
  readonly gapBytes: number;
  readonly readBytes: number;
  readonly requestTimeoutMs: number;
  readonly stallTimeoutMs: number;
  readonly requestAttempts: number;
}

/** Data files below a prefix of a bucket. */
export class S3DataStore implements DataStore {
  readonly location: string;
  readonly #client: S3Client;
  readonly #bucket: string;
  /** Ends with `/` unless empty. */
  readonly #prefix: string;
  readonly #options: S3DataStoreOptions;
  readonly #runner: RequestRunner;
  readonly #slots: Slots;
  readonly #lifetime: Lifetime;

  /** Takes the client over: closing the store destroys it. */
  constructor(location: string, client: S3Client, bucket: string, prefix: string, options: S3DataStoreOptions) {
    this.location = location;
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.#options = options;
    this.#runner = new RequestRunner(options.requestAttempts);
    this.#slots = new Slots(options.requestsInFlight);
    this.#lifetime = new Lifetime(location);
  }

  async head(path: string): Promise<DataObject> {
    checkDataPath(path);
    const action: FileAction = { verb: "read", path, location: this.location };
    return await this.#lifetime.run(async () => {
      try {
        const { ContentLength: sizeBytes } = await this.#request(action, ({ signal }) =>
          this.#client.send(new HeadObjectCommand(this.#target(path)), { abortSignal: signal }),
        );
        if (sizeBytes === undefined) throw unexpected(action, "the server gave no size");
        return { path, sizeBytes };
      } catch (error) {
        // The answer to HEAD has no body, so only a second question tells a missing object from a missing bucket.
        if (error instanceof NotFoundError) await this.#checkBucket(action);
        throw error;
      }
    });
  }

  async readRanges(path: string, ranges: readonly ByteRange[]): Promise<Uint8Array[]> {
    checkDataPath(path);
    checkRanges(ranges);
    const action: FileAction = { verb: "read", path, location: this.location };
    const version: ObjectVersion = { etag: undefined };
    return await this.#lifetime.run(() =>
      readPlanned(
        ranges,
        { ...this.#options, readsInFlight: this.#options.requestsInFlight },
        async (offset, target, stop) => {
          await this.#request(action, (request) => this.#readOnce(action, offset, target, version, request), { stop });
        },
      ),
    );
  }

  async put(path: string, bytes: Uint8Array): Promise<void> {
    checkDataPath(path);
    checkBytes(bytes);
    const action: FileAction = { verb: "write", path, location: this.location };
    const uploadMs = Math.ceil((bytes.length / dataLimits.uploadBytesPerSecond) * 1000);
    await this.#lifetime.run(async () => {
      const { ETag: etag } = await this.#request(
        action,
        ({ signal }) =>
          this.#client.send(new PutObjectCommand({ ...this.#target(path), Body: bytes, ContentLength: bytes.length }), {
            abortSignal: signal,
          }),
        // The SDK does not say how far an upload is, so its silence means nothing.
        { timeoutMs: this.#options.requestTimeoutMs + uploadMs, stallTimeoutMs: Number.POSITIVE_INFINITY },
      );
      // Anything that answers 200 could be taken for success; an S3 server says what it has stored.
      if (etag === undefined) throw unexpected(action, "the server did not confirm the object");
    });
  }

  async delete(path: string): Promise<void> {
    checkDataPath(path);
    const action: FileAction = { verb: "delete", path, location: this.location };
    await this.#lifetime.run(async () => {
      try {
        await this.#request(action, ({ signal }) =>
          this.#client.send(new DeleteObjectCommand(this.#target(path)), { abortSignal: signal }),
        );
      } catch (error) {
        if (!(error instanceof NotFoundError)) throw error;
      }
    });
  }

  async *list(prefix: string): AsyncGenerator<DataObject, void, undefined> {
    checkDataPrefix(prefix);
    const action: FileAction = { verb: "list", path: prefix, location: this.location };
    let token: string | undefined;
    do {
      const page: ListObjectsV2CommandOutput = await this.#lifetime.run(() => this.#listPage(action, prefix, token));
      for (const { Key: key, Size: sizeBytes } of page.Contents ?? []) {
        const path = key?.slice(this.#prefix.length) ?? "";
        // Folder markers (a key that ends with a slash) and keys that are no data paths are not data files.
        if (!isDataPath(path)) continue;
        if (sizeBytes === undefined) throw unexpected(action, "the server gave no size");
        yield { path, sizeBytes };
        if (this.#lifetime.closed) throw this.#lifetime.closedError();
      }
      const next = page.IsTruncated === true ? page.NextContinuationToken : undefined;
      if (page.IsTruncated === true && (next === undefined || next === token)) {
        throw unexpected(action, "the server did not say how the listing goes on");
      }
      token = next;
    } while (token !== undefined);
  }

  async close(): Promise<void> {
    this.#runner.abort(this.#lifetime.closedError());
    await this.#lifetime.close(() => {
      this.#client.destroy();
      return Promise.resolve();
    });
  }

  async #listPage(action: FileAction, prefix: string, token: string | undefined): Promise<ListObjectsV2CommandOutput> {
    const command = new ListObjectsV2Command({
      Bucket: this.#bucket,
      Prefix: this.#prefix + prefix,
      MaxKeys: dataLimits.listPageObjects,
      ...(token === undefined ? {} : { ContinuationToken: token }),
    });
    const page = await this.#request(action, ({ signal }) => this.#client.send(command, { abortSignal: signal }));
    if (page.IsTruncated === undefined && page.KeyCount === undefined) {
      throw unexpected(action, "the server did not answer with a listing");
    }
    return page;
  }

  async #readOnce(
    action: FileAction,
    offset: number,
    target: Uint8Array,
    version: ObjectVersion,
    request: RequestTry,
  ): Promise<void> {
    const end = offset + target.length;
    const answer = await this.#get(action, `bytes=${offset}-${end - 1}`, version.etag, request.signal);
    request.progress();
    checkAnswer(action, answer, offset, end);
    if (version.etag !== undefined && answer.ETag !== version.etag) {
      throw new StoreError(`cannot ${describeAction(action)}: the object was replaced during the call`, {
        remedy: "Read it again; data files must never be overwritten.",
      });
    }
    version.etag ??= answer.ETag;
    await fillFrom(answer, target, request, action);
  }

  async #get(
    action: FileAction,
    range: string,
    etag: string | undefined,
    signal: AbortSignal,
  ): Promise<GetObjectCommandOutput> {
    const match = etag === undefined ? {} : { IfMatch: etag };
    const command = new GetObjectCommand({ ...this.#target(action.path), Range: range, ...match });
    try {
      return await this.#client.send(command, { abortSignal: signal });
    } catch (error) {
      // S3 says NoSuchKey. This is what the SDK makes of a 404 that says nothing: of some other server, or a proxy.
      if (!(error instanceof Error) || error.name !== "NotFound") throw error;
      throw new StoreUnavailableError(
        `cannot ${describeAction(action)}: the answer 404 did not come from an S3 server`,
        {
          remedy: "Check the endpoint.",
          cause: error,
        },
      );
    }
  }

  async #checkBucket(action: FileAction): Promise<void> {
    try {
      await this.#request({ ...action, path: "" }, ({ signal }) =>
        this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket }), { abortSignal: signal }),
      );
    } catch (error) {
      // Rights on objects do not include rights on the bucket: any other failure leaves the first answer standing.
      if (!(error instanceof NotFoundError)) return;
      throw new StoreUnavailableError(`there is no bucket ${describePath(this.#bucket)}`, {
        remedy: "Check the bucket's name and region, and the credentials; create the bucket if it is new.",
        cause: error,
      });
    }
  }

  async #request<Result>(
    action: FileAction,
    work: (request: RequestTry) => Promise<Result>,
    options: { readonly timeoutMs?: number; readonly stallTimeoutMs?: number; readonly stop?: AbortSignal } = {},
  ): Promise<Result> {
    return await this.#slots.run(() => {
      if (this.#lifetime.closed) throw this.#lifetime.closedError();
      const { requestTimeoutMs: timeoutMs, stallTimeoutMs } = this.#options;
      return this.#runner.run(action, { timeoutMs, stallTimeoutMs, ...options }, work);
    });
  }

  #target(path: string): { readonly Bucket: string; readonly Key: string } {
    return { Bucket: this.#bucket, Key: this.#prefix + path };
  }
}

/** The version that the first answer of a call came from. All bytes of one call are of one version. */
interface ObjectVersion {
  etag: string | undefined;
}

/** Refuses an answer that does not hold exactly the bytes from `offset` to `end`. */
function checkAnswer(action: FileAction, answer: GetObjectCommandOutput, offset: number, end: number): void {
  const length = end - offset;
  const match = /^bytes (\d+)-(\d+)\/(\d+|\*)$/u.exec(answer.ContentRange ?? "");
  if (match === null) {
    // A server may answer with the whole object where that is what was asked for.
    if (offset === 0 && answer.ContentLength === length) return;
    throw unexpected(action, "the server did not answer with the byte range that was asked for");
  }
  const [, start, last, size] = match;
  if (Number(start) !== offset) throw unexpected(action, "the server answered with another byte range");
  if (Number(last) < end - 1) throw endsEarly(action, end, size === "*" ? Number(last) + 1 : Number(size));
  if (Number(last) >= end) throw unexpected(action, "the server answered with more bytes than were asked for");
}

async function fillFrom(
  answer: GetObjectCommandOutput,
  target: Uint8Array,
  { signal, progress }: RequestTry,
  action: FileAction,
): Promise<void> {
  const body: unknown = answer.Body;
  if (!(body instanceof Readable)) throw unexpected(action, "the server gave no bytes");
  let filled = 0;
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    // A try that was given up must not write: the next one is filling the same memory.
    if (signal.aborted) return;
    progress();
    if (filled + chunk.length > target.length) throw unexpected(action, "the server sent too many bytes");
    target.set(chunk, filled);
    filled += chunk.length;
  }
  if (filled < target.length)
    throw new TruncatedError(`the connection ended after ${filled} of ${target.length} bytes`);
}

function unexpected(action: FileAction, what: string): StoreError {
  return new StoreError(`cannot ${describeAction(action)}: ${what}`, {
    remedy: "Check that the endpoint is that of an S3 server, which answers range requests.",
  });
}
