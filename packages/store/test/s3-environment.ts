import type { S3Server } from "./s3-server.js";

/** Sets environment variables; `undefined` removes one. Gives a function that puts everything back. */
export function setEnvironment(variables: Readonly<Record<string, string | undefined>>): () => void {
  const before = Object.keys(variables).map((name): [string, string | undefined] => [name, process.env[name]]);
  apply(Object.entries(variables));
  return () => apply(before);
}

function apply(entries: Iterable<[string, string | undefined]>): void {
  for (const [name, value] of entries) {
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
  }
}

/** Points the environment at a server, by another endpoint if one is given. Gives a function that puts everything back. */
export function useS3Environment(
  server: Pick<S3Server, "endpoint" | "region" | "credentials">,
  endpoint: string = server.endpoint,
): () => void {
  return setEnvironment({
    AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
    AWS_REGION: server.region,
    AWS_ENDPOINT: endpoint,
    AWS_ENDPOINT_URL: undefined,
    AWS_PROFILE: undefined,
  });
}
