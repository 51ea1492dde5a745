import { once } from "node:events";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTcpServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openStore, openStoreReader } from "../../src/index.js";
import { CuttingProxy } from "../cutting-proxy.js";
import { hasS3Server, startS3Server, type S3Server } from "../s3-server.js";
import { closing, rows, temporaryFolder, write } from "./helpers.js";
import { setEnvironment, useS3Environment } from "../s3-environment.js";

const credentials = { accessKeyId: "test", secretAccessKey: "testtest" };

function containing(part: string): unknown {
  return expect.stringContaining(part);
}

function useEndpoint(port: number): void {
  onTestFinished(useS3Environment({ endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", credentials }));
}

async function listen(server: ReturnType<typeof createTcpServer>): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  return address.port;
}

/** A server that says yes to everything, except where the test says otherwise. */
async function startYesServer(
  answer: (request: IncomingMessage, response: ServerResponse) => boolean,
): Promise<number> {
  const server = createServer((request, response) => {
    request.resume().once("end", () => {
      if (answer(request, response)) return;
      if (request.method !== "GET") {
        response.end();
        return;
      }
      response.setHeader("content-type", "application/xml");
      response.end(
        '<?xml version="1.0"?><ListBucketResult><Name>stores</Name><KeyCount>0</KeyCount></ListBucketResult>',
      );
    });
  });
  const port = await listen(server);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return port;
}

describe("S3 preflight without a real server", () => {
  test("S20: a service that ignores If-None-Match is refused", async () => {
    useEndpoint(await startYesServer(() => false));
    await expect(openStore("s3://stores/x")).rejects.toMatchObject({
      code: "configuration",
      message: containing("If-None-Match"),
    });
  });

  test("a service that does not know If-None-Match is refused", async () => {
    const port = await startYesServer((request, response) => {
      if (request.method !== "PUT") return false;
      response.statusCode = 501;
      response.end('<?xml version="1.0"?><Error><Code>NotImplemented</Code><Message>no</Message></Error>');
      return true;
    });
    useEndpoint(port);
    await expect(openStore("s3://stores/x")).rejects.toMatchObject({ code: "configuration" });
  });

  test("a reader that may not put manifests is refused before the engine tries for ever", async () => {
    const folder = join(temporaryFolder(), "store");
    await (await openStore(folder)).close();
    const name = readdirSync(join(folder, "manifest")).toSorted().at(-1) ?? "";
    const manifest = readFileSync(join(folder, "manifest", name));
    const puts: string[] = [];
    const port = await startYesServer((request, response) => {
      const { method, url = "" } = request;
      if (method === "PUT") {
        puts.push(`${url.split("?")[0]} ${request.headers["if-none-match"]}`);
        response.statusCode = 403;
        response.end('<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>no</Message></Error>');
        return true;
      }
      if (url.includes("list-type=2")) {
        response.setHeader("content-type", "application/xml");
        const key = `<Contents><Key>x/manifest/${name}</Key></Contents>`;
        response.end(`<?xml version="1.0"?><ListBucketResult><KeyCount>1</KeyCount>${key}</ListBucketResult>`);
        return true;
      }
      response.end(manifest);
      return true;
    });
    useEndpoint(port);
    const began = performance.now();
    await expect(openStoreReader("s3://stores/x")).rejects.toMatchObject({
      code: "store_unavailable",
      message: containing("refused the credentials for the bucket stores (403)"),
      remedy: containing("readers need list, get and put"),
    });
    expect(performance.now() - began).toBeLessThan(10_000);
    // Only what is there already was put, and only on the condition that it is not.
    expect(puts).toEqual([`/stores/x/manifest/${name} *`]);
  });

  test("an endpoint where nobody listens is unavailable", async () => {
    const server = createTcpServer();
    const port = await listen(server);
    server.close();
    useEndpoint(port);
    const began = performance.now();
    const refusal = { code: "store_unavailable", message: containing(`127.0.0.1:${port}`) };
    await expect(openStore("s3://stores/x")).rejects.toMatchObject(refusal);
    await expect(openStoreReader("s3://stores/x")).rejects.toMatchObject(refusal);
    expect(performance.now() - began).toBeLessThan(20_000);
  });

  test("an endpoint that never answers is unavailable after the time limit", async () => {
    const sockets: Socket[] = [];
    const server = createTcpServer((socket) => sockets.push(socket));
    const port = await listen(server);
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    useEndpoint(port);
    const began = performance.now();
    const refusal = { code: "store_unavailable", message: containing("did not answer within 500 ms") };
    await expect(openStore("s3://stores/x", { preflightTimeoutMs: 500 })).rejects.toMatchObject(refusal);
    await expect(openStoreReader("s3://stores/x", { preflightTimeoutMs: 500 })).rejects.toMatchObject(refusal);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(sockets.length).toBeGreaterThan(0);
  });
});

describe.skipIf(!hasS3Server("S3 preflight"))("S3 preflight", () => {
  let server: S3Server;
  let proxy: CuttingProxy;
  let restore: () => void;
  beforeAll(async () => {
    server = await startS3Server();
    await server.createBucket("stores");
    proxy = await CuttingProxy.start(server.port);
  });
  beforeEach(() => {
    restore = useS3Environment(server);
    onTestFinished(() => restore());
  });
  afterAll(async () => {
    await proxy.stop();
    await server.stop();
  });

  test("a missing bucket is named", async () => {
    const refusal = {
      code: "store_unavailable",
      message: containing("the bucket missing does not exist"),
    };
    await expect(openStore("s3://missing/x")).rejects.toMatchObject(refusal);
    await expect(openStoreReader("s3://missing/x")).rejects.toMatchObject(refusal);
  });

  test.each([
    ["AWS_SECRET_ACCESS_KEY", "wrong"],
    ["AWS_ACCESS_KEY_ID", "nobody"],
  ])("wrong credentials are refused: %s", async (name, value) => {
    onTestFinished(setEnvironment({ [name]: value }));
    const refusal = { code: "store_unavailable", message: containing("refused the credentials") };
    await expect(openStore("s3://stores/x")).rejects.toMatchObject(refusal);
    await expect(openStoreReader("s3://stores/x")).rejects.toMatchObject(refusal);
  });

  test("a connection that fails at first is tried again", async () => {
    restore();
    restore = useS3Environment(server, `http://127.0.0.1:${proxy.port}`);
    proxy.set({ kind: "cut", afterBytes: 0, times: 2 });
    const store = closing(await openStore("s3://stores/shaky"));
    expect(proxy.struck).toBe(2);
    await write(store, { a: "1" });
    await store.close();
  });

  test("variables of other tools do not change where or as whom the store connects", async () => {
    const strangers = { TOKEN: "x", ENDPOINT: "http://127.0.0.1:1", REGION: "mars", BUCKET: "other", Timeout: "soon" };
    onTestFinished(setEnvironment(strangers));
    const store = closing(await openStore("s3://stores/strangers"));
    await write(store, { a: "1" });
    expect(await rows(store)).toEqual(["a=1"]);
    expect(process.env).toMatchObject(strangers);
    await store.close();
  });

  test("keys of an AWS profile serve both the preflight and the store", async () => {
    const file = join(temporaryFolder(), "credentials");
    const { accessKeyId, secretAccessKey } = server.credentials;
    writeFileSync(file, `[lake]\naws_access_key_id = ${accessKeyId}\naws_secret_access_key = ${secretAccessKey}\n`);
    const profile = { AWS_SHARED_CREDENTIALS_FILE: file, AWS_PROFILE: "lake", AWS_CONFIG_FILE: file };
    onTestFinished(setEnvironment({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, ...profile }));
    const store = closing(await openStore("s3://stores/profile"));
    await write(store, { a: "1" });
    await store.close();
    expect(process.env["AWS_ACCESS_KEY_ID"]).toBeUndefined();
  });

  test("keys that expire and that the store could not renew are refused", async () => {
    const folder = temporaryFolder();
    const { accessKeyId, secretAccessKey } = server.credentials;
    const answer = {
      Version: 1,
      AccessKeyId: accessKeyId,
      SecretAccessKey: secretAccessKey,
      Expiration: new Date(Date.now() + 3_600_000).toISOString(),
    };
    writeFileSync(join(folder, "answer.json"), JSON.stringify(answer));
    writeFileSync(join(folder, "config"), `[profile lake]\ncredential_process = cat ${join(folder, "answer.json")}\n`);
    writeFileSync(join(folder, "credentials"), "");
    onTestFinished(
      setEnvironment({
        AWS_ACCESS_KEY_ID: undefined,
        AWS_SECRET_ACCESS_KEY: undefined,
        AWS_PROFILE: "lake",
        AWS_CONFIG_FILE: join(folder, "config"),
        AWS_SHARED_CREDENTIALS_FILE: join(folder, "credentials"),
      }),
    );
    await expect(openStore("s3://stores/expiring")).rejects.toMatchObject({
      code: "configuration",
      message: containing("expire"),
    });
  });
});
