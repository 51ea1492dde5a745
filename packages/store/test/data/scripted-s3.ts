import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import type { DataStoreOptions } from "../../src/data/open-data-store.js";

export interface ScriptedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  /** Which request this is, from 1. */
  readonly count: number;
}

/** An HTTP server that answers as a test tells it, in place of an S3 server. */
export interface ScriptedS3 {
  readonly options: DataStoreOptions;
  readonly requests: readonly ScriptedRequest[];
  /** Most requests that were under way at a time. */
  readonly mostUnderWay: number;
  stop(): Promise<void>;
}

export type Script = (request: ScriptedRequest, response: ServerResponse) => void | Promise<void>;

export async function startScriptedS3(script: Script, options: DataStoreOptions = {}): Promise<ScriptedS3> {
  const requests: ScriptedRequest[] = [];
  let underWay = 0;
  let mostUnderWay = 0;
  const server = createServer((incoming, response) => {
    underWay++;
    mostUnderWay = Math.max(mostUnderWay, underWay);
    response.once("close", () => underWay--);
    const { method = "", url = "", headers } = incoming;
    const request = { method, url, headers, count: requests.length + 1 };
    requests.push(request);
    incoming.resume().once("end", () => {
      Promise.resolve(script(request, response)).catch((error: unknown) => {
        response.destroy(error instanceof Error ? error : new Error("the script failed"));
      });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return {
    options: {
      requestTimeoutMs: 5000,
      stallTimeoutMs: 5000,
      ...options,
      s3: {
        endpoint: `http://127.0.0.1:${address.port}`,
        region: "us-east-1",
        credentials: { accessKeyId: "test", secretAccessKey: "testtest" },
      },
    },
    requests,
    get mostUnderWay() {
      return mostUnderWay;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** An S3 error answer. */
export function sendError(response: ServerResponse, status: number, code: string, message = "told so"): void {
  const body = `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`;
  response.writeHead(status, { "content-type": "application/xml", "content-length": Buffer.byteLength(body) });
  response.end(body);
}

/** First and last byte of a request's Range header. */
export function rangeOf(request: ScriptedRequest): { readonly first: number; readonly last: number } {
  const match = /^bytes=(\d+)-(\d+)$/u.exec(request.headers.range ?? "");
  return { first: Number(match?.[1]), last: Number(match?.[2]) };
}

/** The head of a right answer to a range request. */
export function writeRangeHead(
  request: ScriptedRequest,
  response: ServerResponse,
  sizeBytes: number,
  etag = '"one"',
): number {
  const { first, last } = rangeOf(request);
  response.writeHead(206, {
    "content-length": last - first + 1,
    "content-range": `bytes ${first}-${last}/${sizeBytes}`,
    etag,
  });
  return last - first + 1;
}

/** A right answer to a range request. */
export function sendRange(
  request: ScriptedRequest,
  response: ServerResponse,
  object: Uint8Array,
  etag = '"one"',
): void {
  const { first, last } = rangeOf(request);
  writeRangeHead(request, response, object.length, etag);
  response.end(object.subarray(first, last + 1));
}
