import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ByteRange, DataStore } from "../../src/interface.js";
import { type StartedBackend, allBackends } from "./backends.js";
import { sameBytes } from "./same-bytes.js";

const objectBytes = 5000;

const range = fc
  .tuple(fc.nat(objectBytes), fc.nat(objectBytes))
  .map(([a, b]): ByteRange => ({ offset: Math.min(a, b), length: Math.abs(a - b) }));
const shortRange = fc.record({ offset: fc.nat(objectBytes - 100), length: fc.nat(100) });
const ranges = fc.array(fc.oneof({ weight: 1, arbitrary: range }, { weight: 4, arbitrary: shortRange }), {
  maxLength: 12,
});

for (const backendKind of allBackends("random ranges over S3")) {
  describe.skipIf(!backendKind.available)(`random ranges: ${backendKind.name}`, () => {
    const object = randomBytes(objectBytes);
    let backend: StartedBackend;
    let stores: DataStore[];

    beforeAll(async () => {
      backend = await backendKind.start();
      stores = await Promise.all([
        backend.open(),
        backend.open({ gapBytes: 0, readBytes: 300, requestsInFlight: 2 }),
        backend.open({ gapBytes: 50, readBytes: 1000, requestsInFlight: 1 }),
      ]);
      await stores[0]?.put("object", object);
    });

    afterAll(async () => {
      await Promise.all(stores.map((store) => store.close()));
      await backend.stop();
    });

    test("equal the same slices of a buffer", async () => {
      await fc.assert(
        fc.asyncProperty(fc.nat(2), ranges, async (which, asked) => {
          const parts = await stores[which]?.readRanges("object", asked);
          const expected = asked.map(({ offset, length }) => object.subarray(offset, offset + length));
          expect(sameBytes(parts, expected)).toBe(true);
        }),
        { numRuns: backendKind.name === "s3" ? 60 : 200 },
      );
    });
  });
}
