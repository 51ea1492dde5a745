import fc from "fast-check";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { MoraineError } from "@moraine/codec";
import { BatchBuilder } from "./batch-builder.js";
import { decodeManifest, newestManifestName } from "./manifest.js";
import { openStore } from "./open-store.js";

/** Manifests as this SlateDB writes them: a change of its format must fail here, not in a stalled writer. */
async function writeManifests(): Promise<{ name: string; bytes: Buffer }[]> {
  const folder = mkdtempSync(join(tmpdir(), "moraine-manifest-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (let opening = 1; opening <= 3; opening++) {
    const store = await openStore(folder);
    const batch = new BatchBuilder();
    batch.put(Uint8Array.of(1), Uint8Array.of(opening));
    await store.write(batch.finish());
    await store.close();
  }
  const manifests = join(folder, "manifest");
  return readdirSync(manifests)
    .sort()
    .map((name) => ({ name, bytes: readFileSync(join(manifests, name)) }));
}

test("the writer epoch counts openings, and closing leaves nothing to replay", async () => {
  const manifests = await writeManifests();
  const heads = manifests.map(({ bytes }) => decodeManifest(bytes));
  const epochs = heads.map(({ writerEpoch }) => writerEpoch);
  expect([...new Set(epochs)].filter((epoch) => epoch > 0n)).toEqual([1n, 2n, 3n]);
  // Each opening makes a fence object and each commit one more.
  expect(heads.at(-1)).toEqual({ writerEpoch: 3n, replayAfterWalId: 6n });
  expect(newestManifestName(manifests.map(({ name }) => name))).toBe(manifests.at(-1)?.name);
});

test("other bytes than a manifest's give a typed error", async () => {
  const real = (await writeManifests()).at(-1)?.bytes ?? Buffer.alloc(0);
  const decodeOrRefuse = (bytes: Uint8Array): void => {
    try {
      decodeManifest(bytes);
    } catch (error) {
      expect(error).toBeInstanceOf(MoraineError);
      expect(error).toMatchObject({ code: "corruption" });
    }
  };
  expect(() => decodeManifest(new Uint8Array(0))).toThrow(expect.objectContaining({ code: "corruption" }));
  expect(() => decodeManifest(Uint8Array.of(0, 9, 0, 0, 0, 0))).toThrow(/version 9/u);
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), decodeOrRefuse));
  fc.assert(
    fc.property(fc.nat(real.length - 1), fc.integer({ min: 0, max: 255 }), fc.nat(real.length), (at, byte, length) => {
      const changed = Uint8Array.from(real.subarray(0, length));
      if (at < changed.length) changed[at] = byte;
      decodeOrRefuse(changed);
    }),
  );
});

test("names that are no manifest's are passed over", () => {
  expect(newestManifestName([])).toBeUndefined();
  expect(newestManifestName(["99999999999999999999.manifest#1", "x.manifest", "boundary"])).toBeUndefined();
  expect(
    newestManifestName([
      "00000000000000000009.manifest",
      "00000000000000000010.manifest",
      "00000000000000000002.manifest",
    ]),
  ).toBe("00000000000000000010.manifest");
});
