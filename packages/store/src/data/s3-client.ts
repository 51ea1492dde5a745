import type { S3Client } from "@aws-sdk/client-s3";

/** Settings of an S3 connection. What is left out comes from the environment and the AWS configuration files. */
export interface S3Options {
  /** Default: `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL` or `AWS_ENDPOINT`, else AWS itself. */
  readonly endpoint?: string;
  /** Default: `AWS_REGION`, `AWS_DEFAULT_REGION` or the AWS profile; with an endpoint of its own `us-east-1`. */
  readonly region?: string;
  /** Default: the credential chain of the AWS SDK. */
  readonly credentials?: {
    readonly accessKeyId: string;
    readonly secretAccessKey: string;
    readonly sessionToken?: string;
  };
  /** Bucket in the path rather than in the host name. Default: true when there is an endpoint of its own. */
  readonly forcePathStyle?: boolean;
}

/** Makes a client that keeps at most `sockets` connections and leaves retries and timeouts to `RequestRunner`. */
export async function createS3Client(options: S3Options, sockets: number): Promise<S3Client> {
  // Loaded on first use: a process with local files only is spared the time and memory of the SDK.
  const sdk = await import("@aws-sdk/client-s3");
  const endpoint = options.endpoint ?? variable("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT");
  const named = options.region ?? variable("AWS_REGION", "AWS_DEFAULT_REGION");
  const region = named ?? (endpoint === undefined ? undefined : "us-east-1");
  const agent = { keepAlive: true, maxSockets: sockets };
  return new sdk.S3Client({
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(region === undefined ? {} : { region }),
    ...(options.credentials === undefined ? {} : { credentials: options.credentials }),
    forcePathStyle: options.forcePathStyle ?? endpoint !== undefined,
    followRegionRedirects: true,
    maxAttempts: 1,
    requestHandler: { httpAgent: agent, httpsAgent: agent },
    // A range has no checksum to check, and asking for one only makes other servers fail.
    responseChecksumValidation: "WHEN_REQUIRED",
    expectContinueHeader: false,
  });
}

function variable(...names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = process.env[name];
    if (value !== undefined && value !== "") return value;
  }
  return undefined;
}
