import { randomUUID } from "node:crypto";
import type { S3Client } from "@aws-sdk/client-s3";
import { ConfigurationError, MoraineError, StoreError, StoreUnavailableError } from "@moraine/codec";
import { limits } from "./limits.js";

/** The bucket that requests go to, and its endpoint in words. */
export interface S3Target {
  readonly client: S3Client;
  readonly bucket: string;
  readonly endpoint: string;
}

/** Looks whether the bucket can be listed. Fails with what is wrong: endpoint, credentials, bucket. */
export async function checkBucket(target: S3Target, prefix: string, signal: AbortSignal): Promise<void> {
  const { ListObjectsV2Command } = await import("@aws-sdk/client-s3");
  await request(target, signal, () => {
    return target.client.send(new ListObjectsV2Command({ Bucket: target.bucket, Prefix: prefix, MaxKeys: 1 }), {
      abortSignal: signal,
    });
  });
}

/**
 * Proves that the place refuses to replace an object when asked with `If-None-Match: *`. SlateDB's fencing rests on that
 * alone: where it is ignored, two writers would both believe that they are the writer.
 */
export async function checkConditionalPut(target: S3Target, prefix: string, signal: AbortSignal): Promise<void> {
  const { DeleteObjectCommand, PutObjectCommand } = await import("@aws-sdk/client-s3");
  const key = `${prefix === "" ? "" : `${prefix}/`}probe/${randomUUID()}`;
  const put = (): Promise<unknown> => {
    const command = new PutObjectCommand({ Bucket: target.bucket, Key: key, Body: "moraine", IfNoneMatch: "*" });
    return target.client.send(command, { abortSignal: signal });
  };
  let refused = false;
  try {
    // A repeated first attempt may find its own object; that is a refusal, which is the answer looked for.
    refused = await refusedPut(target, signal, put);
    refused ||= await refusedPut(target, signal, put);
  } finally {
    // What cannot be removed does no harm: nothing reads this folder.
    await target.client
      .send(new DeleteObjectCommand({ Bucket: target.bucket, Key: key }), { abortSignal: signal })
      .catch(() => undefined);
  }
  if (!refused) throw noConditionalPut(target);
}

/**
 * Proves the right to write, and changes nothing: puts an object that exists already, with the content it has, on the
 * condition that it does not exist.
 */
export async function checkPutAgain(
  target: S3Target,
  key: string,
  content: Uint8Array,
  signal: AbortSignal,
): Promise<void> {
  const { PutObjectCommand } = await import("@aws-sdk/client-s3");
  await refusedPut(target, signal, () => {
    const command = new PutObjectCommand({ Bucket: target.bucket, Key: key, Body: content, IfNoneMatch: "*" });
    return target.client.send(command, { abortSignal: signal });
  });
}

async function refusedPut(target: S3Target, signal: AbortSignal, put: () => Promise<unknown>): Promise<boolean> {
  try {
    await request(target, signal, put);
    return false;
  } catch (error) {
    const status = statusOf(error instanceof MoraineError ? error.cause : error);
    if (status === 412 || status === 409) return true;
    if (status === 400 || status === 501) throw noConditionalPut(target, error);
    throw error;
  }
}

function noConditionalPut(target: S3Target, cause?: unknown): ConfigurationError {
  return new ConfigurationError(
    `${target.endpoint} does not honour If-None-Match on PUT, so a second writer would go unnoticed`,
    {
      remedy: "Use an S3 service with conditional writes.",
      cause,
    },
  );
}

/** Sends a request, again for a while where the connection fails, and types what it fails with. */
async function request<T>(target: S3Target, signal: AbortSignal, send: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send();
    } catch (error) {
      const status = statusOf(error);
      const transient = status === undefined || status === 429 || (status >= 500 && status !== 501);
      if (!transient || attempt >= limits.preflightAttempts || signal.aborted || isCredentialError(error))
        throw s3Error(error, target);
      await new Promise<void>((resolve) => {
        setTimeout(resolve, limits.preflightRetryMs * attempt);
      });
    }
  }
}

const credentialErrors = new Set([
  "AccessDenied",
  "ExpiredToken",
  "Forbidden",
  "InvalidAccessKeyId",
  "InvalidToken",
  "SignatureDoesNotMatch",
  // versitygw's word for an unknown access key.
  "XAdminUserNotFound",
]);

function isCredentialError(error: unknown): boolean {
  return error instanceof Error && /Credentials|TokenProvider/u.test(error.name);
}

/** Says what is wrong with the place. The server's own text is in the cause only. */
export function s3Error(error: unknown, target: S3Target): MoraineError {
  if (error instanceof MoraineError) return error;
  const name = error instanceof Error ? error.name : "";
  const status = statusOf(error);
  const unavailable = (message: string, remedy: string): MoraineError =>
    new StoreUnavailableError(message, { remedy, cause: error });
  if (error instanceof Error && error.message === "Region is missing") {
    return new ConfigurationError("no AWS region is set", { remedy: "Set AWS_REGION.", cause: error });
  }
  if (isCredentialError(error))
    return unavailable(
      "no AWS credentials were found",
      "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or configure a profile.",
    );
  if (credentialErrors.has(name) || status === 401 || status === 403) {
    return unavailable(
      `${target.endpoint} refused the credentials for the bucket ${target.bucket} (${status ?? name})`,
      "Check the AWS credentials and their rights: list, get, put and delete; readers need list, get and put.",
    );
  }
  if (name === "NoSuchBucket" || status === 404) {
    return unavailable(
      `the bucket ${target.bucket} does not exist at ${target.endpoint}`,
      "Create the bucket, or correct its name.",
    );
  }
  if (status === 301 || status === 307 || name === "AuthorizationHeaderMalformed") {
    return unavailable(
      `the bucket ${target.bucket} is in another region`,
      "Set AWS_REGION to the region of the bucket.",
    );
  }
  if (status === undefined) {
    return unavailable(
      `${target.endpoint} cannot be reached${symptom(error)}`,
      "Check the endpoint (AWS_ENDPOINT_URL) and the network.",
    );
  }
  if (status === 429 || status >= 500)
    return unavailable(`${target.endpoint} failed (${status})`, "Try again when the service has recovered.");
  return new StoreError(`${target.endpoint} refused a request (${status})`, {
    remedy: "See the cause for the server's own words.",
    cause: error,
  });
}

function symptom(error: unknown): string {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^E[A-Z_]+$/u.test(code) ? ` (${code})` : "";
}

/** The HTTP status of an answer, as the SDK notes it on what it throws. */
export function statusOf(error: unknown): number | undefined {
  const metadata: unknown = typeof error === "object" && error !== null ? Reflect.get(error, "$metadata") : undefined;
  const status: unknown =
    typeof metadata === "object" && metadata !== null ? Reflect.get(metadata, "httpStatusCode") : undefined;
  return typeof status === "number" ? status : undefined;
}
