import {
  currentKey,
  decodeKey,
  encodeValue,
  type MacroId,
  MoraineError,
  OptionScopeValue,
  type SchemaId,
  SchemaValue,
  snapshotKey,
  SnapshotValue,
} from "@moraine/codec";
import type { ReadView } from "@moraine/store";
import fc from "fast-check";
import { expect, it } from "vitest";
import { PendingWrites, WriteSet } from "../src/engine/pending-writes.js";
import { InlineRegistry } from "../src/inline/registry.js";
import { Draft } from "../src/model/draft.js";
import { stageCatalogRecords } from "../src/model/snapshot-record.js";
import { CatalogState } from "../src/model/state.js";
import { revisionSteps } from "../src/rows/follow-revision.js";
import { loadSteps } from "../src/rows/serve-load.js";
import { callRandomVerb, type RandomVerb, randomVerb, randomVerbCount } from "../src/testing/random-verbs.js";
import { createMacro, dropMacro } from "../src/verbs/macros.js";
import { emptyView } from "./support/empty-view.js";
import { copyOf, TableCopy } from "./support/table-copy.js";

/** Records in memory, with a copy of the tables that follows them. */
class FollowedRecords {
  readonly #records = new PendingWrites();
  readonly #registry = new InlineRegistry();
  copy = new TableCopy();
  state: CatalogState;
  #uuids = 0;
  #waiting: WriteSet | undefined;
  #below: { readonly state: CatalogState; readonly view: ReadView } | undefined;

  private constructor(state: CatalogState, genesis: WriteSet) {
    this.state = state;
    this.#records.add(genesis);
  }

  static async open(): Promise<FollowedRecords> {
    const snapshot = { ...SnapshotValue.defaults, nextCatalogId: 1n, changesMade: 'created_schema:"main"' };
    const schemaUuid = "00000000-0000-4000-8000-000000000000";
    const schema = { ...SchemaValue.defaults, schemaUuid, schemaName: "main", path: "main/", pathIsRelative: true };
    const option: OptionScopeValue = { options: new Map([["encrypted", "false"]]) };
    const writes = new WriteSet();
    writes.put(snapshotKey(0n), encodeValue(SnapshotValue, snapshot));
    writes.put(currentKey("schema", 0n), encodeValue(SchemaValue, schema));
    writes.put(currentKey("option", 0n, 0n), encodeValue(OptionScopeValue, option));
    const entities = [
      { key: { kind: "schema", ids: [0n] }, value: schema },
      { key: { kind: "option", ids: [0n, 0n] }, value: option },
    ] as const;
    const records = new FollowedRecords(CatalogState.load(entities, [], snapshot, 0n), writes);
    records.copy = await copyOf(records.load());
    return records;
  }

  get view(): ReadView {
    return this.#records.over(emptyView);
  }

  load(): ReturnType<typeof loadSteps> {
    return loadSteps({ state: this.state, view: this.view, registry: this.#registry, files: undefined });
  }

  /** A commit of verbs and of whatever else `write` puts. It waits to be followed. */
  commit(change: (draft: Draft) => void, write: (writes: WriteSet) => void = () => undefined): void {
    const draft = new Draft(this.state, {
      newUuid: () => `00000000-0000-4000-8000-${String((this.#uuids += 1)).padStart(12, "0")}`,
    });
    change(draft);
    const writes = new WriteSet();
    const after = draft.isEmpty
      ? this.state.apply([], [], this.state.head, this.state.batchSeq + 1n)
      : stageCatalogRecords(draft, { timeMicros: 1_000_000n + draft.snapshotId, author: "a" }, writes);
    write(writes);
    this.#below ??= { state: this.state, view: this.view };
    this.#waiting ??= new WriteSet();
    this.#waiting.addAll(writes);
    this.#records.add(writes);
    this.state = after;
  }

  async follow(): Promise<void> {
    if (this.#below === undefined || this.#waiting === undefined) return;
    const { state: before, view: beforeView } = this.#below;
    const landed = { before, beforeView, after: this.state, writes: this.#waiting };
    for (const step of await revisionSteps(landed, this.#registry)) this.copy.apply(step);
    this.#below = undefined;
    this.#waiting = undefined;
  }

  /** Keys of records that `maintenance` of DuckLake deletes: of the past, and of snapshots. */
  async expirable(): Promise<Uint8Array[]> {
    const keys: Uint8Array[] = [];
    for (const start of [0x03, 0x05, 0x08]) {
      for await (const block of this.view.scan({ start: Uint8Array.of(start), end: Uint8Array.of(start + 1) }))
        for (let i = 0; i < block.count; i++)
          keys.push(block.data.slice(block.ends[2 * i - 1] ?? 0, block.ends[2 * i]));
    }
    return keys.filter((bytes) => {
      const key = decodeKey(bytes);
      return key.subspace !== "snapshot" || key.snapshotId !== this.state.head.snapshotId;
    });
  }
}

/** A change that only DuckLake's own commits make. */
async function callRows(records: FollowedRecords, { a, b, c }: RandomVerb): Promise<void> {
  const kind = a % 4;
  if (kind === 0) {
    const keys = await records.expirable();
    const count = (b % 4) + 1;
    const start = c % Math.max(keys.length, 1);
    records.commit(
      () => undefined,
      (writes) => keys.slice(start, start + count).forEach((key) => writes.delete(key)),
    );
    return;
  }
  records.commit((draft) => {
    const columns = draft.list("column");
    const column = columns[b % Math.max(columns.length, 1)];
    if (kind === 1 && column !== undefined) {
      const tag = {
        beginSnapshot: draft.snapshotId,
        endSnapshot: undefined,
        key: "comment",
        value: `${c}`,
        isNull: c % 7 === 0,
      };
      const tags = c % 3 === 0 ? [] : [...column.tags.map((old) => ({ ...old, endSnapshot: draft.snapshotId })), tag];
      draft.put("column", [column.tableId, column.columnId], { ...column, tags: c % 5 === 0 ? [] : tags });
    } else if (kind === 2) {
      const gone = draft.gcFiles()[b % 3];
      if (gone !== undefined && c % 2 === 0) draft.removeGcFile(gone.dataFileId);
      const dataFileId = BigInt(c % 20);
      draft.putGcFile({ dataFileId, path: `${b}`, pathIsRelative: b % 2 === 0, scheduleStartMicros: BigInt(c) });
    } else {
      const tables = draft.list("table");
      const table = tables[b % Math.max(tables.length, 1)];
      if (table === undefined) return;
      const mappingId = draft.allocateFileId();
      draft.put("mapping", [table.tableId, mappingId], {
        mappingId,
        tableId: table.tableId,
        mapType: "map_by_name",
        nameMappings: [
          { columnId: 0n, sourceName: "A", targetFieldId: 1n, parentColumn: undefined, isPartition: false },
        ],
      });
    }
  });
}

const call = fc.record({
  rows: fc.nat(5),
  follow: fc.boolean(),
  verbs: fc.array(randomVerb, { minLength: 1, maxLength: 4 }),
});

it("a copy that follows random commits is what a load gives", async () => {
  let verbs = 0;
  const tables = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 40 }), async (commits) => {
      const records = await FollowedRecords.open();
      // Something to work on: most calls need a table.
      records.commit((draft) => [0, 1].forEach((b) => callRandomVerb(draft, { verb: 2, a: 2, b, c: 2 })));
      for (const { rows, follow, verbs: calls } of commits) {
        if (rows === 0) {
          await callRows(records, calls[0] as RandomVerb);
        } else {
          records.commit((draft) => {
            for (const verb of calls) {
              const savepoint = draft.savepoint();
              try {
                callRandomVerb(draft, verb);
                verbs += 1;
              } catch (error) {
                if (!(error instanceof MoraineError)) throw error;
                draft.rollback(savepoint);
              }
            }
          });
        }
        if (follow) await records.follow();
      }
      await records.follow();
      const fresh = await copyOf(records.load());
      expect(records.copy.contents()).toEqual(fresh.contents());
      for (const [name, { rows }] of fresh.tables) tables.set(name, (tables.get(name) ?? 0) + rows.length);
    }),
    { numRuns: 150 },
  );
  expect(verbs).toBeGreaterThan(randomVerbCount);
  // What no verb and no call above makes: variant statistics, and rows that are inlined.
  const never = [...tables].filter(([, count]) => count === 0).map(([name]) => name);
  expect(never.sort()).toEqual(["ducklake_file_variant_stats", "ducklake_inlined_data_tables"]);
});

it("rows are taken out only of tables in which a record has some: a macro may have no parameters", async () => {
  const records = await FollowedRecords.open();
  const implementation = { dialect: "duckdb", sql: "1", macroType: "scalar" } as const;
  let macro = 0n as MacroId;
  records.commit((draft) => {
    const schema = 0n as SchemaId;
    macro = createMacro(draft, { schema, name: "m", implementations: [implementation] });
  });
  await records.follow();
  records.commit((draft) => dropMacro(draft, { macro }));
  const past = await records.expirable();
  records.commit(
    () => undefined,
    (writes) => past.forEach((key) => writes.delete(key)),
  );
  await records.follow();
  expect(records.copy.contents()).toEqual((await copyOf(records.load())).contents());
  expect(records.copy.rows("ducklake_macro_impl")).toEqual([]);
});
