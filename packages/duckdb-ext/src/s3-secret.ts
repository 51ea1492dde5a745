import { InvalidArgumentError } from "@moraine/codec";
import type { S3Options } from "@moraine/store";

/**
 * What an S3 secret of DuckDB means to a store: `key_id`, `secret`, `session_token`, `region`, `endpoint`, `url_style`, `use_ssl`.
 * `undefined` for an empty one: then the service's environment decides. Settings of other features are passed over.
 */
export function s3OptionsOf(secret: ReadonlyMap<string, string>): S3Options | undefined {
  const value = (name: string): string | undefined => {
    const text = secret.get(name);
    return text === undefined || text === "" ? undefined : text;
  };
  const [keyId, key] = [value("key_id"), value("secret")];
  if ((keyId === undefined) !== (key === undefined)) {
    throw new InvalidArgumentError(
      `the S3 secret has a ${keyId === undefined ? "secret" : "key_id"} and not the other`,
      {
        remedy: "Create the secret with both, KEY_ID and SECRET.",
      },
    );
  }
  const [endpoint, region, sessionToken, style] = [
    value("endpoint"),
    value("region"),
    value("session_token"),
    value("url_style"),
  ];
  if (style !== undefined && style !== "path" && style !== "vhost") {
    throw new InvalidArgumentError("the url_style of the S3 secret is neither path nor vhost", {
      remedy: "Create the secret with URL_STYLE 'path' or 'vhost'.",
    });
  }
  const options: S3Options = {
    ...(endpoint === undefined || isAmazon(endpoint) ? {} : { endpoint: endpointUrl(endpoint, value("use_ssl")) }),
    ...(region === undefined ? {} : { region }),
    ...(style === undefined ? {} : { forcePathStyle: style === "path" }),
    ...(keyId === undefined || key === undefined
      ? {}
      : {
          credentials: {
            accessKeyId: keyId,
            secretAccessKey: key,
            ...(sessionToken === undefined ? {} : { sessionToken }),
          },
        }),
  };
  return Object.keys(options).length === 0 ? undefined : options;
}

/** DuckDB's own default endpoint. The region decides which host of AWS it is. */
function isAmazon(endpoint: string): boolean {
  return /^s3(?:[.-][a-z0-9-]+)?\.amazonaws\.com$/i.test(endpoint);
}

/** DuckDB names a host, and whether to speak TLS to it in another setting. */
function endpointUrl(endpoint: string, useSsl: string | undefined): string {
  if (/^https?:\/\//i.test(endpoint)) return endpoint;
  const isPlain = useSsl !== undefined && ["false", "0"].includes(useSsl.toLowerCase());
  return `${isPlain ? "http" : "https"}://${endpoint}`;
}
