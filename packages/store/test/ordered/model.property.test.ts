import assert from "node:assert/strict";
import fc from "fast-check";
import { afterAll, test } from "vitest";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  BatchBuilder,
  collectRows,
  dropMemoryStore,
  packKeys,
  valueAt,
  type ReadView,
  type StoreSnapshot,
  type WritableStore,
} from "../../src/index.js";
import { describeEveryLoops, type Openers } from "./every-loops.js";

/** What a store should hold: keys as hex, so that the order of the text is the order of the bytes. */
type Contents = ReadonlyMap<string, Uint8Array>;

interface Model {
  current: Map<string, Uint8Array>;
  snapshots: Contents[];
}

interface Real {
  readonly url: string;
  readonly openStore: Openers["openStore"];
  store: WritableStore;
  snapshots: StoreSnapshot[];
  readonly displaced: WritableStore[];
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");

/** Short keys over few bytes, so that they meet, prefix each other, and touch the lowest and highest byte. */
const key = fc
  .array(fc.constantFrom(0x00, 0x01, 0x61, 0xfe, 0xff), { minLength: 1, maxLength: 4 })
  .map((bytes) => Uint8Array.from(bytes));
const value = fc.uint8Array({ maxLength: 20 });

function expectedRows(
  contents: Contents,
  range: { start?: Uint8Array | undefined; end?: Uint8Array | undefined },
): string[] {
  const inRange = [...contents].filter(
    ([name]) =>
      (range.start === undefined || name >= hex(range.start)) && (range.end === undefined || name < hex(range.end)),
  );
  return inRange.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, bytes]) => `${name}=${hex(bytes)}`);
}

class Write implements fc.AsyncCommand<Model, Real> {
  constructor(readonly entries: readonly (readonly [Uint8Array, Uint8Array | null])[]) {}
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    const batch = new BatchBuilder();
    for (const [name, bytes] of this.entries) {
      if (bytes === null) batch.delete(name);
      else batch.put(name, bytes);
      if (bytes === null) model.current.delete(hex(name));
      else model.current.set(hex(name), bytes);
    }
    await real.store.write(batch.finish());
  }
  toString = (): string =>
    `write(${this.entries.map(([name, bytes]) => `${hex(name)}:${bytes === null ? "-" : hex(bytes)}`).join(" ")})`;
}

class Get implements fc.AsyncCommand<Model, Real> {
  constructor(
    readonly names: readonly Uint8Array[],
    readonly view: number,
  ) {}
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    const [contents, view] = pick(model, real, this.view);
    const values = await view.getMany(packKeys(this.names));
    const found = this.names.map((_, i) => valueAt(values, i));
    assert.deepEqual(
      found.map((bytes) => bytes && hex(bytes)),
      this.names.map((name) => {
        const bytes = contents.get(hex(name));
        return bytes && hex(bytes);
      }),
    );
  }
  toString = (): string => `get(${this.names.map(hex).join(" ")} of view ${this.view})`;
}

class Scan implements fc.AsyncCommand<Model, Real> {
  constructor(
    readonly bounds: readonly [Uint8Array | undefined, Uint8Array | undefined],
    readonly reverse: boolean,
    readonly limit: number | undefined,
    readonly blockRows: number,
    readonly view: number,
  ) {}
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    const [contents, view] = pick(model, real, this.view);
    const [a, b] = this.bounds;
    const swap = a !== undefined && b !== undefined && hex(a) > hex(b);
    const range = swap ? { start: b, end: a } : { start: a, end: b };
    const options = {
      reverse: this.reverse,
      blockRows: this.blockRows,
      ...(this.limit === undefined ? {} : { limit: this.limit }),
    };
    const found = await collectRows(view.scan(range, options));
    const expected = expectedRows(contents, range);
    if (this.reverse) expected.reverse();
    assert.deepEqual(
      found.map((row) => `${hex(row.key)}=${hex(row.value)}`),
      expected.slice(0, this.limit),
    );
  }
  toString = (): string =>
    `scan(${this.bounds.map((bound) => bound && hex(bound)).join("..")} ${this.reverse ? "down" : "up"} limit ${this.limit} of view ${this.view})`;
}

class Pin implements fc.AsyncCommand<Model, Real> {
  check = (model: Readonly<Model>): boolean => model.snapshots.length < 3;
  async run(model: Model, real: Real): Promise<void> {
    model.snapshots.push(new Map(model.current));
    real.snapshots.push(await real.store.snapshot());
  }
  toString = (): string => "snapshot";
}

class Release implements fc.AsyncCommand<Model, Real> {
  constructor(readonly index: number) {}
  check = (model: Readonly<Model>): boolean => model.snapshots.length > 0;
  async run(model: Model, real: Real): Promise<void> {
    const at = this.index % model.snapshots.length;
    model.snapshots.splice(at, 1);
    const [snapshot] = real.snapshots.splice(at, 1);
    if (snapshot === undefined) throw new Error("the model has a snapshot that the test has not");
    snapshot.release();
    await assert.rejects(snapshot.getMany(packKeys([Uint8Array.of(1)])), { code: "closed" });
  }
  toString = (): string => `release(${this.index})`;
}

class Checkpoint implements fc.AsyncCommand<Model, Real> {
  check = (): boolean => true;
  run = (_model: Model, real: Real): Promise<void> => real.store.checkpointMemory();
  toString = (): string => "checkpoint";
}

class Reopen implements fc.AsyncCommand<Model, Real> {
  /** With `displace` the old handle is left open, as if its process were still there. */
  constructor(readonly displace: boolean) {}
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    for (const snapshot of real.snapshots) snapshot.release();
    real.snapshots = [];
    model.snapshots = [];
    if (this.displace) real.displaced.push(real.store);
    else await real.store.close();
    real.store = await real.openStore(real.url);
    const displaced = real.displaced.at(-1);
    if (this.displace && displaced !== undefined) {
      const batch = new BatchBuilder();
      batch.put(Uint8Array.of(0x61), Uint8Array.of(1, 2, 3));
      await assert.rejects(displaced.write(batch.finish()), { code: "fenced" });
    }
  }
  toString = (): string => (this.displace ? "displace" : "reopen");
}

function pick(model: Model, real: Real, view: number): [Contents, ReadView] {
  const snapshot = real.snapshots[view];
  const contents = model.snapshots[view];
  return snapshot === undefined || contents === undefined ? [model.current, real.store] : [contents, snapshot];
}

const view = fc.integer({ min: 0, max: 5 });
const commands = fc.commands(
  [
    fc
      .array(fc.tuple(key, fc.option(value, { freq: 3 })), { minLength: 1, maxLength: 8 })
      .map((entries) => new Write(entries)),
    fc
      .array(fc.tuple(key, fc.option(value, { freq: 3 })), { minLength: 1, maxLength: 8 })
      .map((entries) => new Write(entries)),
    fc.tuple(fc.array(key, { maxLength: 10 }), view).map(([names, at]) => new Get(names, at)),
    fc
      .tuple(
        fc.tuple(fc.option(key, { nil: undefined }), fc.option(key, { nil: undefined })),
        fc.boolean(),
        fc.option(fc.integer({ min: 0, max: 6 }), { nil: undefined }),
        fc.integer({ min: 1, max: 4 }),
        view,
      )
      .map(([bounds, reverse, limit, blockRows, at]) => new Scan(bounds, reverse, limit, blockRows, at)),
    fc.constant(new Pin()),
    fc.nat(5).map((index) => new Release(index)),
    fc.constant(new Checkpoint()),
    fc.boolean().map((displace) => new Reopen(displace)),
  ],
  { size: "+1" },
);

describeEveryLoops("a store behaves as a sorted map with snapshots", ({ openStore }) => {
  const root = mkdtempSync(join(tmpdir(), "moraine-model-"));
  afterAll(() => rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 }));
  let count = 0;

  test.each([
    ["memory", 60],
    ["a local folder", 20],
  ])("in %s", async (place, numRuns) => {
    const property = fc.asyncProperty(commands, async (steps) => {
      count += 1;
      const url = place === "memory" ? `memory://model-${count}` : join(root, `${count}`);
      const real: Real = { url, openStore, store: await openStore(url), snapshots: [], displaced: [] };
      try {
        await fc.asyncModelRun(() => ({ model: { current: new Map(), snapshots: [] } as Model, real }), steps);
      } finally {
        for (const snapshot of real.snapshots) snapshot.release();
        for (const store of [real.store, ...real.displaced]) await store.close();
        if (place === "memory") dropMemoryStore(url);
      }
    });
    await fc.assert(property, { numRuns });
  });
});
