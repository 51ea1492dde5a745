import { once } from "node:events";
import { createServer } from "node:net";
import { Catalog } from "moraine";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { setEnvironment, useS3Environment } from "../../../../packages/store/test/s3-environment.js";
import { hasS3Server, startS3Server, type S3Server } from "../../../../packages/store/test/s3-server.js";
import { EventLake, eventRow, events } from "./event-lake.js";

const openLimitMs = 10_000;

describe.skipIf(!hasS3Server("opening lakes in S3"))("opening a lake in S3", () => {
  let server: S3Server;
  let restore: () => void;

  beforeAll(async () => {
    server = await startS3Server();
    await server.createBucket("lakes");
    restore = useS3Environment(server);
    await using made = await Catalog.open({ store: "s3://lakes/made/store", dataPath: "s3://lakes/made/data" });
    await made.commit((tx) => tx.createSchema({ name: "staging" }));
  });
  afterAll(async () => {
    restore();
    await server.stop();
  });

  async function expectRefused(store: string, refusal: object): Promise<void> {
    const began = performance.now();
    await Promise.all([
      expect(Catalog.open({ store, dataPath: "s3://lakes/made/data" })).rejects.toMatchObject(refusal),
      expect(Catalog.openReadOnly({ store })).rejects.toMatchObject(refusal),
    ]);
    expect(performance.now() - began).toBeLessThan(openLimitMs);
  }

  it.each([
    ["AWS_SECRET_ACCESS_KEY", "wrong"],
    ["AWS_ACCESS_KEY_ID", "nobody"],
  ])("with wrong credentials (%s) is refused in time, for writing and for reading", async (name, value) => {
    onTestFinished(setEnvironment({ [name]: value }));
    await expectRefused("s3://lakes/made/store", {
      code: "store_unavailable",
      message: expect.stringContaining("refused the credentials") as unknown,
    });
  });

  it("in a bucket that does not exist is refused in time, and names it", async () => {
    await expectRefused("s3://nowhere/store", {
      code: "store_unavailable",
      message: expect.stringContaining("the bucket nowhere does not exist") as unknown,
    });
  });

  it("where nobody listens is refused in time", async () => {
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const address = silent.address();
    if (address === null || typeof address === "string") throw new Error("no port was given");
    silent.close();
    onTestFinished(setEnvironment({ AWS_ENDPOINT: `http://127.0.0.1:${address.port}` }));
    await expectRefused("s3://lakes/made/store", { code: "store_unavailable" });
  });

  it("for reading where there is no store is `not_found`, and makes nothing", async () => {
    for (let i = 0; i < 2; i++)
      await expect(Catalog.openReadOnly({ store: "s3://lakes/none/store" })).rejects.toMatchObject({
        code: "not_found",
      });
  });

  it("with another data path than the recorded one is refused, and the lake stays usable", async () => {
    const other = { store: "s3://lakes/made/store", dataPath: "s3://lakes/made/other" };
    await expect(Catalog.open(other)).rejects.toMatchObject({ code: "configuration" });
    await using again = await Catalog.open({ store: other.store });
    expect((await again.snapshot()).schemaByName("staging")?.name).toBe("staging");
  });

  it("whose data path lies in a bucket that does not exist: inline rows work, and whatever needs a file is refused", async () => {
    const lake = await EventLake.create({ store: "s3://lakes/apart/store", dataPath: "s3://nowhere/data" });
    const { catalog } = lake;
    const table = await lake.table();
    const { byId } = await lake.indexes();
    await catalog.commit((tx) => tx.inlineInsert({ table, rows: [eventRow(1)] }));
    const refusal = { code: "store_unavailable" };
    await expect(catalog.flushInlined({ table })).rejects.toMatchObject(refusal);
    const file = { path: "a.parquet", recordCount: 1, fileSizeBytes: 1_000, footerSize: 100 };
    const register = catalog.commit((tx) => tx.registerDataFile({ table, file, entries: "scoped-read" }));
    await expect(register).rejects.toMatchObject(refusal);
    expect(await catalog.indexLookup({ index: byId, key: [1] })).toEqual([0n]);
    await lake.expectVerified();
  });

  it("does not take files that are missing, cut short or not as described", async () => {
    const lake = await EventLake.create({ store: "s3://lakes/files/store", dataPath: "s3://lakes/files/data" });
    const { catalog } = lake;
    const table = await lake.table();
    const file = await lake.putFile("whole.parquet", events(0, 50));
    const size = Number(file.fileSizeBytes);
    const [bytes] = await lake.data.readRanges("main/events/whole.parquet", [{ offset: 0, length: size }]);
    await lake.data.put("main/events/short.parquet", bytes!.subarray(0, size - 200));
    await lake.data.put("main/events/noise.parquet", Uint8Array.from(bytes!).reverse());
    const wrong = [
      { ...file, path: "missing.parquet" },
      { ...file, path: "short.parquet" },
      { ...file, path: "noise.parquet" },
      { ...file, recordCount: 49 },
      { ...file, fileSizeBytes: size + 1 },
    ];
    const codes: string[] = [];
    for (const described of wrong) {
      const entries = "scoped-read";
      const failure: unknown = await catalog
        .commit((tx) => tx.registerDataFile({ table, file: described, entries }))
        .then(() => "landed")
        .catch((error: unknown) => error);
      codes.push((failure as { code: string }).code);
    }
    expect(codes).toEqual(["not_found", "data_file", "data_file", "corruption", "data_file"]);
    await lake.expectVerified();
    await catalog.commit((tx) => tx.registerDataFile({ table, file, entries: "scoped-read" }));
    await lake.expectVerified();
  });
});
