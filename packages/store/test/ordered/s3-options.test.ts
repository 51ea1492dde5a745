import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { DataStoreSet, openStore, openStoreReader } from "../../src/index.js";
import { closing, rows, write } from "./helpers.js";
import { hasS3Server, startS3Server, type S3Server } from "../s3-server.js";
import { setEnvironment } from "../s3-environment.js";

describe.skipIf(!hasS3Server("S3 settings given by hand"))("S3 settings given by hand", () => {
  let server: S3Server;
  beforeAll(async () => {
    server = await startS3Server();
    await server.createBucket("stores");
  });
  afterAll(() => server.stop());
  // Nothing of the environment would lead to the server or be let in there.
  beforeEach(() => {
    onTestFinished(
      setEnvironment({
        AWS_ACCESS_KEY_ID: "nobody",
        AWS_SECRET_ACCESS_KEY: "nothing",
        AWS_SESSION_TOKEN: "stale",
        AWS_REGION: "mars-north-1",
        AWS_ENDPOINT: "http://127.0.0.1:1",
        AWS_ENDPOINT_URL: undefined,
        AWS_PROFILE: undefined,
      }),
    );
  });

  const given = (): { readonly s3: object } => {
    const { endpoint, region, credentials } = server;
    return { s3: { endpoint, region, credentials } };
  };

  test("serve a writer, a reader and data files", async () => {
    const store = closing(await openStore("s3://stores/given", given()));
    await write(store, { a: "1" });
    await store.checkpointMemory();
    const reader = closing(await openStoreReader("s3://stores/given", given()));
    expect(await rows(reader)).toEqual(["a=1"]);
    const files = closing(new DataStoreSet("s3://stores/data", given()));
    await files.root.put("x", Buffer.from("bytes"));
    expect((await files.root.head("x")).sizeBytes).toBe(5);
    expect(process.env).toMatchObject({ AWS_ACCESS_KEY_ID: "nobody", AWS_SESSION_TOKEN: "stale" });
  });

  test("are checked as those of the environment are", async () => {
    const s3 = { ...given().s3, credentials: { accessKeyId: "test", secretAccessKey: "wrong" } };
    const refusal = {
      code: "store_unavailable",
      message: expect.stringContaining("refused the credentials") as unknown,
    };
    await expect(openStore("s3://stores/given", { s3 })).rejects.toMatchObject(refusal);
    await expect(openStoreReader("s3://stores/given", { s3 })).rejects.toMatchObject(refusal);
  });

  test("leave the rest to the environment", async () => {
    const { accessKeyId, secretAccessKey } = server.credentials;
    onTestFinished(
      setEnvironment({
        AWS_ACCESS_KEY_ID: accessKeyId,
        AWS_SECRET_ACCESS_KEY: secretAccessKey,
        AWS_SESSION_TOKEN: undefined,
        AWS_REGION: server.region,
      }),
    );
    const store = closing(await openStore("s3://stores/partly", { s3: { endpoint: server.endpoint } }));
    await write(store, { a: "1" });
    expect(await rows(store)).toEqual(["a=1"]);
  });
});
