import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { equalityPrefix, equalityPrefixes, IndexKeyBuilder, type IndexKeys, type IndexLayout } from "@moraine/codec";
import { absent, BatchBuilder, openStore, packKey, type ReadView, type WritableStore } from "@moraine/store";
import { bench, describe } from "vitest";
import { CommitPlanner, collectRange, type IndexChange, lookup, lookupMany, UniquenessFilters } from "./index.js";

/** Run with `npx vitest bench --run packages/index-core`. Each row's name says how many entries one iteration handles. */

const entries = 100_000;
const few = { iterations: 5, time: 0, warmupIterations: 1, warmupTime: 0 };

function layout(indexId: bigint, unique: boolean): IndexLayout {
  return { indexId, unique, columns: [{ valueType: "int64", descending: false, nullsFirst: false }] };
}

function keys(of: IndexLayout, from: number, count: number, step = 1): IndexKeys {
  const builder = new IndexKeyBuilder(of);
  const values = BigInt64Array.from({ length: count }, (_, i) => BigInt(from + i * step));
  const rowIds = BigUint64Array.from({ length: count }, (_, i) => BigInt(from + i * step));
  builder.appendColumns([{ type: "int64", length: count, validity: null, values, offsets: null }], rowIds);
  return builder.finish();
}

const adding = (additions: IndexKeys): IndexChange => ({
  layout: additions.layout,
  name: "bench",
  additions,
  removals: undefined,
  guardRemovals: false,
  poisonOnDuplicate: false,
});

async function write(store: WritableStore, additions: IndexKeys): Promise<void> {
  const planner = new CommitPlanner(store);
  const changes = [adding(additions)];
  await planner.probe(changes);
  const batch = new BatchBuilder();
  planner.stage(planner.plan(changes), batch);
  await store.write(batch.finish());
}

/** Answers at once that nothing is there, but for one entry at either end of any span: what is left is our own work. */
function instantView(): ReadView {
  return {
    getMany({ ends }) {
      const lengths = new Uint32Array(ends.length).fill(absent);
      return Promise.resolve({ data: new Uint8Array(0), offsets: new Uint32Array(ends.length), lengths });
    },
    async *scan({ start, end }, options) {
      await Promise.resolve();
      const key = options?.reverse === true ? end! : start!;
      yield { count: 1, data: key, ends: Uint32Array.of(key.length, key.length) };
    },
  };
}

describe("own work for 100,000 absent entries of a unique index", () => {
  const changes = [adding(keys(layout(1n, true), 0, entries))];
  bench(
    "probe (store answers at once) + plan + stage",
    async () => {
      const planner = new CommitPlanner(instantView());
      await planner.probe(changes);
      planner.stage(planner.plan(changes), new BatchBuilder());
    },
    few,
  );
  bench(
    "probe alone (store answers at once)",
    async () => {
      await new CommitPlanner(instantView()).probe(changes);
    },
    few,
  );
  let planner: CommitPlanner;
  bench(
    "plan + stage",
    () => {
      const planned = planner.plan(changes);
      planner.stage(planned, new BatchBuilder());
      planner.withdraw(planned);
    },
    {
      ...few,
      setup: async () => {
        planner = new CommitPlanner(instantView());
        await planner.probe(changes);
      },
    },
  );
});

// Hooks of a suite do not run for benchmarks, hence stores made up front and a folder removed on exit.
const folder = mkdtempSync(join(tmpdir(), "moraine-index-core-"));
process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
const unique = layout(1n, true);
const multi = layout(2n, false);
const stores = {
  file: await loadedStore(folder),
  memory: await loadedStore(`memory://bench-${process.pid}`),
};

async function loadedStore(url: string): Promise<WritableStore> {
  const store = await openStore(url);
  await write(store, keys(unique, 0, entries, 2));
  await write(store, keys(multi, 0, entries, 2));
  await store.checkpointMemory();
  return store;
}

const filters = { file: await builtFilter(stores.file), memory: await builtFilter(stores.memory) };

async function builtFilter(store: WritableStore): Promise<UniquenessFilters> {
  return await new Promise((resolve, reject) => {
    const built = new UniquenessFilters({
      store,
      rowsOf: () => 0,
      tell: ({ outcome }) => (outcome === "ready" ? resolve(built) : reject(new Error(outcome))),
    });
    built.filterOf(unique.indexId);
  });
}

describe.each(["file", "memory"] as const)("%s store", (kind) => {
  const store = stores[kind];
  let nextIndex = 100n;

  bench(
    "commit 100,000 entries into an empty index",
    async () => {
      await write(store, keys(layout(nextIndex++, true), 0, entries));
    },
    few,
  );
  bench(
    "probe 100,000 absent entries between stored ones",
    async () => {
      await new CommitPlanner(store).probe([adding(keys(unique, 1, entries - 1, 2))]);
    },
    few,
  );
  bench(
    "probe the same keys beside a resident filter",
    async () => {
      await filters[kind].planner().probe([adding(keys(unique, 1, entries - 1, 2))]);
    },
    few,
  );
  bench(
    "getMany of the same keys, without us",
    async () => {
      const probed = keys(unique, 1, entries - 1, 2);
      for (let first = 0; first < probed.count; first += 1024) {
        const from = first === 0 ? 0 : probed.ends[first - 1]!;
        const ends = probed.ends.slice(first, first + 1024).map((end) => end - from);
        await store.getMany({ data: probed.data.subarray(from, from + ends.at(-1)!), ends });
      }
    },
    few,
  );

  let next = 0;
  bench("lookup, hit", async () => {
    next = (next + 7919 * 2) % (entries * 2);
    await lookup(store, unique, [BigInt(next)]);
  });
  bench("lookup, miss", async () => {
    next = (next + 7919 * 2) % (entries * 2);
    await lookup(store, unique, [BigInt(next + 1)]);
  });
  bench("getMany of one hit, without us", async () => {
    next = (next + 7919 * 2) % (entries * 2);
    await store.getMany(packKey(equalityPrefix(unique, [BigInt(next)])));
  });
  bench("lookup in a non-unique index", async () => {
    next = (next + 7919 * 2) % (entries * 2);
    await lookup(store, multi, [BigInt(next)]);
  });
  const thousand = Array.from({ length: 1000 }, (_, i) => [BigInt((i * 7919) % (entries * 2))]);
  bench("lookupMany of 1,000", async () => {
    await lookupMany(store, unique, equalityPrefixes(unique, thousand));
  });
  for (const rows of [100, 10_000]) {
    bench(`range of ${rows} rows`, async () => {
      next = (next + 7919 * 2) % entries;
      await collectRange(store, unique, { values: [BigInt(next)], inclusive: true }, undefined, { limit: rows });
    });
  }
});
