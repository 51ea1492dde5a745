import { ConfigurationError, MoraineError, StoreError, StoreUnavailableError } from "@moraine/codec";
import { type FileAction, describeAction, missingObject } from "./local-errors.js";

/** The server sent nothing for a while. */
export class StalledError extends Error {}

/** The connection ended before all bytes had come. */
export class TruncatedError extends Error {}

/** The time of the whole request was used up. */
export class DeadlineError extends Error {}

/** A failed try of a request: whether another one may succeed, and what to tell the caller if there is none. */
export interface S3Failure {
  readonly transient: boolean;
  typed(action: FileAction, tries: number): MoraineError;
}

const transientCodes = new Set([
  "EAI_AGAIN",
  "ECONNABORTED",
  "ECONNREFUSED",
  "ECONNRESET",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EPIPE",
  "ETIMEDOUT",
  "ERR_STREAM_PREMATURE_CLOSE",
]);

const transientNames = new Set([
  "InternalError",
  "OperationAborted",
  "RequestTimeTooSkewed",
  "RequestTimeout",
  "ServiceUnavailable",
  "SlowDown",
  "ThrottlingException",
  "TimeoutError",
]);

const credentialNames = new Set([
  "AccessDenied",
  "CredentialsProviderError",
  "ExpiredToken",
  "InvalidAccessKeyId",
  "InvalidToken",
  "SignatureDoesNotMatch",
  "TokenProviderError",
  "TokenRefreshRequired",
]);

const regionNames = new Set([
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
  "PermanentRedirect",
]);

const reachRemedy = "Check the endpoint and the network, then try again.";

/** Sorts out what a try of an S3 request failed with. */
export function classifyS3Error(error: unknown): S3Failure {
  if (error instanceof MoraineError) return { transient: false, typed: () => error };
  const status = statusOf(error);
  const name = error instanceof Error ? error.name : "";
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const transient =
    error instanceof StalledError ||
    error instanceof TruncatedError ||
    transientCodes.has(code) ||
    transientNames.has(name) ||
    status === 429 ||
    (status !== undefined && status >= 500 && status !== 501);
  return { transient, typed: (action, tries) => typedError(error, { status, name, code }, action, tries) };
}

interface Symptoms {
  readonly status: number | undefined;
  readonly name: string;
  readonly code: string;
}

function typedError(error: unknown, symptoms: Symptoms, action: FileAction, tries: number): MoraineError {
  const { status, name, code } = symptoms;
  const message = `cannot ${describeAction(action)} (${describeSymptoms(error, symptoms, tries)})`;
  const unavailable = (remedy: string): MoraineError => new StoreUnavailableError(message, { remedy, cause: error });
  if (error instanceof Error && error.message === "Region is missing") {
    return new ConfigurationError(`${message}: no region is set`, {
      remedy: "Set AWS_REGION, or the option s3.region.",
      cause: error,
    });
  }
  if (error instanceof DeadlineError || error instanceof StalledError) {
    return unavailable("Check the network and the server, or raise the option requestTimeoutMs.");
  }
  if (name === "NoSuchBucket")
    return unavailable("Check the bucket's name and region; create the bucket if it is new.");
  if (regionNames.has(name) || status === 301) {
    return unavailable("Set AWS_REGION, or the option s3.region, to the region of the bucket.");
  }
  if (credentialNames.has(name) || status === 401 || status === 403) {
    return unavailable("Check the credentials (AWS_ACCESS_KEY_ID or the AWS profile) and their rights on the bucket.");
  }
  if (status === 404) {
    // Only S3's own words for it: a wrong endpoint, or an access key that the server does not know, can give 404 as well.
    if (name === "NoSuchKey" || name === "NotFound") return missingObject(action, error);
    return unavailable("Check the endpoint, the bucket's name and the credentials.");
  }
  if (status === 412) {
    return new StoreError(`${message}: the object was replaced during the call`, {
      remedy: "Read it again; data files must never be overwritten.",
      cause: error,
    });
  }
  if (status === 416) {
    return new StoreError(`${message}: it ends before the last byte asked for`, {
      remedy: "Check that the file was copied completely and has the size that its record gives.",
      cause: error,
    });
  }
  if (status === 429 || (status !== undefined && status >= 500)) {
    return unavailable("Try again when the server has recovered, or lower the option requestsInFlight.");
  }
  if (status === undefined && (code !== "" || error instanceof TruncatedError)) return unavailable(reachRemedy);
  return new StoreError(message, { remedy: "See the cause for the server's own words.", cause: error });
}

/** Numbers and codes only: a server's text may hold words that DuckLake takes for a lost race. */
function describeSymptoms(error: unknown, { status, name, code }: Symptoms, tries: number): string {
  const own = error instanceof DeadlineError || error instanceof StalledError || error instanceof TruncatedError;
  const symptom = own
    ? error.message
    : [status, status === undefined ? code : "", harmless(name)].filter(Boolean).join(" ");
  return `${symptom || "unknown failure"}, ${tries === 1 ? "1 try" : `${tries} tries`}`;
}

function harmless(name: string): string {
  return name === "Error" || !/^\w{1,64}$/u.test(name) || /conflict|concurrent|unique/iu.test(name) ? "" : name;
}

/** The HTTP status of an answer, as the SDK notes it on what it throws. */
function statusOf(error: unknown): number | undefined {
  return numberIn(error, "$metadata", "httpStatusCode") ?? numberIn(error, "$response", "statusCode");
}

function numberIn(error: unknown, outer: string, inner: string): number | undefined {
  const holder = propertyOf(error, outer);
  const value = propertyOf(holder, inner);
  return typeof value === "number" ? value : undefined;
}

function propertyOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (Reflect.get(value, name) as unknown) : undefined;
}
