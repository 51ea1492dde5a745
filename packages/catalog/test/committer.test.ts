import { randomUUID } from "node:crypto";
import { IndexKeyBuilder } from "@moraine/codec";
import { dropMemoryStore, openStore } from "@moraine/store";
import { expect, it, onTestFinished } from "vitest";
import type { StagedAttempt } from "../src/engine/attempt.js";
import { bootstrap } from "../src/engine/bootstrap.js";
import { Committer } from "../src/engine/committer.js";
import { openFilters } from "../src/engine/index-filters.js";
import { largeCommitEntries } from "../src/engine/limits.js";
import { loadState } from "../src/engine/load-state.js";
import { PendingWrites, WriteSet } from "../src/engine/pending-writes.js";
import { stampHead } from "../src/engine/stamp-head.js";
import { Tip } from "../src/engine/tip.js";
import { Gate, turnOfTheLoop } from "./support/gate.js";

let committers = 0;

/** A committer over a store of its own, whose batches wait for `beforeWrite`. */
async function openCommitter(beforeWrite: () => Promise<void>): Promise<Committer> {
  const location = `memory://committer-${process.pid}-${committers++}`;
  const store = await openStore(location);
  await bootstrap(store, { encrypted: false, dataPath: undefined, nowMicros: 0n, newUuid: randomUUID });
  const filters = openFilters(store, () => committer.head.state);
  const nothing = (): undefined => undefined;
  const committer = new Committer(filters, new Tip(await loadState(store)), new PendingWrites(), {
    beforeWrite,
    landed: nothing,
    lost: nothing,
    staged: nothing,
    explained: nothing,
    discarded: nothing,
  });
  onTestFinished(async () => {
    await committer.close();
    await filters.close();
    await store.close();
    dropMemoryStore(location);
  });
  return committer;
}

/** What a commit stages that puts one record. */
function putting(base: Tip): StagedAttempt<undefined> {
  const writes = new WriteSet();
  writes.put(Uint8Array.of(0xff), Uint8Array.of(1));
  return { commits: [stampHead(base, writes)], result: undefined };
}

/** The same with so many entries of an index that is not unique, whose keys need not be read. */
function puttingLarge(base: Tip): StagedAttempt<undefined> {
  const layout = {
    indexId: 1n,
    unique: false,
    columns: [{ valueType: "int64", descending: false, nullsFirst: false }],
  } as const;
  const builder = new IndexKeyBuilder(layout);
  for (let i = 0; i < largeCommitEntries; i++) builder.append([BigInt(i)], BigInt(i));
  const change = { layout, name: "i", removals: undefined, guardRemovals: false, poisonOnDuplicate: false };
  const [commit] = putting(base).commits;
  return { commits: [{ ...commit!, indexChanges: [{ ...change, additions: builder.finish() }] }], result: undefined };
}

it("a commit that runs alone does so again when one before it is taken back", async () => {
  const gate = new Gate();
  const committer = await openCommitter(() => gate.pass());
  const order: string[] = [];
  const cancelled = new AbortController();
  const first = committer.commit(putting);
  await gate.reached;
  const takenBack = committer.commit(putting, cancelled.signal);
  let beside: Promise<unknown> | undefined;
  let runs = 0;
  const alone = committer.commit(
    async (base) => {
      runs += 1;
      await turnOfTheLoop(3);
      if (runs === 2) {
        beside = committer.commit((tip) => {
          order.push("beside");
          return putting(tip);
        });
      }
      await turnOfTheLoop(3);
      order.push(`run ${runs}`);
      return putting(base);
    },
    undefined,
    true,
  );
  while (order.length === 0) await turnOfTheLoop(1);
  cancelled.abort();
  await expect(takenBack).rejects.toMatchObject({ code: "interrupted" });
  gate.open();
  await Promise.all([first, alone]);
  await beside;
  expect(order).toEqual(["run 1", "run 2", "beside"]);
});

it("a large commit that holds its turn is staged in it, although another large one is on its way", async () => {
  const gate = new Gate();
  const committer = await openCommitter(() => gate.pass());
  const order: string[] = [];
  const large = committer.commit(puttingLarge);
  await gate.reached;
  let runs = 0;
  const alone = committer.commit(
    async (base) => {
      runs += 1;
      await turnOfTheLoop();
      return puttingLarge(base);
    },
    undefined,
    true,
  );
  const small = committer.commit((base) => {
    order.push(`after run ${runs}`);
    return putting(base);
  });
  while (order.length === 0) await turnOfTheLoop(1);
  gate.open();
  await Promise.all([large, alone, small]);
  expect([runs, order]).toEqual([1, ["after run 1"]]);
});
