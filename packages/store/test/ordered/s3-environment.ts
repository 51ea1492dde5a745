import type { S3Server } from "../s3-server.js";

/** Points the environment at a server, by another endpoint if one is given. Gives a function that puts everything back. */
export function useS3Environment(server: S3Server, endpoint: string = server.endpoint): () => void {
  const variables: Record<string, string | undefined> = {
    AWS_ACCESS_KEY_ID: server.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: server.credentials.secretAccessKey,
    AWS_REGION: server.region,
    AWS_ENDPOINT: endpoint,
    AWS_ENDPOINT_URL: undefined,
    AWS_PROFILE: undefined,
  };
  const before = new Map(Object.keys(variables).map((name) => [name, process.env[name]]));
  const apply = (entries: Iterable<[string, string | undefined]>): void => {
    for (const [name, value] of entries) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  };
  apply(Object.entries(variables));
  return () => apply(before);
}
