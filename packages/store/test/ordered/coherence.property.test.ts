import assert from "node:assert/strict";
import fc from "fast-check";
import { expect, test } from "vitest";
import { BatchBuilder, collectRows, getOne, storeLimits, type StoreSnapshot } from "../../src/index.js";
import { detach } from "../../src/within.js";
import { SlateWriter } from "../../src/writer.js";
import { bytes, text } from "./helpers.js";
import { ScheduledPlace, type State } from "./scheduled-place.js";

/** Every batch puts its number here, so that a state tells how new it is. */
const marker = "version";

/** A snapshot and what it held when it was cut, by a scan, which no cache answers. */
interface Cut {
  readonly snapshot: StoreSnapshot;
  readonly held: State;
}

const names = ["a", "b"];
const key = fc.constantFrom(...names);
const step = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant("write" as const),
      entries: fc.array(fc.tuple(key, fc.boolean()), { minLength: 1, maxLength: 2 }),
    }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("snapshot" as const), isRead: fc.boolean() }) },
  { weight: 14, arbitrary: fc.record({ kind: fc.constant("read" as const), back: fc.nat(2), name: key }) },
  // Every call takes one to four of these.
  { weight: 70, arbitrary: fc.record({ kind: fc.constant("release" as const), pick: fc.nat(5) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stall" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never;

class Run {
  readonly #place = new ScheduledPlace();
  readonly #cuts: Cut[] = [];
  readonly #calls: Promise<void>[] = [];
  #nowMs = 1_700_000_000_000;
  #version = 0;
  #acknowledged = 0;
  #stalls = 0;
  #reads = 0;

  /** Makes the steps and compares everything that is read. Gives how many reads the loops did not see. */
  async make(steps: readonly Step[]): Promise<number> {
    const writer = await this.#place.runToEnd(
      SlateWriter.open(this.#place.backend, this.#place.loops, {
        requestTimeoutMs: storeLimits.requestTimeoutMs,
        walMinAgeMs: storeLimits.walMinAgeMs,
        flushDelayMs: 0,
        walObjectsPerCheckpoint: storeLimits.walObjectsPerCheckpoint,
        blockCache: false,
        now: () => this.#nowMs,
      }),
    );
    try {
      for (const each of steps) {
        this.#begin(writer, each);
        if (each.kind === "release") this.#place.release(each.pick);
        await this.#place.settle();
      }
      await this.#place.runToEnd(Promise.all(this.#calls));
    } finally {
      for (const { snapshot } of this.#cuts) snapshot.release();
      await this.#place.runToEnd(writer.close());
    }
    return this.#reads - this.#place.gets;
  }

  #begin(writer: SlateWriter, each: Step): void {
    switch (each.kind) {
      case "write":
        this.#note(this.#write(writer, each.entries));
        break;
      case "snapshot":
        this.#note(this.#cut(writer, each.isRead));
        break;
      case "read": {
        const cut = this.#cuts.at(-1 - each.back);
        if (cut !== undefined) this.#note(this.#read(cut, each.name));
        break;
      }
      case "stall":
        // Each makes a database; more than two of them show nothing new.
        if (this.#stalls++ < 2) this.#nowMs += storeLimits.walMinAgeMs / 2 + 1;
        break;
      case "release":
        break;
    }
  }

  /** Failures are seen when the run waits for all calls. */
  #note(call: Promise<void>): void {
    detach(call);
    this.#calls.push(call);
  }

  async #write(writer: SlateWriter, entries: readonly (readonly [string, boolean])[]): Promise<void> {
    const version = ++this.#version;
    const batch = new BatchBuilder();
    batch.put(bytes(marker), bytes(`${version}`));
    for (const [name, isPut] of entries) {
      if (isPut) batch.put(bytes(name), bytes(`${version}`));
      else batch.delete(bytes(name));
    }
    await writer.write(batch.finish());
    this.#acknowledged = Math.max(this.#acknowledged, version);
  }

  /** Takes a snapshot; with `isRead` it is read at once, while what overlapped with it is still under way. */
  async #cut(writer: SlateWriter, isRead: boolean): Promise<void> {
    const atLeast = this.#acknowledged;
    const snapshot = await writer.snapshot();
    await this.#unlessReopened(async () => {
      const rows = await collectRows(snapshot.scan({}));
      const held = new Map(rows.map((row) => [text(row.key) ?? "", text(row.value) ?? ""]));
      assert.ok(Number(held.get(marker) ?? 0) >= atLeast, `a snapshot lacks batch ${atLeast}, which was acknowledged`);
      const cut = { snapshot, held };
      this.#cuts.push(cut);
      if (isRead) await Promise.all(names.map((name) => this.#read(cut, name)));
    });
  }

  async #read({ snapshot, held }: Cut, name: string): Promise<void> {
    await this.#unlessReopened(async () => {
      this.#reads += 1;
      assert.equal(text(await getOne(snapshot, bytes(name))), held.get(name));
    });
  }

  /** A recovery ends the snapshots from before it. */
  async #unlessReopened(read: () => Promise<void>): Promise<void> {
    try {
      await read();
    } catch (error) {
      if (this.#stalls === 0 || (error as { code?: string }).code !== "closed") throw error;
    }
  }
}

test("a snapshot holds what was acknowledged before it, and its reads are of its cut, however calls overlap", async () => {
  let known = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 300, maxLength: 500 }), async (steps) => {
      known += await new Run().make(steps);
    }),
    { numRuns: 150, plugins: [fc.interruptAfterTimeLimit(30_000)] },
  );
  // Otherwise the cache was not looked at.
  expect(known).toBeGreaterThan(1000);
});

test("a recovery never applies a batch again over a newer one that was acknowledged", async () => {
  // Two batches of one recovery are acknowledged by flushes that follow each other, the newer one first, and then comes a stall.
  const schedule = { seed: 2_117_109_003, path: "75", numRuns: 1, endOnFailure: true };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 300, maxLength: 500 }), async (steps) => {
      await new Run().make(steps);
    }),
    schedule,
  );
});
