import { describe, expect, test } from "vitest";
import type { DbSnapshot } from "@slatedb/uniffi";
import { BatchBuilder } from "./batch-builder.js";
import { getCached, type CachedCut } from "./cached-reads.js";
import { Deadlines } from "./deadlines.js";
import type { PackedValues } from "./interface.js";
import { limits } from "./limits.js";
import { keyAt, packKeys, packValues, valueAt } from "./packed.js";
import { plainLoops } from "./plain-loops.js";
import type { ReadSource } from "./reads.js";
import { RowCache } from "./row-cache.js";

const bytes = (text: string): Uint8Array => Buffer.from(text);

/** A snapshot in which each key but `-` holds itself, read through a cache. */
class CachedSnapshot {
  readonly rows = new RowCache();
  /** What the engine was asked for, a list for each request. */
  readonly asked: string[][] = [];
  /** Whether the engine has answered lately. */
  usable = true;
  /** Runs while a request is at the engine. */
  meanwhile: () => void = () => undefined;
  readonly #source: ReadSource = {
    from: {} as DbSnapshot,
    remote: false,
    deadlines: new Deadlines(60_000, () => new Error("too late")),
    failed: (error) => error as Error,
    loops: {
      ...plainLoops,
      getMany: async (_, keys) => {
        const names = Array.from(keys.ends, (_end, i) => Buffer.from(keyAt(keys, i)).toString());
        this.asked.push(names);
        await Promise.resolve();
        this.meanwhile();
        return packValues(names.map((name) => (name === "-" ? undefined : bytes(name))));
      },
    },
  };

  async read(...names: string[]): Promise<(string | undefined)[]> {
    const cut: CachedCut = {
      rows: this.rows,
      generation: 0,
      usable: () => this.usable,
      answered: () => {
        this.usable = true;
      },
    };
    const values: PackedValues = await getCached(this.#source, cut, packKeys(names.map(bytes)));
    return names.map((_, i) => {
      const value = valueAt(values, i);
      return value && Buffer.from(value).toString();
    });
  }
}

describe("a read through the cache", () => {
  test("asks the engine for what is not known, and answers in the order of the keys", async () => {
    const snapshot = new CachedSnapshot();
    expect(await snapshot.read("a", "-")).toEqual(["a", undefined]);
    expect(await snapshot.read("b", "-", "c", "a")).toEqual(["b", undefined, "c", "a"]);
    expect(await snapshot.read("c", "-", "b", "a", "-")).toEqual(["c", undefined, "b", "a", undefined]);
    expect(snapshot.asked).toEqual([
      ["a", "-"],
      ["b", "c"],
    ]);
  });

  test("asks the engine after a pause whatever is known, and keeps what that read finds", async () => {
    const snapshot = new CachedSnapshot();
    for (let pause = 0; pause < 3; pause++) {
      snapshot.usable = false;
      // The first of a caller's keys is the same after each pause.
      expect(await snapshot.read("first", "-")).toEqual(["first", undefined]);
      expect(await snapshot.read("-", "first")).toEqual([undefined, "first"]);
    }
    expect(snapshot.asked).toEqual(Array.from({ length: 3 }, () => ["first", "-"]));
  });

  test.each([true, false])("keeps nothing that was written while it was read (engine trusted: %o)", async (usable) => {
    const snapshot = new CachedSnapshot();
    snapshot.usable = usable;
    snapshot.meanwhile = () => {
      const batch = new BatchBuilder();
      batch.put(bytes("a"), bytes("2"));
      snapshot.rows.issued(batch.finish());
    };
    expect(await snapshot.read("a")).toEqual(["a"]);
    expect(snapshot.rows.size).toBe(0);
  });

  test("keeps nothing of many keys together", async () => {
    const snapshot = new CachedSnapshot();
    const names = Array.from({ length: limits.rowCacheGetKeys + 1 }, (_, i) => `k${i}`);
    expect(await snapshot.read(...names)).toEqual(names);
    expect(snapshot.rows.size).toBe(0);
  });
});
