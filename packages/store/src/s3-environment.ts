import { ObjectStore } from "@slatedb/uniffi";
import { ConfigurationError } from "@moraine/codec";
import type { S3Client } from "@aws-sdk/client-s3";
import type { S3Options } from "./data/s3-client.js";
import { limits } from "./limits.js";

/**
 * Names that SlateDB's object store takes from the environment even without `AWS_` in front, in any case: an unrelated
 * `TOKEN` or `ENDPOINT` of some other tool would change where and as whom it connects.
 */
const bareNames = new Set([
  "access_key_id",
  "allow_http",
  "bucket",
  "bucket_name",
  "checksum_algorithm",
  "conditional_put",
  "connect_timeout",
  "copy_if_not_exists",
  "default_region",
  "disable_tagging",
  "endpoint",
  "endpoint_url",
  "endpoint_url_sts",
  "imdsv1_fallback",
  "metadata_endpoint",
  "pool_idle_timeout",
  "pool_max_idle_per_host",
  "proxy_url",
  "region",
  "request_payer",
  "role_arn",
  "role_session_name",
  "s3_express",
  "secret_access_key",
  "session_token",
  "skip_signature",
  "timeout",
  "token",
  "unsigned_payload",
  "virtual_hosted_style_request",
  "web_identity_token_file",
]);

/** How the engine's requests to S3 are made. */
export interface S3EngineOptions {
  readonly requestTimeoutMs: number;
  /** See `StoreLoops`. */
  readonly pooledConnections: boolean;
  /** What the client was made with. */
  readonly s3: S3Options;
}

/** What the SDK's client and SlateDB's must agree on. */
interface Connection {
  readonly endpoint: string | undefined;
  readonly region: string;
}

/** Makes SlateDB's object store for a bucket so that it uses the endpoint, region and credentials of the SDK's client. */
export async function resolveS3ObjectStore(
  client: S3Client,
  bucket: string,
  options: S3EngineOptions,
): Promise<ObjectStore> {
  const connection = await connectionOf(client, bucket, options.s3);
  const variables: Record<string, string | undefined> = {
    AWS_ENDPOINT: connection.endpoint,
    AWS_ENDPOINT_URL: undefined,
    AWS_REGION: connection.region,
    AWS_DEFAULT_REGION: undefined,
    AWS_CONDITIONAL_PUT: "etag",
    // Half of our own limit, so that a request that was lost on the way has time for a second one.
    AWS_TIMEOUT: process.env["AWS_TIMEOUT"] ?? `${Math.max(limits.s3LeastTimeoutMs, options.requestTimeoutMs / 2)}ms`,
    ...(options.pooledConnections ? {} : { AWS_POOL_MAX_IDLE_PER_HOST: "0" }),
    ...(connection.endpoint?.startsWith("http://") === true ? { AWS_ALLOW_HTTP: "true" } : {}),
    ...(options.s3.forcePathStyle === undefined
      ? {}
      : { AWS_VIRTUAL_HOSTED_STYLE_REQUEST: String(!options.s3.forcePathStyle) }),
    ...(await credentialVariables(client, options.s3)),
  };
  return withEnvironment(variables, () => ObjectStore.resolve(`s3://${bucket}/`));
}

async function connectionOf(client: S3Client, bucket: string, { forcePathStyle }: S3Options): Promise<Connection> {
  const endpoint = await client.config.endpoint?.();
  const region = await client.config.region();
  if (endpoint === undefined) return { endpoint: undefined, region };
  const port = endpoint.port === undefined ? "" : `:${endpoint.port}`;
  // With the bucket in the host name SlateDB takes the endpoint as it stands, bucket included; the SDK's client puts it there.
  const host = forcePathStyle === false ? `${bucket}.${endpoint.hostname}` : endpoint.hostname;
  return { endpoint: `${endpoint.protocol}//${host}${port}${endpoint.path}`.replace(/\/$/u, ""), region };
}

/**
 * The credentials for SlateDB. It reads the environment, web identity and container roles, and the machine's role by itself
 * and renews them; of the rest of the SDK's chain only keys that never expire can be handed over.
 */
async function credentialVariables(
  client: S3Client,
  { credentials: given }: S3Options,
): Promise<Record<string, string | undefined>> {
  // Whoever names keys has chosen them for as long as they last.
  if (given !== undefined) {
    return {
      AWS_ACCESS_KEY_ID: given.accessKeyId,
      AWS_SECRET_ACCESS_KEY: given.secretAccessKey,
      AWS_SESSION_TOKEN: given.sessionToken,
    };
  }
  const renewedBySlateDb = [
    ["AWS_ACCESS_KEY_ID"],
    ["AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"],
    ["AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"],
    ["AWS_CONTAINER_CREDENTIALS_FULL_URI", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE"],
  ];
  if (renewedBySlateDb.some((names) => names.every((name) => (process.env[name] ?? "") !== ""))) return {};
  const credentials = await client.config.credentials();
  if (credentials.expiration === undefined && credentials.sessionToken === undefined) {
    return {
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      AWS_SESSION_TOKEN: undefined,
    };
  }
  const source: unknown = Reflect.get(credentials, "$source");
  if (typeof source === "object" && source !== null && "CREDENTIALS_IMDS" in source) return {};
  throw new ConfigurationError(
    "the AWS credentials found expire, and the store cannot renew credentials of their kind",
    {
      remedy:
        "Use a role of the machine, container or web identity, or set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
    },
  );
}

/**
 * Runs a synchronous call with other environment variables; `undefined` removes one. The binding offers no other way to
 * pass options, and nothing else of this thread can run in between.
 */
function withEnvironment<T>(variables: Readonly<Record<string, string | undefined>>, call: () => T): T {
  const changes: Record<string, string | undefined> = { ...variables };
  for (const name of Object.keys(process.env)) {
    if (bareNames.has(name.toLowerCase())) changes[name] = undefined;
  }
  const before = new Map(Object.keys(changes).map((name) => [name, process.env[name]]));
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  };
  try {
    for (const [name, value] of Object.entries(changes)) set(name, value);
    return call();
  } finally {
    for (const [name, value] of before) set(name, value);
  }
}
