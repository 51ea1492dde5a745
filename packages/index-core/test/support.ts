import {
  type IndexColumn,
  IndexKeyBuilder,
  type IndexKeys,
  type IndexLayout,
  type IndexValue,
  type IndexValueType,
} from "@moraine/codec";
import {
  BatchBuilder,
  collectRows,
  dropMemoryStore,
  type KeyRange,
  openStore,
  type PackedKeys,
  type ReadView,
  type RowBlock,
  type ScanOptions,
  type WritableStore,
} from "@moraine/store";
import { CommitPlanner, type IndexChange, type PlannedEntries } from "../src/index.js";

/** A column as text: its type, then `desc` and `nulls first` where they differ from the default. */
export function column(text: string): IndexColumn {
  const [valueType, ...words] = text.split(" ");
  return {
    valueType: valueType as IndexValueType,
    descending: words.includes("desc"),
    nullsFirst: words.includes("first"),
  };
}

export function layout(indexId: bigint, kind: "unique" | "multi", ...columns: string[]): IndexLayout {
  return { indexId, unique: kind === "unique", columns: columns.map(column) };
}

/** A row's indexed values, then its row id. */
export type IndexedRow = readonly [values: readonly IndexValue[], rowId: bigint | number];

export function keysOf(of: IndexLayout, rows: readonly IndexedRow[]): IndexKeys {
  const builder = new IndexKeyBuilder(of);
  for (const [values, rowId] of rows) builder.append(values, BigInt(rowId));
  return builder.finish();
}

export function change(
  of: IndexLayout,
  rows: { add?: readonly IndexedRow[]; remove?: readonly IndexedRow[] },
  options: Partial<Pick<IndexChange, "name" | "guardRemovals" | "poisonOnDuplicate">> = {},
): IndexChange {
  return {
    layout: of,
    name: `index_${of.indexId}`,
    additions: rows.add === undefined ? undefined : keysOf(of, rows.add),
    removals: rows.remove === undefined ? undefined : keysOf(of, rows.remove),
    guardRemovals: false,
    poisonOnDuplicate: false,
    ...options,
  };
}

/** Rows `from` to `to`, row id i holding the one value i. */
export function numberedRows(
  from: number,
  to: number,
  rowIdOf: (value: number) => number = (value) => value,
): IndexedRow[] {
  return Array.from({ length: to - from }, (_, i) => [[BigInt(from + i)], rowIdOf(from + i)]);
}

let opened = 0;

/** A store of its own, closed and forgotten after the callback. */
export async function withStore<T>(use: (store: WritableStore) => Promise<T>): Promise<T> {
  const url = `memory://index-core-${process.pid}-${opened++}`;
  const store = await openStore(url);
  try {
    return await use(store);
  } finally {
    await store.close();
    dropMemoryStore(url);
  }
}

export type MemberOutcome = PlannedEntries | Error;

/** The text of a refusal. */
export function refusal(outcome: MemberOutcome | undefined): string {
  return outcome instanceof Error ? outcome.message : "accepted";
}

/** Plans members in order and writes what the accepted ones staged. */
export async function commitGroup(
  store: WritableStore,
  members: readonly (readonly IndexChange[])[],
): Promise<{ outcomes: MemberOutcome[]; planner: CommitPlanner; batch: BatchBuilder }> {
  const planner = new CommitPlanner(store);
  await planner.probe(members.flat());
  const batch = new BatchBuilder();
  const outcomes = members.map((changes): MemberOutcome => {
    try {
      const planned = planner.plan(changes);
      planner.stage(planned, batch);
      return planned;
    } catch (error) {
      if (error instanceof Error) return error;
      throw error;
    }
  });
  if (batch.count > 0) await store.write(batch.finish());
  return { outcomes, planner, batch };
}

/** Commits one member; a refusal is thrown. */
export async function commit(store: WritableStore, ...changes: readonly IndexChange[]): Promise<PlannedEntries> {
  const { outcomes } = await commitGroup(store, [changes]);
  const [outcome] = outcomes;
  if (outcome === undefined) throw new Error("no outcome");
  if (outcome instanceof Error) throw outcome;
  return outcome;
}

/** Every index entry in the store, key and value in hexadecimal. */
export async function storedEntries(view: ReadView): Promise<Map<string, string>> {
  const rows = await collectRows(view.scan({ start: Uint8Array.of(7), end: Uint8Array.of(8) }));
  return new Map(rows.map(({ key, value }) => [hex(key), hex(value)]));
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

/** Entries of key lists as they are stored, key and value in hexadecimal. */
export function encodedEntries(keys: IndexKeys): [key: string, value: string][] {
  return Array.from({ length: keys.count }, (_, i) => {
    const key = hex(keys.data.subarray(i === 0 ? 0 : keys.ends[i - 1], keys.ends[i]));
    return [key, keys.multi[i] === 0 ? keys.rowIds[i]!.toString(16).padStart(16, "0") : ""];
  });
}

/** A view that counts, and notes the sizes of, what is asked of it. */
export class CountingView implements ReadView {
  readonly #view: ReadView;
  readonly windows: number[] = [];
  readonly scans: { range: KeyRange; options: ScanOptions | undefined; rows: number }[] = [];
  /** Set to make the next `getMany` fail. */
  failNext: Error | null = null;
  inFlight = 0;
  peakInFlight = 0;

  constructor(view: ReadView) {
    this.#view = view;
  }

  async getMany(keys: PackedKeys) {
    this.windows.push(keys.ends.length);
    if (this.failNext !== null) {
      const failure = this.failNext;
      this.failNext = null;
      throw failure;
    }
    this.inFlight++;
    this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
    try {
      return await this.#view.getMany(keys);
    } finally {
      this.inFlight--;
    }
  }

  async *scan(range: KeyRange, options?: ScanOptions): AsyncIterableIterator<RowBlock> {
    const scan = { range, options, rows: 0 };
    this.scans.push(scan);
    this.inFlight++;
    this.peakInFlight = Math.max(this.peakInFlight, this.inFlight);
    try {
      for await (const block of this.#view.scan(range, options)) {
        scan.rows += block.count;
        yield block;
      }
    } finally {
      this.inFlight--;
    }
  }
}
