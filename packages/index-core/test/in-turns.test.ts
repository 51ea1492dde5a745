import { IndexKeyBuilder } from "@moraine/codec";
import { BatchBuilder, type WritableStore, type WriteBatch } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { CommitPlanner, type IndexChange, UniquenessFilters } from "../src/index.js";
import { entriesPerTurn } from "../src/limits.js";
import { change, layout, withStore } from "./support.js";

const slices = 5;
const entries = slices * entriesPerTurn;
const unique = layout(1n, "unique", "int64");
const multi = layout(2n, "multi", "int64");

/** Rows that count up from `first`, in an index that is unique and one that is not. */
function rowsFrom(first: number): IndexChange[] {
  const values = BigInt64Array.from({ length: entries }, (_, i) => BigInt(first + i));
  const rowIds = BigUint64Array.from(values);
  return [unique, multi].map((of) => {
    const builder = new IndexKeyBuilder(of);
    builder.appendColumns([{ type: "int64", length: entries, validity: null, values, offsets: null }], rowIds);
    return { ...change(of, {}), additions: builder.finish() };
  });
}

/** How often the event loop comes round until `ended`, or until the call is done. */
async function turnsDuring(call: () => Promise<unknown>, ended: () => boolean = () => false): Promise<number> {
  let turns = 0;
  let done = false;
  const count = (): void => {
    if (done || ended()) return;
    turns += 1;
    setImmediate(count);
  };
  setImmediate(count);
  await call();
  done = true;
  return turns;
}

async function probed(store: WritableStore, changes: readonly IndexChange[]): Promise<CommitPlanner> {
  const planner = new CommitPlanner(store);
  await planner.probe(changes);
  return planner;
}

function batchOf(planner: CommitPlanner, changes: readonly IndexChange[]): WriteBatch {
  const batch = new BatchBuilder();
  planner.stage(planner.plan(changes), batch);
  return batch.finish();
}

/** Large arrays compare slowly one element after the other. */
function expectSame(left: WriteBatch, right: WriteBatch): void {
  const bytes = ({ ends }: WriteBatch): Uint8Array => new Uint8Array(ends.buffer, ends.byteOffset, ends.byteLength);
  expect(left.count).toBe(right.count);
  expect(Buffer.compare(left.data, right.data)).toBe(0);
  expect(Buffer.compare(bytes(left), bytes(right))).toBe(0);
}

describe("work on many entries in turns of the event loop", () => {
  it("plans and stages what it does at once, and lets the loop come round after each slice", async () => {
    await withStore(async (store) => {
      const changes = rowsFrom(0);
      const planner = await probed(store, changes);
      const batch = new BatchBuilder();
      let planned: Awaited<ReturnType<typeof planner.planInTurns>> | undefined;
      // The entries of the unique index are decided, then what is written of them is settled.
      const deciding = await turnsDuring(async () => (planned = await planner.planInTurns(changes)));
      expect(deciding).toBeGreaterThanOrEqual(2 * slices - 1);
      // Those of both are staged.
      const staging = await turnsDuring(() => planner.stageInTurns(planned!, batch));
      expect(staging).toBeGreaterThanOrEqual(2 * slices - 1);
      const other = await probed(store, changes);
      expectSame(batch.finish(), batchOf(other, changes));
      expect(planner.report).toEqual(other.report);
    });
  });

  it("leaves nothing of a member that is refused for its last entry", async () => {
    await withStore(async (store) => {
      const [changes, later] = [rowsFrom(0), rowsFrom(entries)];
      const last = change(unique, { add: [[[BigInt(entries) - 1n], entries + 1]] });
      const planner = await probed(store, [...changes, ...later, last]);
      await expect(planner.planInTurns([...changes, last])).rejects.toThrow(/an addition of this commit/u);
      expect(planner.report).toMatchObject({ puts: 0, deletes: 0, noOps: 0 });
      expectSame(batchOf(planner, changes), batchOf(await probed(store, changes), changes));
    });
  });

  it("refuses any other call on the planner until it is done", async () => {
    await withStore(async (store) => {
      const changes = rowsFrom(0);
      const planner = await probed(store, changes);
      const before = planner.plan([change(unique, {})]);
      const batch = new BatchBuilder();
      const expectBusy = async (running: string): Promise<void> => {
        const busy = new RegExp(`was called while ${running} is running`, "u");
        await expect(planner.probe(changes)).rejects.toThrow(busy);
        await expect(planner.probeAhead(changes, () => undefined)).rejects.toThrow(busy);
        for (const call of [() => planner.plan(changes), () => planner.withdraw(before)]) expect(call).toThrow(busy);
        expect(() => planner.stage(before, batch)).toThrow(busy);
      };
      const planning = planner.planInTurns(changes);
      await expectBusy("plan");
      const planned = await planning;
      const staging = planner.stageInTurns(planned, batch);
      await expectBusy("stage");
      await staging;
      planner.withdraw(planned);
    });
  });

  it("takes no word of another batch while the first member is planned", async () => {
    await withStore(async (store) => {
      const changes = rowsFrom(0);
      const planner = await probed(store, changes);
      const planning = planner.planInTurns(changes);
      expect(() => planner.written(new BatchBuilder().finish())).toThrow(/between plan and the write/u);
      await planning;
    });
  });

  it("finds the lowest and the highest new key where slices begin", async () => {
    await withStore(async (store) => {
      const values = BigInt64Array.from({ length: entries }, (_, i) => BigInt(i + 1));
      values[entriesPerTurn] = 0n;
      values[2 * entriesPerTurn] = BigInt(entries + 1);
      const builder = new IndexKeyBuilder(unique);
      const rowIds = BigUint64Array.from(values);
      builder.appendColumns([{ type: "int64", length: entries, validity: null, values, offsets: null }], rowIds);
      const planner = await probed(store, [{ ...change(unique, {}), additions: builder.finish() }]);
      expect(planner.report).toMatchObject({ probes: 0, knownAbsent: entries });
    });
  });

  it("tells planners and filters of a batch in slices, and then hands it to the store", async () => {
    await withStore(async (store) => {
      const changes = rowsFrom(0);
      const batch = batchOf(await probed(store, changes), changes);
      const ahead = new CommitPlanner(store);
      await ahead.probeAhead(changes, () => undefined);
      expect(await turnsDuring(() => ahead.writtenInTurns(batch))).toBeGreaterThanOrEqual(2 * slices - 1);
      // All of it is forgotten, and read again.
      const known = ahead.report.knownAbsent;
      await ahead.probe(changes);
      expect(ahead.report.probes + ahead.report.knownAbsent - known).toBe(entries);

      let handedOver = false;
      const write = store.write.bind(store);
      store.write = (written) => {
        handedOver = true;
        return write(written);
      };
      const filters = new UniquenessFilters({ store, rowsOf: () => 0 });
      const small = change(unique, { add: [[[-1n], 1]] });
      await filters.planner().probe([small]);
      const noting = await turnsDuring(
        () => filters.write(batch),
        () => handedOver,
      );
      expect(noting).toBeGreaterThanOrEqual(2 * slices - 1);
      handedOver = false;
      const writing = filters.write(batchOf(await probed(store, [small]), [small]));
      expect(handedOver).toBe(true);
      await writing;
      await filters.close();
    });
  });
});
