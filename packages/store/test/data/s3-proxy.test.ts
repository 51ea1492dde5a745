import { randomBytes } from "node:crypto";
import { StoreUnavailableError } from "@moraine/codec";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openDataStore } from "../../src/data/open-data-store.js";
import type { DataStore } from "../../src/interface.js";
import { type S3Server, hasS3Server, startS3Server } from "../s3-server.js";
import { CuttingProxy } from "../cutting-proxy.js";
import { sameBytes } from "./same-bytes.js";

const requestTimeoutMs = 700;
/** How much later than its time limit a call may fail on a busy machine. */
const slackMs = 2000;

describe.skipIf(!hasS3Server("S3 behind a failing network"))("S3 behind a failing network", () => {
  const object = randomBytes(300_000);
  const whole = [{ offset: 0, length: object.length }];
  let server: S3Server;
  let proxy: CuttingProxy;
  let direct: DataStore;
  let store: DataStore;

  beforeAll(async () => {
    server = await startS3Server();
    await server.createBucket("lake");
    proxy = await CuttingProxy.start(server.port);
    const s3 = { region: server.region, credentials: server.credentials };
    direct = await openDataStore("s3://lake/data", { s3: { ...s3, endpoint: server.endpoint } });
    store = await openDataStore("s3://lake/data", {
      requestTimeoutMs,
      stallTimeoutMs: 250,
      readBytes: 50_000,
      s3: { ...s3, endpoint: `http://127.0.0.1:${proxy.port}` },
    });
    await direct.put("x.parquet", object);
  });

  beforeEach(() => proxy.set(undefined));

  afterAll(async () => {
    await store.close();
    await direct.close();
    await proxy.stop();
    await server.stop();
  });

  const calls = {
    head: () => store.head("x.parquet"),
    readRanges: () => store.readRanges("x.parquet", whole),
    put: () => store.put("y.parquet", object),
    delete: () => store.delete("z.parquet"),
    list: () => store.list("").next(),
  };

  test("without a fault, everything passes", async () => {
    expect(sameBytes(await store.readRanges("x.parquet", whole), [object])).toBe(true);
    await store.put("y.parquet", object);
    expect(await store.head("y.parquet")).toEqual({ path: "y.parquet", sizeBytes: object.length });
  });

  for (const [name, call] of Object.entries(calls)) {
    for (const kind of ["cut", "stall"] as const) {
      test(`${name}: every connection is ${kind}: store_unavailable within the request timeout`, async () => {
        proxy.set({ kind, afterBytes: 60 });
        const start = performance.now();
        const failure: unknown = await call().catch((error: unknown) => error);
        expect(performance.now() - start).toBeLessThan(requestTimeoutMs + slackMs);
        expect(failure).toBeInstanceOf(StoreUnavailableError);
        expect(failure).toMatchObject({ retryable: true });
        expect(String(failure)).toContain("s3://lake/data");
        expect(proxy.struck).toBeGreaterThan(0);
      });
    }
  }

  test("a few cuts in the middle of the bytes are not seen by the caller", async () => {
    proxy.set({ kind: "cut", afterBytes: 30_000, times: 3 });
    expect(sameBytes(await store.readRanges("x.parquet", whole), [object])).toBe(true);
    expect(proxy.struck).toBe(3);
  });

  test("one stall in the middle of the bytes is not seen by the caller", async () => {
    const patient = await openDataStore("s3://lake/data", {
      stallTimeoutMs: 250,
      s3: {
        endpoint: `http://127.0.0.1:${proxy.port}`,
        region: server.region,
        credentials: server.credentials,
      },
    });
    proxy.set({ kind: "stall", afterBytes: 30_000, times: 1 });
    expect(sameBytes(await patient.readRanges("x.parquet", whole), [object])).toBe(true);
    expect(proxy.struck).toBe(1);
    await patient.close();
  });

  test("the store works again when the network does", async () => {
    proxy.set({ kind: "cut", afterBytes: 0 });
    await expect(store.head("x.parquet")).rejects.toThrow(StoreUnavailableError);
    proxy.set(undefined);
    expect(await store.head("x.parquet")).toEqual({ path: "x.parquet", sizeBytes: object.length });
  });

  test("wrong credentials and a missing bucket are told apart from a missing object", async () => {
    const s3 = { endpoint: server.endpoint, region: server.region };
    const stranger = await openDataStore("s3://lake", {
      s3: { ...s3, credentials: { accessKeyId: "nobody", secretAccessKey: "nothing" } },
    });
    await expect(stranger.readRanges("x.parquet", whole)).rejects.toThrow(StoreUnavailableError);
    await expect(stranger.head("x.parquet")).rejects.toThrow(StoreUnavailableError);
    await stranger.close();
    const nowhere = await openDataStore("s3://nowhere", { s3: { ...s3, credentials: server.credentials } });
    for (const call of [
      () => nowhere.head("x"),
      () => nowhere.readRanges("x", whole),
      () => nowhere.put("x", object),
      () => nowhere.list("").next(),
    ]) {
      await expect(call()).rejects.toThrow(StoreUnavailableError);
    }
    await nowhere.close();
  });
});
