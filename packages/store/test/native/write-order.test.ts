import type { Db } from "@slatedb/uniffi";
import { describe, expect, test } from "vitest";
import { BatchBuilder, packKeys, type WriteBatch, valueAt } from "../../src/index.js";
import { nativeLoops, nativeLoopsAvailable } from "../ordered/every-loops.js";
import { bytes, text } from "../ordered/helpers.js";
import { limits } from "../../src/limits.js";
import { nativeAddon } from "./addon.js";
import { flushMemory, memoryPlace } from "./databases.js";
import { collectUntil } from "./garbage.js";
import { numberedKey, rowsOf } from "./loops.js";
import { openDb } from "./open-for-test.js";

const rounds = (process.env["MORAINE_FAULTS"] ?? "") === "" ? 8 : 100;
/** So many that they are copied in several parts. */
const entries = 20_000;
const padding = "-".repeat((2 * limits.nativeCopyBytes) / entries);

function batchOf(count: number, value: string): WriteBatch {
  const batch = new BatchBuilder();
  const bytesOfValue = bytes(value);
  for (let i = 0; i < count; i++) batch.put(bytes(numberedKey(i)), bytesOfValue);
  return batch.finish();
}

/** A batch of several parts whose last entry is refused. */
function failingLate(): WriteBatch {
  const { count, data, ends } = batchOf(entries, `failing${padding}`);
  // Its key is empty, and its value all that belonged to the two.
  ends[2 * count - 2] = ends[2 * count - 3] ?? 0;
  return { count, data, ends };
}

/** A batch whose second entry has an empty key, which the library refuses. */
const failing: WriteBatch = { count: 2, data: bytes(`${numberedKey(0)}wrongx`), ends: Uint32Array.of(7, 12, 12, 13) };

const available = nativeLoopsAvailable("order of native writes");

describe.skipIf(!available)("native writes", () => {
  async function firstValue(db: Db): Promise<string | undefined> {
    return text(valueAt(await nativeLoops().getMany(db, packKeys([bytes(numberedKey(0))]), false), 0));
  }

  test(
    "of one database are applied in the order of their calls, however large the first ones are",
    { timeout: rounds * 10_000 },
    async () => {
      const loops = nativeLoops();
      const db = await openDb(memoryPlace());
      for (let round = 0; round < rounds; round++) {
        const large = batchOf(entries, `large ${round}${padding}`);
        expect(large.data.length).toBeGreaterThan(2 * limits.nativeCopyBytes);
        const calls = [loops.write(db, large)];
        for (let i = 0; i < 10; i++) {
          // Failing ones lose their place, and nothing else.
          if (round % 2 === 1) calls.push(loops.write(db, failing));
          calls.push(loops.write(db, batchOf(3, `small ${round} ${i}`)));
        }
        const settled = await Promise.allSettled(calls);
        const sequences = settled.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
        expect(sequences).toHaveLength(11);
        expect(sequences).toEqual([...sequences].sort((a, b) => (a < b ? -1 : 1)));
        const failed = settled.flatMap((each) => (each.status === "rejected" ? [each.reason as Error] : []));
        expect(failed).toHaveLength(round % 2 === 1 ? 10 : 0);
        for (const error of failed) expect(error).toMatchObject({ tag: "Invalid" });
        expect(await firstValue(db)).toBe(`small ${round} 9`);
        const last = await loops.getMany(db, packKeys([bytes(numberedKey(3)), bytes(numberedKey(entries - 1))]), false);
        expect([0, 1].map((i) => text(valueAt(last, i)))).toEqual([1, 2].map(() => `large ${round}${padding}`));
        await flushMemory(db);
      }
    },
  );

  test("of several databases do not wait for each other", async () => {
    const loops = nativeLoops();
    const [slow, quick] = [await openDb(memoryPlace()), await openDb(memoryPlace())];
    const addon = nativeAddon();
    // Open for as long as this wants, so that whatever waits for it does too.
    const open = addon.writeBegin(slow.uniffiHandle);
    let isBehindApplied = false;
    const behind = loops.write(slow, batchOf(1, "second")).finally(() => {
      isBehindApplied = true;
    });
    await loops.write(quick, batchOf(1, "other"));
    expect(await firstValue(quick)).toBe("other");
    expect([await firstValue(slow), isBehindApplied]).toEqual([undefined, false]);
    const { data, ends } = batchOf(1, "first");
    addon.writeAppend(open, data, ends, 0);
    expect(await addon.writeEnd(open)).toBeLessThan(await behind);
    expect(await firstValue(slow)).toBe("second");
  });

  test("of which a late part fails apply nothing of it", async () => {
    const loops = nativeLoops();
    const db = await openDb(memoryPlace());
    const late = loops.write(db, failingLate());
    const next = loops.write(db, batchOf(2, "fine"));
    await expect(late).rejects.toMatchObject({ tag: "Invalid" });
    await next;
    expect(await rowsOf(loops, db)).toEqual([`${numberedKey(0)}=fine`, `${numberedKey(1)}=fine`]);
  });

  test("that are begun and forgotten make place for the next ones, and apply nothing", async () => {
    const loops = nativeLoops();
    const addon = nativeAddon();
    const db = await openDb(memoryPlace());
    const { data, ends } = batchOf(2, "forgotten");
    (() => {
      addon.writeBegin(db.uniffiHandle);
      addon.writeAppend(addon.writeBegin(db.uniffiHandle), data, ends, 0);
    })();
    let isApplied = false;
    const next = loops.write(db, batchOf(1, "next")).finally(() => {
      isApplied = true;
    });
    await collectUntil(() => isApplied);
    await next;
    expect(await rowsOf(loops, db)).toEqual([`${numberedKey(0)}=next`]);
  });

  test("after a batch that failed the next one is applied as a whole", async () => {
    const loops = nativeLoops();
    const db = await openDb(memoryPlace());
    await expect(loops.write(db, failing)).rejects.toMatchObject({ tag: "Invalid" });
    expect(await firstValue(db)).toBeUndefined();
    await loops.write(db, batchOf(2, "fine"));
    expect(await firstValue(db)).toBe("fine");
  });
});
