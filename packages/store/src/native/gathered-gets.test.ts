import { describe, expect, test } from "vitest";
import type { PackedKeys, PackedValues } from "../interface.js";
import { keyAt, valueAt } from "../packed.js";
import { GatheredGets } from "./gathered-gets.js";

interface Call {
  readonly from: string;
  readonly keys: number[][];
}

interface From {
  readonly name: string;
}

/** Each key is its own value, but keys of one byte, which are absent. */
function answer(keys: PackedKeys): PackedValues {
  const lengths = Uint32Array.from(keys.ends, (_, i) => {
    const { length } = keyAt(keys, i);
    return length === 1 ? 0xffff_ffff : length;
  });
  return { data: keys.data, offsets: Uint32Array.from(keys.ends, (_, i) => keys.ends[i - 1] ?? 0), lengths };
}

function gather(getBatch: (from: From, keys: PackedKeys) => Promise<PackedValues>): {
  gets: GatheredGets<From>;
  calls: Call[];
} {
  const calls: Call[] = [];
  const gets = new GatheredGets<From>((from, keys) => {
    calls.push({ from: from.name, keys: Array.from(keys.ends, (_, i) => [...keyAt(keys, i)]) });
    return getBatch(from, keys);
  });
  return { gets, calls };
}

const a: From = { name: "a" };
const b: From = { name: "b" };

async function valueOf(call: Promise<PackedValues>): Promise<number[] | undefined> {
  const values = await call;
  expect(values.lengths).toHaveLength(1);
  expect(values.offsets).toHaveLength(1);
  const value = valueAt(values, 0);
  return value && [...value];
}

describe("gathered gets", () => {
  test("gets of one microtask are one call for each readable, in the order in which they came", async () => {
    const { gets, calls } = gather((_, keys) => Promise.resolve(answer(keys)));
    const found = [
      gets.get(a, Uint8Array.of(1, 2)),
      gets.get(b, Uint8Array.of(3, 4, 5)),
      gets.get(a, Uint8Array.of(6)),
      gets.get(a, new Uint8Array(0)),
      gets.get(a, Uint8Array.of(1, 2)),
    ];
    expect(calls).toEqual([]);
    expect(await Promise.all(found.map(valueOf))).toEqual([[1, 2], [3, 4, 5], undefined, [], [1, 2]]);
    expect(calls).toEqual([
      { from: "a", keys: [[1, 2], [6], [], [1, 2]] },
      { from: "b", keys: [[3, 4, 5]] },
    ]);
  });

  test("a get that comes when the others have been sent is a call of its own", async () => {
    const { gets, calls } = gather((_, keys) => Promise.resolve(answer(keys)));
    await gets.get(a, Uint8Array.of(1, 1));
    await gets.get(a, Uint8Array.of(2, 2));
    expect(calls.map(({ keys }) => keys)).toEqual([[[1, 1]], [[2, 2]]]);
  });

  test("gets of one readable can be sent before their time; those of others, and later ones, are sent in theirs", async () => {
    const { gets, calls } = gather((_, keys) => Promise.resolve(answer(keys)));
    gets.sendNow(a);
    const found = [
      gets.get(a, Uint8Array.of(1, 1)),
      gets.get(b, Uint8Array.of(2, 2)),
      gets.get(a, Uint8Array.of(3, 3)),
    ];
    gets.sendNow(a);
    gets.sendNow(a);
    found.push(gets.get(a, Uint8Array.of(4, 4)));
    const early = {
      from: "a",
      keys: [
        [1, 1],
        [3, 3],
      ],
    };
    expect(calls).toEqual([early]);
    expect(await Promise.all(found.map(valueOf))).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ]);
    expect(calls).toEqual([early, { from: "b", keys: [[2, 2]] }, { from: "a", keys: [[4, 4]] }]);
    gets.sendNow(b);
    const last = gets.get(b, Uint8Array.of(5, 5));
    gets.sendNow(b);
    expect(await valueOf(last)).toEqual([5, 5]);
    expect(calls).toHaveLength(4);
  });

  test("keys are copied at the call: many, of all lengths, each changed afterwards", async () => {
    const { gets, calls } = gather((_, keys) => Promise.resolve(answer(keys)));
    const found = Array.from({ length: 300 }, (_, i) => {
      const key = new Uint8Array(2 + (i % 90)).fill(i % 256);
      const call = gets.get(a, key);
      key.fill(255);
      return call;
    });
    const values = await Promise.all(found.map(valueOf));
    expect(values).toEqual(values.map((_, i) => Array.from({ length: 2 + (i % 90) }, () => i % 256)));
    expect(calls).toHaveLength(1);
  });

  test("a call that fails or throws fails its own gets, and no others", async () => {
    for (const fail of [
      (): never => {
        throw new Error("it failed");
      },
      () => Promise.reject(new Error("it failed")),
    ]) {
      const { gets } = gather((from, keys) => (from === a ? fail() : Promise.resolve(answer(keys))));
      const results = await Promise.allSettled([
        valueOf(gets.get(a, Uint8Array.of(1, 1))),
        valueOf(gets.get(b, Uint8Array.of(2, 2))),
        valueOf(gets.get(a, Uint8Array.of(3, 3))),
      ]);
      expect(results).toEqual([
        { status: "rejected", reason: new Error("it failed") },
        { status: "fulfilled", value: [2, 2] },
        { status: "rejected", reason: new Error("it failed") },
      ]);
      // The next ones are sent as if nothing had happened.
      expect(await valueOf(gets.get(b, Uint8Array.of(4, 4)))).toEqual([4, 4]);
    }
  });
});
