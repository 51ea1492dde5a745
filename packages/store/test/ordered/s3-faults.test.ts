import { describe, expect, test } from "vitest";
import { getOne, openStore } from "../../src/index.js";
import { useS3BehindProxy } from "../s3-behind-proxy.js";
import { hasS3Server } from "../s3-server.js";
import { bytes, closing, rows, write } from "./helpers.js";

describe.skipIf(!hasS3Server("store in S3 behind a failing network"))("store in S3 behind a failing network", () => {
  const s3 = useS3BehindProxy();

  test("answers that are cut off after the request was carried out cost time, not writes", async () => {
    const store = closing(await openStore("s3://stores/cut"));
    for (let i = 0; i < 5; i++) {
      // The object is made, the answer is lost: the engine must recognise its own object when it tries again.
      s3.proxy.set({ kind: "cut", afterBytes: 0, times: 2 });
      await write(store, { [`k${i}`]: `${i}`, head: `${i}` });
      expect(s3.proxy.struck).toBe(2);
    }
    s3.proxy.set({ kind: "cut", afterBytes: 0, times: 1 });
    await Promise.all(Array.from({ length: 20 }, (_, i) => write(store, { [`m${i}`]: "v" })));
    s3.proxy.set(undefined);
    const next = closing(await openStore("s3://stores/cut"));
    expect(await rows(next, "k", "l")).toEqual(["k0=0", "k1=1", "k2=2", "k3=3", "k4=4"]);
    expect((await rows(next, "m", "n")).length).toBe(20);
    expect(await rows(next, "head", "heae")).toEqual(["head=4"]);
  });

  test("a write that gets no answer in time ends the handle; what was acknowledged is there afterwards", async () => {
    const store = closing(await openStore("s3://stores/silent", { requestTimeoutMs: 1_000 }));
    await write(store, { a: "1" });
    s3.proxy.set({ kind: "stall", afterBytes: 0 });
    const began = performance.now();
    const failure = { code: "store_unavailable" };
    await expect(Promise.all([write(store, { a: "2" }), write(store, { b: "2" })])).rejects.toMatchObject(failure);
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(store.failure).toMatchObject(failure);
    await expect(write(store, { a: "3" })).rejects.toMatchObject(failure);
    await expect(getOne(store, bytes("a"))).rejects.toMatchObject(failure);
    s3.proxy.set(undefined);
    const next = closing(await openStore("s3://stores/silent"));
    const found = await rows(next);
    // Never half of them in a way that the order does not allow: the second write only with the first.
    expect([["a=1"], ["a=2"], ["a=2", "b=2"]]).toContainEqual(found);
    await write(next, { a: "4" });
    await expect(write(store, { a: "5" })).rejects.toMatchObject(failure);
    expect(await rows(next, "a", "b")).toEqual(["a=4"]);
  });

  test("a read that gets no answer in time fails, and the handle lives on", async () => {
    const first = closing(await openStore("s3://stores/reads"));
    await write(first, { a: "1" });
    await first.close();
    const store = closing(await openStore("s3://stores/reads", { requestTimeoutMs: 500, blockCache: false }));
    s3.proxy.set({ kind: "stall", afterBytes: 0 });
    await expect(getOne(store, bytes("a"))).rejects.toMatchObject({ code: "store_unavailable" });
    await expect(store.scan({}).next()).rejects.toMatchObject({ code: "store_unavailable" });
    expect(store.failure).toBeNull();
    s3.proxy.set(undefined);
    expect(await rows(store)).toEqual(["a=1"]);
  });
});
