import { ConstraintError, CorruptionError, InvalidArgumentError } from "@moraine/codec";
import { BatchBuilder } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { CommitPlanner, maxIndexBytesPerCommit, maxIndexEntriesPerCommit, verifyIndex } from "../src/index.js";
import {
  change,
  commit,
  commitGroup,
  CountingView,
  encodedEntries,
  type IndexedRow,
  keysOf,
  layout,
  numberedRows,
  refusal,
  storedEntries,
  withStore,
} from "./support.js";

const u = layout(7n, "unique", "int64");
const m = layout(8n, "multi", "int64");
const retryWords = /conflict|concurrent|unique|primary key/i;

const entriesOf = (...lists: ReturnType<typeof keysOf>[]): Map<string, string> =>
  new Map(lists.flatMap(encodedEntries));

describe("CommitPlanner, additions", () => {
  it("puts absent values, one value-keyed entry a row", async () => {
    await withStore(async (store) => {
      const planned = await commit(
        store,
        change(u, {
          add: [
            [[10n], 1],
            [[20n], 2],
          ],
        }),
      );
      expect([planned.puts, planned.deletes, planned.noOps]).toEqual([2, 0, 0]);
      expect(await storedEntries(store)).toEqual(
        entriesOf(
          keysOf(u, [
            [[10n], 1],
            [[20n], 2],
          ]),
        ),
      );
    });
  });

  it("refuses a value of another committed row and names index, both rows and the state, but no value", async () => {
    await withStore(async (store) => {
      await commit(store, change(u, { add: [[[123_456_789n], 1]] }));
      const before = await storedEntries(store);
      const refused = commit(
        store,
        change(
          u,
          {
            add: [
              [[5n], 8],
              [[123_456_789n], 9],
            ],
          },
          { name: "UNIQUE_email" },
        ),
      );
      await expect(refused).rejects.toThrow(ConstraintError);
      const error = await refused.catch((thrown: unknown) => thrown as ConstraintError);
      if (!(error instanceof ConstraintError)) throw new Error("not refused");
      expect(error.message).toBe(
        'constraint violation: index "U\u00b7NIQUE_email" (id 7): row 9 claims a value that row 1 holds, a row already indexed',
      );
      expect(`${error.message} ${error.remedy}`).not.toMatch(retryWords);
      expect(`${error.message} ${error.remedy}`).not.toContain("123456789");
      expect(await storedEntries(store)).toEqual(before);
    });
  });

  it("refuses a value that two rows of one commit claim, before anything is known of the store", async () => {
    await withStore(async (store) => {
      const refused = commit(
        store,
        change(u, {
          add: [
            [[5n], 1],
            [[6n], 2],
            [[5n], 3],
          ],
        }),
      );
      await expect(refused).rejects.toThrow("row 3 claims a value that row 1 holds, an addition of this commit");
      expect(await storedEntries(store)).toEqual(new Map());
    });
  });

  it("takes a repeated claim by the same row as one, new or stored", async () => {
    await withStore(async (store) => {
      const first = await commit(
        store,
        change(u, {
          add: [
            [[5n], 1],
            [[5n], 1],
          ],
        }),
      );
      expect([first.puts, first.noOps]).toEqual([1, 1]);
      const again = await commit(store, change(u, { add: [[[5n], 1]] }));
      expect([again.puts, again.deletes, again.noOps, again.bytes]).toEqual([0, 0, 1, 0]);
    });
  });

  it("writes entries of a non-unique index without reading", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      const planner = new CommitPlanner(view);
      const changes = [
        change(m, {
          add: [
            [[10n], 0],
            [[20n], 1],
            [[10n], 2],
            [[null], 3],
          ],
          remove: [[[9n], 0]],
        }),
      ];
      await planner.probe(changes);
      const batch = new BatchBuilder();
      const planned = planner.plan(changes);
      planner.stage(planned, batch);
      expect([view.windows, view.scans]).toEqual([[], []]);
      expect([planned.puts, planned.deletes, batch.count]).toEqual([4, 1, 5]);
      expect(planned.bytes).toBe(batch.bytes);
    });
  });

  it("admits any number of NULL rows into a unique index, in every column position", async () => {
    await withStore(async (store) => {
      const pair = layout(9n, "unique", "int64", "string");
      const rows: IndexedRow[] = [
        [[1n, null], 1],
        [[1n, null], 2],
        [[null, "a"], 3],
        [[null, "a"], 4],
        [[null, null], 5],
        [[1n, "a"], 6],
      ];
      await commit(store, change(pair, { add: rows }));
      expect(await storedEntries(store)).toEqual(entriesOf(keysOf(pair, rows)));
      await expect(commit(store, change(pair, { add: [[[1n, "a"], 7]] }))).rejects.toThrow(ConstraintError);
    });
  });

  it('keeps ("ab","c") apart from ("a","bc") (S62)', async () => {
    await withStore(async (store) => {
      const pair = layout(9n, "unique", "string", "string");
      const planned = await commit(
        store,
        change(pair, {
          add: [
            [["ab", "c"], 1],
            [["a", "bc"], 2],
          ],
        }),
      );
      expect(planned.puts).toBe(2);
    });
  });

  it.each(["float32", "float64"])(
    "refuses a second NaN and the other zero in a unique %s index (S68, S69)",
    async (type) => {
      await withStore(async (store) => {
        const floats = layout(9n, "unique", type);
        const quietWithPayload = new Float64Array(new BigUint64Array([0xfff8_0000_0000_1234n]).buffer)[0]!;
        await commit(
          store,
          change(floats, {
            add: [
              [[Number.NaN], 1],
              [[0], 2],
            ],
          }),
        );
        await expect(commit(store, change(floats, { add: [[[quietWithPayload], 3]] }))).rejects.toThrow("row 1");
        await expect(commit(store, change(floats, { add: [[[-0], 3]] }))).rejects.toThrow("row 2");
      });
    },
  );
});

describe("CommitPlanner, removals", () => {
  it("guards: removes only the named row's entry", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(u, {
          add: [
            [[5n], 1],
            [[6n], 2],
          ],
        }),
      );
      const planned = await commit(
        store,
        change(
          u,
          {
            remove: [
              [[5n], 9],
              [[6n], 2],
              [[7n], 3],
            ],
          },
          { guardRemovals: true },
        ),
      );
      expect([planned.deletes, planned.noOps]).toEqual([1, 2]);
      expect(await storedEntries(store)).toEqual(entriesOf(keysOf(u, [[[5n], 1]])));
    });
  });

  it("removes blindly without guard, reading nothing", async () => {
    await withStore(async (store) => {
      await commit(store, change(u, { add: [[[5n], 1]] }));
      const view = new CountingView(store);
      const planner = new CommitPlanner(view);
      const changes = [
        change(u, {
          remove: [
            [[5n], 1],
            [[6n], 2],
          ],
        }),
      ];
      await planner.probe(changes);
      expect(planner.plan(changes).deletes).toBe(2);
      expect([view.windows, view.scans]).toEqual([[], []]);
    });
  });

  it("leaves another row's entry alone even without guard where the holder is known anyway", async () => {
    await withStore(async (store) => {
      await commit(store, change(u, { add: [[[5n], 1]] }));
      await expect(commit(store, change(u, { remove: [[[5n], 2]], add: [[[5n], 3]] }))).rejects.toThrow("row 1 holds");
    });
  });

  it("frees a value for another row in the same commit, as one put (S01, S02)", async () => {
    await withStore(async (store) => {
      await commit(store, change(u, { add: [[[1n], 1]] }));
      const planned = await commit(
        store,
        change(u, {
          remove: [[[1n], 1]],
          add: [
            [[4n], 1],
            [[1n], 2],
          ],
        }),
      );
      expect([planned.puts, planned.deletes]).toEqual([2, 0]);
      expect(await storedEntries(store)).toEqual(
        entriesOf(
          keysOf(u, [
            [[4n], 1],
            [[1n], 2],
          ]),
        ),
      );
    });
  });

  it("takes out before it adds, whatever the order of the changes", async () => {
    await withStore(async (store) => {
      await commit(store, change(u, { add: [[[1n], 1]] }));
      await commit(store, change(u, { add: [[[1n], 2]] }), change(u, { remove: [[[1n], 1]] }));
      expect(await storedEntries(store)).toEqual(entriesOf(keysOf(u, [[[1n], 2]])));
    });
  });

  it("writes nothing for an index that an update leaves as it was (S06)", async () => {
    await withStore(async (store) => {
      const second = layout(9n, "unique", "string");
      await commit(store, change(u, { add: [[[1n], 1]] }), change(second, { add: [[["a"], 1]] }));
      for (const guardRemovals of [false, true]) {
        const { outcomes, batch } = await commitGroup(store, [
          [change(u, { remove: [[[1n], 1]], add: [[[1n], 1]] }, { guardRemovals })],
        ]);
        expect(outcomes).toMatchObject([{ puts: 0, deletes: 0, noOps: 2, bytes: 0 }]);
        expect(batch.count).toBe(0);
      }
      const planned = await commit(
        store,
        change(u, { remove: [[[1n], 1]], add: [[[1n], 1]] }),
        change(second, { remove: [[["a"], 1]], add: [[["b"], 1]] }),
      );
      expect([planned.puts, planned.deletes, planned.noOps]).toEqual([1, 1, 2]);
    });
  });

  it("ends a removed and added entry as a put in either shape (S47)", async () => {
    await withStore(async (store) => {
      const nulls: IndexedRow[] = [[[null], 3]];
      for (const rows of [[[[1n], 1]] as IndexedRow[], nulls]) {
        for (const of of [u, m]) await commit(store, change(of, { remove: rows, add: rows }));
      }
      expect(await storedEntries(store)).toEqual(
        entriesOf(keysOf(u, [[[1n], 1]]), keysOf(u, nulls), keysOf(m, [[[1n], 1]]), keysOf(m, nulls)),
      );
    });
  });

  it("deletes and reinserts everything across every window limit (S04)", async () => {
    await withStore(async (store) => {
      let id = 100n;
      for (const count of [127, 128, 255, 256, 257, 511, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049]) {
        const pair = layout(id++, "unique", "int64", "int64");
        const other = layout(id++, "multi", "int64");
        const rows = (shift: number): IndexedRow[] =>
          Array.from({ length: count }, (_, i) => [[BigInt(i % 7), BigInt(i)], i + shift]);
        const others = (shift: number): IndexedRow[] => rows(shift).map(([values, rowId]) => [[values[0]!], rowId]);
        await commit(store, change(pair, { add: rows(0) }), change(other, { add: others(0) }));
        const planned = await commit(
          store,
          change(pair, { remove: rows(0), add: rows(10_000) }, { guardRemovals: count % 2 === 1 }),
          change(other, { remove: others(0), add: others(10_000) }),
        );
        expect([planned.puts, planned.deletes]).toEqual([2 * count, count]);
        const clean = { stored: count, expected: count, missing: 0, dead: 0, mismatched: 0 };
        expect(await verifyIndex(store, pair, [keysOf(pair, rows(10_000))])).toEqual(clean);
        expect(await verifyIndex(store, other, [keysOf(other, others(10_000))])).toEqual(clean);
      }
    });
  });
});

describe("CommitPlanner, members of a group", () => {
  it("shows accepted members to later ones and nothing of a refused one", async () => {
    await withStore(async (store) => {
      const { outcomes } = await commitGroup(store, [
        [change(u, { add: [[[1n], 1]] })],
        [
          change(u, {
            add: [
              [[2n], 2],
              [[1n], 3],
            ],
          }),
        ],
        [change(u, { add: [[[2n], 4]] })],
        [change(u, { remove: [[[1n], 1]], add: [[[1n], 5]] }, { guardRemovals: true })],
        [change(u, { add: [[[1n], 6]] })],
        [change(u, { remove: [[[2n], 4]] })],
      ]);
      expect(outcomes.map(refusal)).toEqual([
        "accepted",
        expect.stringContaining("row 3 claims a value that row 1 holds, a row already indexed"),
        "accepted",
        "accepted",
        expect.stringContaining("row 6 claims a value that row 5 holds, a row already indexed"),
        "accepted",
      ]);
      expect(await storedEntries(store)).toEqual(entriesOf(keysOf(u, [[[1n], 5]])));
    });
  });

  it.each([0, 2])("keeps nothing of a commit that fails at its index number %d (S11)", async (at) => {
    await withStore(async (store) => {
      const indexes = [layout(1n, "unique", "int64"), layout(2n, "multi", "int64"), layout(3n, "unique", "int64")];
      const held = indexes.map((of) =>
        change(of, {
          add: [
            [[1n], 1],
            [[20n], 2],
          ],
        }),
      );
      await commit(store, ...held);
      const before = await storedEntries(store);
      const claims = indexes.map((of, i) =>
        change(of, { remove: [[[1n], 1]], add: [[[5n], 5], i === at && of.unique ? [[20n], 6] : [[6n], 6]] }),
      );
      const { outcomes, planner } = await commitGroup(store, [claims, [change(indexes[0]!, { add: [[[1n], 9]] })]]);
      expect(refusal(outcomes[0])).toContain(`(id ${indexes[at]!.indexId})`);
      expect(refusal(outcomes[1])).toContain("row 9 claims a value that row 1 holds");
      expect(planner.report).toMatchObject({ puts: 0, deletes: 0, noOps: 0 });
      expect(await storedEntries(store)).toEqual(before);
      await commit(store, change(indexes[0]!, { remove: [[[1n], 1]], add: [[[1n], 9]] }));
    });
  });

  it("names only the violated index of two (bulk)", async () => {
    await withStore(async (store) => {
      const second = layout(70n, "unique", "int64");
      await commit(store, change(u, { add: numberedRows(0, 1500) }), change(second, { add: numberedRows(0, 1500) }));
      const refused = commit(
        store,
        change(u, { add: numberedRows(2000, 3500) }),
        change(second, { add: [...numberedRows(2000, 3499), [[42n], 9999]] }),
      );
      await expect(refused).rejects.toThrow("(id 70): row 9999 claims a value that row 42 holds");
      await expect(refused).rejects.not.toThrow("(id 7)");
    });
  });

  it("lands 1500 entries, refuses a repeat of one, then lands a clean load, and frees 1500 in one commit", async () => {
    await withStore(async (store) => {
      await commit(store, change(u, { add: numberedRows(0, 1500) }));
      await expect(commit(store, change(u, { add: [...numberedRows(2000, 2500), [[42n], 5000]] }))).rejects.toThrow(
        ConstraintError,
      );
      expect((await storedEntries(store)).size).toBe(1500);
      await commit(store, change(u, { add: numberedRows(2000, 3500) }));
      const moved = numberedRows(0, 1500, (value) => value + 10_000);
      await commit(store, change(u, { remove: numberedRows(0, 1500), add: moved }));
      expect(await storedEntries(store)).toEqual(entriesOf(keysOf(u, moved), keysOf(u, numberedRows(2000, 3500))));
    });
  });

  it("withdraws plans, latest first", async () => {
    await withStore(async (store) => {
      const planner = new CommitPlanner(store);
      const first = [change(u, { add: [[[1n], 1]] })];
      const second = [change(u, { remove: [[[1n], 1]], add: [[[1n], 2]] })];
      await planner.probe([...first, ...second]);
      const plannedFirst = planner.plan(first);
      const plannedSecond = planner.plan(second);
      expect(() => planner.withdraw(plannedFirst)).toThrow(InvalidArgumentError);
      planner.withdraw(plannedSecond);
      expect(() => planner.plan([change(u, { add: [[[1n], 2]] })])).toThrow("row 1 holds");
      planner.withdraw(plannedFirst);
      expect(() => planner.withdraw(plannedFirst)).toThrow(InvalidArgumentError);
      expect(planner.report).toMatchObject({ puts: 0, deletes: 0, noOps: 0 });
      expect(planner.plan([change(u, { add: [[[1n], 2]] })]).puts).toBe(1);
    });
  });

  it("stages what each member was planned to write, even after later members changed the same entries", async () => {
    await withStore(async (store) => {
      const planner = new CommitPlanner(store);
      const first = [change(u, { add: [[[1n], 1]] })];
      const second = [change(u, { remove: [[[1n], 1]], add: [[[1n], 2]] })];
      await planner.probe([...first, ...second]);
      const planned = [planner.plan(first), planner.plan(second)];
      const batches = planned.map((entries) => {
        const batch = new BatchBuilder();
        planner.stage(entries, batch);
        return batch.finish();
      });
      await store.write(batches[0]!);
      expect(await storedEntries(store)).toEqual(entriesOf(keysOf(u, [[[1n], 1]])));
      await store.write(batches[1]!);
      expect(await storedEntries(store)).toEqual(entriesOf(keysOf(u, [[[1n], 2]])));
    });
  });
});

describe("CommitPlanner, poison", () => {
  it("reports the duplicate, drops the losing entry and keeps the holder's", async () => {
    await withStore(async (store) => {
      await commit(store, change(u, { add: [[[1n], 1]] }));
      const planned = await commit(
        store,
        change(
          u,
          {
            add: [
              [[2n], 2],
              [[1n], 3],
              [[2n], 4],
              [[3n], 5],
            ],
          },
          { poisonOnDuplicate: true, name: "building" },
        ),
      );
      expect(planned.poisoned).toEqual([
        {
          indexId: 7n,
          name: "building",
          claimingRowId: 3n,
          holdingRowId: 1n,
          holder: "a row already indexed",
          dropped: 2,
        },
      ]);
      expect([planned.puts, planned.noOps]).toEqual([2, 2]);
      expect(await storedEntries(store)).toEqual(
        entriesOf(
          keysOf(u, [
            [[1n], 1],
            [[2n], 2],
            [[3n], 5],
          ]),
        ),
      );
    });
  });

  it("reports a duplicate inside one step", async () => {
    await withStore(async (store) => {
      const planned = await commit(
        store,
        change(
          u,
          {
            add: [
              [[2n], 2],
              [[2n], 4],
            ],
          },
          { poisonOnDuplicate: true },
        ),
      );
      expect(planned.poisoned).toMatchObject([
        { claimingRowId: 4n, holdingRowId: 2n, holder: "an addition of this commit", dropped: 1 },
      ]);
    });
  });
});

describe("CommitPlanner, reading", () => {
  it("probes each different key once, at most 1,024 at once, all members together", async () => {
    await withStore(async (store) => {
      await commit(
        store,
        change(u, {
          add: [
            [[0n], 1],
            [[2499n], 2],
          ],
        }),
      );
      const view = new CountingView(store);
      const planner = new CommitPlanner(view);
      const members = [[change(u, { add: numberedRows(0, 2500) })], [change(u, { add: numberedRows(0, 10) })]];
      await planner.probe(members.flat());
      await planner.probe(members.flat());
      expect(view.windows).toEqual([...Array.from({ length: 9 }, () => 256), 196]);
      expect(view.peakInFlight).toBe(4);
      expect(planner.report).toMatchObject({ probes: 2500, hits: 2, misses: 2498, windows: 10 });
    });
  });

  it("asks for 250 keys in one call (an ordinary flush)", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      const planner = new CommitPlanner(view);
      await planner.probe([change(u, { add: numberedRows(0, 250) })]);
      expect([view.windows, view.scans]).toEqual([[250], []]);
    });
  });

  it("probes guarded removals of value-keyed entries only", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      const planner = new CommitPlanner(view);
      const removed: IndexedRow[] = [
        [[1n], 1],
        [[null], 2],
        [[2n], 3],
      ];
      await planner.probe([
        change(u, { remove: removed }, { guardRemovals: true }),
        change(m, { remove: removed }, { guardRemovals: true }),
      ]);
      expect(view.windows).toEqual([2]);
    });
  });

  it("keeps nothing of a failed read and can probe again", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      const planner = new CommitPlanner(view);
      const changes = [change(u, { add: numberedRows(0, 5) })];
      view.failNext = new Error("cut off");
      await expect(planner.probe(changes)).rejects.toThrow("cut off");
      expect(() => planner.plan(changes)).toThrow(InvalidArgumentError);
      await planner.probe(changes);
      expect(view.windows).toEqual([5, 5]);
      expect(planner.plan(changes).puts).toBe(5);
    });
  });

  it("refuses to plan what was not probed, and to work while a probe runs", async () => {
    await withStore(async (store) => {
      const planner = new CommitPlanner(store);
      const changes = [change(u, { add: [[[1n], 1]] })];
      expect(() => planner.plan(changes)).toThrow("were not probed");
      expect(() => planner.plan([change(u, { remove: [[[2n], 1]] }, { guardRemovals: true })])).toThrow(
        "were not probed",
      );
      const probing = planner.probe(changes);
      expect(() => planner.plan(changes)).toThrow("probe is running");
      await expect(planner.probe(changes)).rejects.toThrow("probe is running");
      await probing;
      expect(planner.plan(changes).puts).toBe(1);
    });
  });

  it("reports a value-keyed entry whose value is not a row id as corruption", async () => {
    await withStore(async (store) => {
      const keys = keysOf(u, [[[1n], 1]]);
      const batch = new BatchBuilder();
      batch.put(keys.data.slice(0, keys.ends[0]), Uint8Array.of(1, 2, 3));
      await store.write(batch.finish());
      const planner = new CommitPlanner(store);
      await expect(planner.probe([change(u, { add: [[[1n], 1]] })])).rejects.toThrow(CorruptionError);
    });
  });
});

describe("CommitPlanner, spans known to be empty", () => {
  const probeOnce = async (...args: Parameters<typeof change>[]) =>
    await withStore(async (store) => {
      await commit(
        store,
        change(u, {
          add: [
            [[0n], 1],
            [[5000n], 2],
          ],
        }),
        change(layout(6n, "unique", "int64"), { add: numberedRows(0, 3) }),
      );
      const view = new CountingView(store);
      const planner = new CommitPlanner(view);
      const changes = args.map((arg) => change(...arg));
      await planner.probe(changes);
      const planned = planner.plan(changes);
      return { view, planned, report: planner.report };
    });

  it("needs no probe for an index without entries", async () => {
    const { view, planned } = await probeOnce([layout(99n, "unique", "int64"), { add: numberedRows(0, 3000) }]);
    expect(view.windows).toEqual([]);
    expect(view.scans.map((scan) => [scan.options?.limit, scan.rows])).toEqual([
      [1, 0],
      [1, 0],
    ]);
    expect(planned.puts).toBe(3000);
  });

  it("needs no probe for values above, below or between those indexed", async () => {
    for (const [from, to] of [
      [5001, 6000],
      [-1000, 0],
      [1, 5000],
    ] as const) {
      const { view, report, planned } = await probeOnce([
        u,
        { add: numberedRows(from, to, (value) => value + 10_000) },
      ]);
      expect(view.windows).toEqual([]);
      expect(report).toMatchObject({ probes: 0, absenceScans: 2, knownAbsent: to - from, puts: to - from });
      expect(planned.puts).toBe(to - from);
    }
  });

  it("probes only what lies between the first and last stored entry of the span, both included", async () => {
    const rows = numberedRows(-100, 5100, (value) => value + 10_000).filter(
      ([values]) => values[0] !== 0n && values[0] !== 5000n,
    );
    const { report } = await probeOnce([u, { add: rows }]);
    expect(report).toMatchObject({ probes: 4999, hits: 0, knownAbsent: 199, absenceScans: 2 });
  });

  it("finds a duplicate at either edge of the span", async () => {
    for (const edge of [0, 5000]) {
      const rows =
        edge === 0
          ? numberedRows(0, 400, (value) => value + 10_000)
          : numberedRows(4601, 5001, (value) => value + 10_000);
      await expect(probeOnce([u, { add: rows }])).rejects.toThrow("claims a value that row");
    }
  });

  it("spends no scan below 256 new keys, and none twice on one span", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      const planner = new CommitPlanner(view);
      await planner.probe([change(u, { add: numberedRows(0, 255) })]);
      expect(view.scans.length).toBe(0);
      await planner.probe([change(u, { add: numberedRows(1000, 1256) })]);
      expect(view.scans.length).toBe(2);
      await planner.probe([change(u, { add: numberedRows(1000, 1256) })]);
      await planner.probe([change(u, { add: numberedRows(1010, 1020) })]);
      expect([view.scans.length, view.windows]).toEqual([2, [255]]);
    });
  });

  it("treats removals inside an empty span as done", async () => {
    const { planned } = await probeOnce(
      [u, { add: numberedRows(6000, 6300) }],
      [
        u,
        {
          remove: [
            [[6100n], 1],
            [[6001n], 2],
          ],
        },
        { guardRemovals: true },
      ],
      [u, { remove: [[[6200n], 1]] }],
    );
    expect([planned.puts, planned.deletes, planned.noOps]).toEqual([300, 0, 3]);
  });

  it("does not mistake entries of accepted members for absent ones", async () => {
    await withStore(async (store) => {
      const members = [[change(u, { add: numberedRows(0, 300) })], [change(u, { add: [[[5n], 999]] })]];
      const { outcomes } = await commitGroup(store, members);
      expect(refusal(outcomes[1])).toContain("row 999 claims a value that row 5 holds, a row already indexed");
    });
  });
});

describe("commit size limits", () => {
  it("refuses more than a million entries before any work, with count, limit and remedy", async () => {
    await withStore(async (store) => {
      const view = new CountingView(store);
      const keys = keysOf(m, [[[1n], 1]]);
      const count = maxIndexEntriesPerCommit;
      const many = {
        ...keys,
        count,
        ends: new Uint32Array(count),
        multi: new Uint8Array(count).fill(1),
        rowIds: new BigUint64Array(count),
      };
      const planner = new CommitPlanner(view);
      const plan = () => planner.plan([{ ...change(m, { remove: [[[1n], 1]] }), additions: many }]);
      expect(plan).toThrow(ConstraintError);
      try {
        plan();
      } catch (error) {
        if (!(error instanceof ConstraintError)) throw error;
        expect(error.message).toBe("constraint violation: 1000001 index entries in one commit; the limit is 1000000");
        expect(error.remedy).toContain("Split the load");
        expect(`${error.message} ${error.remedy}`).not.toMatch(retryWords);
      }
      expect(view.windows).toEqual([]);
    });
  });

  it("refuses more than 64 MiB of encoded keys and values", () => {
    const keys = keysOf(u, [[[1n], 1]]);
    const withBytes = (bytes: number) => ({ ...keys, ends: Uint32Array.of(bytes), data: new Uint8Array(0) });
    const planner = new CommitPlanner({
      getMany: () => Promise.reject(new Error("read")),
      scan: () => {
        throw new Error("read");
      },
    });
    const plan = (bytes: number) => planner.plan([{ ...change(u, {}), additions: withBytes(bytes) }]);
    const text = `${maxIndexBytesPerCommit + 1} bytes of index entries in one commit; the limit is ${maxIndexBytesPerCommit}`;
    expect(() => plan(maxIndexBytesPerCommit - 8 + 1)).toThrow(text);
    const allowed = [{ ...change(m, {}), removals: { ...withBytes(maxIndexBytesPerCommit), layout: m } }];
    expect(planner.plan(allowed).bytes).toBe(maxIndexBytesPerCommit);
  });
});
