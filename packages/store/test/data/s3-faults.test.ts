import { randomBytes } from "node:crypto";
import {
  ClosedError,
  ConfigurationError,
  type MoraineError,
  NotFoundError,
  StoreError,
  StoreUnavailableError,
} from "@moraine/codec";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, describe, expect, test, vi } from "vitest";
import { type DataStoreOptions, openDataStore } from "../../src/data/open-data-store.js";
import type { DataStore } from "../../src/interface.js";
import { sameBytes } from "./same-bytes.js";
import {
  type Script,
  type ScriptedS3,
  rangeOf,
  sendError,
  sendRange,
  startScriptedS3,
  writeRangeHead,
} from "./scripted-s3.js";

const object = randomBytes(4000);
const whole = [{ offset: 0, length: object.length }];
const forbiddenWords = /conflict|concurrent|unique|primary key/iu;

/** How much later than its time limit a call may fail on a busy machine. */
const slackMs = 2000;

let cleanUp: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const step of cleanUp) await step();
  cleanUp = [];
});

async function scripted(
  script: Script,
  options: DataStoreOptions = {},
  url = "s3://lake/p",
): Promise<ScriptedS3 & { store: DataStore }> {
  const server = await startScriptedS3(script, options);
  const store = await openDataStore(url, server.options);
  cleanUp.push(
    () => store.close(),
    () => server.stop(),
  );
  return { ...server, store };
}

async function failureOf(call: Promise<unknown>): Promise<MoraineError> {
  const error = await call.then(
    () => new Error("the call succeeded"),
    (failure: unknown) => failure,
  );
  return error as MoraineError;
}

/** Runs a call that must fail within its time. */
async function failureWithin(timeoutMs: number, call: Promise<unknown>): Promise<MoraineError> {
  const start = performance.now();
  const failure = await failureOf(call);
  expect(performance.now() - start).toBeLessThan(timeoutMs + slackMs);
  return failure;
}

describe("answers that are errors", () => {
  test.each([
    [404, "NoSuchKey", NotFoundError, 1],
    [404, "NoSuchBucket", StoreUnavailableError, 1],
    [404, "NoSuchUser", StoreUnavailableError, 1],
    [403, "AccessDenied", StoreUnavailableError, 1],
    [403, "SignatureDoesNotMatch", StoreUnavailableError, 1],
    [400, "ExpiredToken", StoreUnavailableError, 1],
    [400, "AuthorizationHeaderMalformed", StoreUnavailableError, 1],
    [400, "KeyTooLongError", StoreError, 1],
    [412, "PreconditionFailed", StoreError, 1],
    [416, "InvalidRange", StoreError, 1],
    [501, "NotImplemented", StoreUnavailableError, 1],
    [409, "OperationAborted", StoreError, 3],
    [429, "TooManyRequests", StoreUnavailableError, 3],
    [500, "InternalError", StoreUnavailableError, 3],
    [503, "SlowDown", StoreUnavailableError, 3],
  ])("%i %s", async (status, code, kind, tries) => {
    const { store, requests } = await scripted((_, response) => sendError(response, status, code), {
      requestAttempts: 3,
    });
    const failure = await failureOf(store.readRanges("a/x.parquet", whole));
    expect(failure).toBeInstanceOf(kind);
    expect(failure.message).toContain('"a/x.parquet" in "s3://lake/p"');
    expect(failure.remedy).not.toBe("");
    expect(failure.cause).toBeInstanceOf(Error);
    expect(requests.length).toBe(tries);
  });

  test("a transient failure is tried again until it passes", async () => {
    const { store, requests } = await scripted((request, response) => {
      if (request.count <= 2) sendError(response, 503, "SlowDown");
      else sendRange(request, response, object);
    });
    expect(await store.readRanges("x", whole)).toEqual([Uint8Array.from(object)]);
    expect(requests.length).toBe(3);
  });

  test("every kind of request is tried again", async () => {
    const { store, requests } = await scripted((request, response) => {
      if (request.count % 2 === 1) return sendError(response, 500, "InternalError");
      if (request.method === "HEAD") response.writeHead(200, { "content-length": 12 });
      else if (request.method === "GET")
        response.write("<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>");
      else response.setHeader("etag", '"one"');
      response.end();
    });
    expect(await store.head("x")).toEqual({ path: "x", sizeBytes: 12 });
    await store.put("x", new Uint8Array(10));
    await store.delete("x");
    expect(await store.list("").next()).toEqual({ done: true, value: undefined });
    expect(requests.map(({ method }) => method)).toEqual([
      "HEAD",
      "HEAD",
      "PUT",
      "PUT",
      "DELETE",
      "DELETE",
      "GET",
      "GET",
    ]);
  });

  test("deleting what is absent succeeds on a server that says 404", async () => {
    const { store } = await scripted((_, response) => sendError(response, 404, "NoSuchKey"));
    await expect(store.delete("x")).resolves.toBeUndefined();
  });

  test("an absent object is told from an absent bucket, though HEAD says the same of both", async () => {
    const isBucket = (url: string): boolean => !url.includes("/p/x");
    const noBucket = await scripted((_, response) => void response.writeHead(404).end());
    await expect(noBucket.store.head("x")).rejects.toThrow(StoreUnavailableError);
    await expect(noBucket.store.head("x")).rejects.toThrow(/no bucket "lake"/u);
    const bucket = await scripted(
      (request, response) => void response.writeHead(isBucket(request.url) ? 200 : 404).end(),
    );
    await expect(bucket.store.head("x")).rejects.toThrow(NotFoundError);
    const secret = await scripted(
      (request, response) => void response.writeHead(isBucket(request.url) ? 403 : 404).end(),
    );
    await expect(secret.store.head("x")).rejects.toThrow(NotFoundError);
  });

  test("no text holds a word that DuckLake takes for a lost race", async () => {
    const message = "A conflicting concurrent operation on a unique primary key";
    const { store } = await scripted((_, response) => sendError(response, 409, "ConditionalRequestConflict", message));
    const failure = await failureOf(store.put("unique_keys/conflict/concurrently.parquet", new Uint8Array(1)));
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).not.toMatch(forbiddenWords);
    expect(failure.message).toContain("u\u00b7nique_keys/c\u00b7onflict/c\u00b7oncurrently.parquet");
    expect(failure.remedy).not.toMatch(forbiddenWords);
  });

  test("an answer that is not S3", async () => {
    const page = "<html><body>Bad gateway</body></html>";
    const gateway = await scripted((_, response) => void response.writeHead(502).end(page), { requestAttempts: 2 });
    await expect(gateway.store.readRanges("x", whole)).rejects.toThrow(StoreUnavailableError);
    expect(gateway.requests.length).toBe(2);
    for (const body of ["", page]) {
      const elsewhere = await scripted((_, response) => void response.writeHead(404).end(body));
      await expect(elsewhere.store.readRanges("x", whole)).rejects.toThrow(StoreUnavailableError);
    }
    const website = await scripted((_, response) => void response.writeHead(200).end(page), { requestAttempts: 2 });
    await expect(website.store.readRanges("x", whole)).rejects.toThrow(StoreError);
    await expect(website.store.list("").next()).rejects.toThrow(StoreError);
    await expect(website.store.put("x", object)).rejects.toThrow(StoreError);
    const noise = await scripted((_, response) => void response.socket?.end("SSH-2.0-OpenSSH_9.6\r\n"));
    await expect(noise.store.head("x")).rejects.toThrow(StoreUnavailableError);
  });
});

describe("answers with the wrong bytes", () => {
  test("the range is ignored, moved, short or long", async () => {
    const head = (range: string | undefined, length: number) => {
      const headers = { "content-length": length, ...(range === undefined ? {} : { "content-range": range }) };
      return scripted((_, response) => void response.writeHead(206, headers).end(object.subarray(0, length)));
    };
    const read = async (range: string | undefined, length: number): Promise<MoraineError> => {
      const { store, requests } = await head(range, length);
      const failure = await failureOf(store.readRanges("x", [{ offset: 10, length: 20 }]));
      expect(requests.length).toBe(1);
      return failure;
    };
    for (const failure of [
      await read(undefined, 4000),
      await read("bytes 0-19/4000", 20),
      await read("bytes 10-30/4000", 21),
      await read("nonsense", 20),
    ]) {
      expect(failure).toBeInstanceOf(StoreError);
      expect(failure.message).toContain('"x"');
    }
    const short = await read("bytes 10-24/25", 15);
    expect(short).toBeInstanceOf(StoreError);
    expect(short.message).toContain("ends after 25 bytes, but bytes up to 30 were asked for");
  });

  test("a refused answer gives its connection back, though its bytes were never read", async () => {
    const { store } = await scripted(
      (request, response) => {
        if (request.count % 2 === 0) return sendRange(request, response, object);
        response.writeHead(206, { "content-range": "bytes 5-9999999/10000000", "content-length": 9_999_995 });
        response.write(object);
      },
      { requestsInFlight: 1 },
    );
    for (let round = 0; round < 3; round++) {
      await expect(store.readRanges("x", whole)).rejects.toThrow(StoreError);
      expect(sameBytes(await store.readRanges("x", whole), [object])).toBe(true);
    }
  });

  test("the whole object is taken where it is what was asked for", async () => {
    const { store } = await scripted(
      (_, response) => void response.writeHead(200, { "content-length": 4000 }).end(object),
    );
    expect(await store.readRanges("x", whole)).toEqual([Uint8Array.from(object)]);
  });

  test("all bytes of a call are of one version of the object", async () => {
    const { store, requests } = await scripted(
      (request, response) => sendRange(request, response, object, `"${request.count}"`),
      { readBytes: 1000, requestsInFlight: 1 },
    );
    const failure = await failureOf(store.readRanges("x", whole));
    expect(failure).toBeInstanceOf(StoreError);
    expect(failure.message).toContain("replaced during the call");
    expect(requests[1]?.headers["if-match"]).toBe('"1"');
  });
});

describe("settings from the environment", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  function stubEnvironment(variables: Readonly<Record<string, string>>): void {
    const cleared = ["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT", "AWS_REGION", "AWS_DEFAULT_REGION"];
    for (const name of [...cleared, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE"]) {
      vi.stubEnv(name, undefined);
    }
    vi.stubEnv("AWS_EC2_METADATA_DISABLED", "true");
    vi.stubEnv("AWS_CONFIG_FILE", "/nonexistent");
    vi.stubEnv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent");
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
  }

  const keys = { AWS_ACCESS_KEY_ID: "from-environment", AWS_SECRET_ACCESS_KEY: "secret" };

  test.each(["AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT"])("%s, region and keys", async (name) => {
    const server = await startScriptedS3((request, response) => sendRange(request, response, object));
    cleanUp.push(() => server.stop());
    stubEnvironment({ ...keys, [name]: server.options.s3?.endpoint ?? "", AWS_DEFAULT_REGION: "eu-north-1" });
    const store = await openDataStore("s3://lake/p");
    expect(sameBytes(await store.readRanges("x", whole), [object])).toBe(true);
    expect(server.requests[0]?.url).toMatch(/^\/lake\/p\/x/u);
    expect(server.requests[0]?.headers.authorization).toMatch(/from-environment\/\d+\/eu-north-1\/s3/u);
    await store.close();
  });

  test("no region, and no keys", async () => {
    stubEnvironment(keys);
    const placeless = await openDataStore("s3://lake");
    await expect(placeless.head("x")).rejects.toThrow(ConfigurationError);
    await placeless.close();
    stubEnvironment({ AWS_ENDPOINT: "http://127.0.0.1:1" });
    const nobody = await openDataStore("s3://lake");
    const failure = await failureOf(nobody.head("x"));
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure.remedy).toContain("AWS_ACCESS_KEY_ID");
    await nobody.close();
  });
});

describe("connections that break", () => {
  test("bytes that stop in the middle are asked for again", async () => {
    const { store, requests } = await scripted((request, response) => {
      if (request.count > 2) return sendRange(request, response, object);
      writeRangeHead(request, response, object.length);
      response.write(object.subarray(0, 1500), () => response.destroy());
    });
    expect(await store.readRanges("x", whole)).toEqual([Uint8Array.from(object)]);
    expect(requests.length).toBe(3);
  });

  test("bytes that stop in the middle every time: store_unavailable, after the named number of tries", async () => {
    const { store, requests } = await scripted(
      (request, response) => {
        writeRangeHead(request, response, object.length);
        response.write(object.subarray(0, 1500), () => response.destroy());
      },
      { requestAttempts: 2 },
    );
    const failure = await failureOf(store.readRanges("x", whole));
    expect(failure).toBeInstanceOf(StoreUnavailableError);
    expect(failure).toMatchObject({ retryable: true });
    expect(failure.message).toContain("2 tries");
    expect(requests.length).toBe(2);
  });

  test("bytes that end too early, though without a fault that HTTP would notice", async () => {
    const { store, requests } = await scripted((request, response) => {
      if (request.count > 1) return sendRange(request, response, object);
      response.writeHead(206, { "content-range": `bytes 0-3999/4000` });
      response.end(object.subarray(0, 1500));
    });
    expect(await store.readRanges("x", whole)).toEqual([Uint8Array.from(object)]);
    expect(requests.length).toBe(2);
  });

  test("a reset before any answer", async () => {
    const { store, requests } = await scripted(
      (request, response) => {
        if (request.count === 1) response.socket?.resetAndDestroy();
        else response.writeHead(200, { etag: '"one"' }).end();
      },
      { requestAttempts: 2 },
    );
    await store.put("x", object);
    expect(requests.length).toBe(2);
  });

  test("nobody listens", async () => {
    const server = await startScriptedS3(() => undefined);
    await server.stop();
    const store = await openDataStore("s3://lake", server.options);
    for (const call of [
      () => store.head("x"),
      () => store.readRanges("x", whole),
      () => store.put("x", object),
      () => store.delete("x"),
      () => store.list("").next(),
    ]) {
      const failure = await failureOf(call());
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect(failure.message).toContain("ECONNREFUSED");
    }
    await store.close();
  });

  test("silence in the middle of the bytes is cut and tried again", async () => {
    const { store, requests } = await scripted(
      (request, response) => {
        if (request.count > 1) return sendRange(request, response, object);
        writeRangeHead(request, response, object.length);
        response.write(object.subarray(0, 1500));
      },
      { stallTimeoutMs: 150, requestTimeoutMs: 20_000 },
    );
    expect(await store.readRanges("x", whole)).toEqual([Uint8Array.from(object)]);
    expect(requests.length).toBe(2);
  });

  test("slow bytes are no silence", async () => {
    const { store, requests } = await scripted(
      async (request, response) => {
        writeRangeHead(request, response, object.length);
        for (let start = 0; start < object.length; start += 1000) {
          // The pace of the server is what is tested here.
          await new Promise((resolve) => {
            setTimeout(resolve, 200);
          });
          response.write(object.subarray(start, start + 1000));
        }
        response.end();
      },
      { stallTimeoutMs: 600, requestTimeoutMs: 20_000 },
    );
    expect(await store.readRanges("x", whole)).toEqual([Uint8Array.from(object)]);
    expect(requests.length).toBe(1);
  });

  test("silence for good: store_unavailable within the request timeout, for every call", async () => {
    const { store } = await scripted(() => undefined, { requestTimeoutMs: 400, stallTimeoutMs: 150 });
    for (const call of [
      () => store.head("x"),
      () => store.readRanges("x", whole),
      () => store.put("x", object),
      () => store.delete("x"),
      () => store.list("").next(),
    ]) {
      const failure = await failureWithin(400, call());
      expect(failure).toBeInstanceOf(StoreUnavailableError);
      expect(failure.message).toMatch(/no (?:complete )?answer/u);
      expect(failure.remedy).toContain("requestTimeoutMs");
    }
  });

  test("silence in the middle for good: the same", async () => {
    const { store } = await scripted(
      (request, response) => {
        const length = writeRangeHead(request, response, object.length);
        response.write(object.subarray(0, length - 1));
      },
      { requestTimeoutMs: 400 },
    );
    expect(await failureWithin(400, store.readRanges("x", whole))).toBeInstanceOf(StoreUnavailableError);
  });

  test("closing ends requests under way", async () => {
    let arrived = (): void => undefined;
    const arrival = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const { store } = await scripted(() => arrived(), { requestTimeoutMs: 60_000, stallTimeoutMs: 60_000 });
    const read = failureOf(store.readRanges("x", whole));
    const put = failureOf(store.put("x", object));
    await arrival;
    await store.close();
    expect(await read).toBeInstanceOf(ClosedError);
    expect(await put).toBeInstanceOf(ClosedError);
  });
});

describe("bounds", () => {
  test("requests in flight reach the limit and never pass it, over all calls of a store", async () => {
    const held: (() => void)[] = [];
    const server = await startScriptedS3(
      async (request, response) => {
        held.push(() => sendRange(request, response, object));
        if (held.length < 3 && server.requests.length < 80) return;
        // Gives a fourth request, were there one, the time to come in before any of these is answered.
        for (let turn = 0; turn < 10; turn++) await nextTurn();
        for (const answer of held.splice(0)) answer();
      },
      { requestsInFlight: 3, readBytes: 500 },
    );
    const store = await openDataStore("s3://lake", server.options);
    cleanUp.push(
      () => store.close(),
      () => server.stop(),
    );
    const reads = Array.from({ length: 10 }, () => store.readRanges("x", whole));
    for (const [bytes] of await Promise.all(reads)) expect(bytes).toEqual(Uint8Array.from(object));
    expect(server.requests.length).toBe(80);
    expect(server.mostUnderWay).toBe(3);
  });

  test("a call that has failed asks for nothing more", async () => {
    const { store, requests } = await scripted((_, response) => sendError(response, 404, "NoSuchKey"), {
      requestsInFlight: 2,
      readBytes: 100,
    });
    await expect(store.readRanges("x", whole)).rejects.toThrow(NotFoundError);
    expect(requests.length).toBeLessThanOrEqual(2);
  });

  test("near ranges are one request, far ones are not", async () => {
    const { store, requests } = await scripted((request, response) => sendRange(request, response, object), {
      gapBytes: 100,
    });
    await store.readRanges("x", [
      { offset: 1000, length: 10 },
      { offset: 0, length: 50 },
      { offset: 150, length: 50 },
      { offset: 1110, length: 1 },
    ]);
    expect(requests.map(rangeOf).sort((a, b) => a.first - b.first)).toEqual([
      { first: 0, last: 199 },
      { first: 1000, last: 1110 },
    ]);
  });
});

describe("listing", () => {
  const page = (keys: readonly string[], rest: string): string => {
    const contents = keys.map((key) => `<Contents><Key>${key}</Key><Size>5</Size></Contents>`).join("");
    return `<?xml version="1.0"?><ListBucketResult>${contents}${rest}</ListBucketResult>`;
  };
  const truncated = (token: string): string =>
    `<IsTruncated>true</IsTruncated><NextContinuationToken>${token}</NextContinuationToken>`;

  test("goes on from page to page and leaves out what is no data file", async () => {
    const { store, requests } = await scripted((request, response) => {
      const token = new URL(request.url, "http://s3").searchParams.get("continuation-token");
      if (token === null) response.end(page(["p/", "p/a/", "p/a/1"], truncated("next")));
      else response.end(page(["p/b//2", "p/c/3"], "<IsTruncated>false</IsTruncated>"));
    });
    const found: unknown[] = [];
    for await (const entry of store.list("")) found.push(entry);
    expect(found).toEqual([
      { path: "a/1", sizeBytes: 5 },
      { path: "c/3", sizeBytes: 5 },
    ]);
    expect(requests.map(({ url }) => new URL(url, "http://s3").searchParams.get("prefix"))).toEqual(["p/", "p/"]);
  });

  test("a server that goes round in circles is refused", async () => {
    const { store } = await scripted((_, response) => void response.end(page(["p/a"], truncated("same"))));
    const listAll = async (): Promise<void> => {
      for await (const entry of store.list("")) expect(entry.path).toBe("a");
    };
    await expect(listAll()).rejects.toThrow(StoreError);
  });
});
