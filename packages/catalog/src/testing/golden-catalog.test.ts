import { describe, expect, it } from "vitest";
import { Draft } from "../model/draft.js";
import { stageCatalogRecords, stageHead } from "../model/snapshot-record.js";
import type { CatalogState } from "../model/state.js";
import type { CommitDraft } from "../operations.js";
import { Transaction } from "../transaction.js";
import { actualBatch, expectedBatch, GoldenNormaliser } from "./golden-compare.js";
import { type GoldenItem, type GoldenOperation, readGoldenStore } from "./golden-data.js";
import { type GoldenHandler, catalogHandlers, runOperations } from "./golden-driver.js";
import { fromHex, RecordedBatch, Records } from "./records.js";

/** Rows leave their mark in the catalog; the rows themselves and index entries are checked where they are made. */
function rowMarks(draft: Draft): Readonly<Record<string, GoldenHandler>> {
  return {
    inline_insert(_tx, op) {
      const tableId = op.table();
      draft.record({ op: "insert", tableId });
      return draft.addRows(tableId, BigInt(op.list("rows").length), 0n);
    },
    inline_delete(_tx, op) {
      draft.record({ op: "delete_inline", tableId: op.table() });
    },
    flush_inlined_data(_tx, op) {
      draft.record({ op: "merge_adjacent", tableId: op.table() });
      return [];
    },
  };
}

/** The subspaces that the model writes: head, snapshots, current, history, schema versions, changelog. */
const catalogKeys = (hex: string): boolean =>
  hex === "0203" || ["03", "04", "05", "08", "09"].includes(hex.slice(0, 2));

class Run {
  readonly #records = new Records();
  readonly #normaliser = new GoldenNormaliser();
  #state: CatalogState;
  #uuids = 0;

  constructor(opening: GoldenItem) {
    const batch = new RecordedBatch();
    for (const put of opening.puts ?? []) batch.put(fromHex(put.key), fromHex(put.value));
    this.#records.apply(batch);
    this.#normaliser.normalise(batch.puts);
    this.#state = this.#records.head();
  }

  /** Carries one item out. Gives both sides of what there is to compare, or nothing for an item whose batches are not listed. */
  play(item: GoldenItem): { readonly actual: unknown; readonly expected: unknown } | undefined {
    const { step } = item;
    if (step.verb === "repeat") {
      for (let n = 0; n < (step.times ?? 0); n++) this.#commit([step.ops ?? []]);
      return undefined;
    }
    const isGroup = step.verb === "commit_group";
    const live = new Set(this.#records.values.keys());
    const { batch, snapshots, returns } = this.#commit(isGroup ? (step.members ?? []) : [step.ops ?? []]);
    const fresh = this.#records.head();
    return {
      actual: {
        result: isGroup ? { snapshots, returns } : { snapshot: snapshots[0], returns: returns[0] },
        batch: actualBatch(batch, this.#normaliser, (key) => live.has(key), catalogKeys),
        state: summary(this.#state),
      },
      expected: { result: item.result, batch: expectedBatch(item, catalogKeys), state: summary(fresh) },
    };
  }

  #commit(members: readonly (readonly GoldenOperation[])[]): {
    batch: RecordedBatch;
    snapshots: number[];
    returns: unknown[][];
  } {
    const batch = new RecordedBatch();
    const snapshots: number[] = [];
    const returns: unknown[][] = [];
    for (const operations of members) {
      const draft: CommitDraft = new Draft(this.#state, { newUuid: () => `uuid ${++this.#uuids}` });
      returns.push(runOperations(new Transaction(draft), operations, { ...catalogHandlers, ...rowMarks(draft) }));
      if (!draft.isEmpty) this.#state = stageCatalogRecords(draft, { timeMicros: 1_800_000_000_000_000n }, batch);
      snapshots.push(Number(this.#state.head.snapshotId));
    }
    if (batch.puts.size > 0 || batch.deletes.size > 0) stageHead(this.#state, batch);
    this.#records.apply(batch);
    return { batch, snapshots, returns };
  }
}

/** What the commit left in memory must be what a fresh reader loads. */
function summary(state: CatalogState): unknown {
  return { head: state.head, batchSeq: state.batchSeq, entityCount: state.entityCount };
}

const scripts = readGoldenStore();

const names = [
  "ddl",
  "files",
  "views_macros_tags_options",
  "many_operations_in_one_commit",
  "changelog_window",
  "group_commit",
];

describe("catalog records of the reference", () => {
  it.each(names)("script %s leaves the same bytes", (name) => {
    const [opening, ...items] = scripts.get(name) ?? [];
    if (opening === undefined) throw new Error(`no script ${name}`);
    const run = new Run(opening);
    const compared = items.map((item) => run.play(item)).filter((sides) => sides !== undefined);
    expect(compared.length).toBe(items.filter((item) => item.elided !== true).length);
    expect(compared.map((sides) => sides.actual)).toEqual(compared.map((sides) => sides.expected));
  });
});
