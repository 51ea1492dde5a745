import type { IndexKeys } from "@moraine/codec";
import type { BatchBuilder } from "@moraine/store";
import { isCounted } from "./counted-entries.js";
import { keyBytesOf, keyStartOf } from "./index-change.js";
import type { KeyTable } from "./key-table.js";
import { highWord, lowWord, rowIdBytes, writeWord } from "./row-id-words.js";
import { sliced, type Slices } from "./slices.js";

/** Which state a refused claim ran into. */
export type HolderState = "an addition of this commit" | "a row already indexed";

/** A duplicate that was found in an index which is not enforced yet. Its losing entries are not staged. */
export interface PoisonedIndex {
  readonly indexId: bigint;
  readonly name: string;
  /** The first losing claim. */
  readonly claimingRowId: bigint;
  readonly holdingRowId: bigint;
  readonly holder: HolderState;
  /** Losing claims in all. */
  readonly dropped: number;
}

/** What one commit writes to its indexes. Opaque: hand it to `CommitPlanner.stage`. */
export interface PlannedEntries {
  readonly puts: number;
  readonly deletes: number;
  /** Named entries that need no write of their own: already so, taken out and put back, not this row's, or dropped. */
  readonly noOps: number;
  /** Encoded key and value bytes that `stage` appends. */
  readonly bytes: number;
  readonly poisoned: readonly PoisonedIndex[];
}

/** Multi-shaped entries of one list, written blindly. `rows`: which of them; `null`: all. */
export interface BlindEntries {
  readonly keys: IndexKeys;
  readonly rows: Uint32Array | null;
}

/**
 * What is known of an entry whose stored state decides: nothing, that a read of it is under way, or what the store and the members
 * accepted so far say. One that is present has a row id in the table, or, where it is counted, a number of rows.
 */
export const keyState = { unknown: 0, requested: 1, absent: 2, present: 3 } as const;

const initialKeys = 16;
const noAction = 0;
const putAction = 1;
const deleteAction = 2;

/**
 * The value-keyed and the counted entries that one member has touched, each with its state before: what it takes to undo the member, and,
 * compared with the state after, what has to be written. An entry that ends as it began is not written at all.
 */
export class MemberLog implements PlannedEntries {
  readonly member: number;
  readonly blindRemovals: BlindEntries[] = [];
  readonly blindAdditions: BlindEntries[] = [];
  readonly poisoned: PoisonedIndex[] = [];
  readonly #entriesNamed: number;
  #puts = 0;
  #deletes = 0;
  #bytes = 0;
  #count = 0;
  #keys = new Uint32Array(initialKeys);
  #statesBefore = new Uint8Array(initialKeys);
  #rowWordsBefore = new Uint32Array(initialKeys * 2);
  #actions: Uint8Array | null = null;
  #rowWordsAfter: Uint32Array | null = null;

  constructor(member: number, entriesNamed: number) {
    this.member = member;
    this.#entriesNamed = entriesNamed;
  }

  get puts(): number {
    return this.#puts;
  }

  get deletes(): number {
    return this.#deletes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get noOps(): number {
    return this.#entriesNamed - this.#puts - this.#deletes;
  }

  /** Notes a key's state before the member's first change of it. */
  note(table: KeyTable, key: number): void {
    if (this.#count === this.#keys.length) this.#grow();
    const at = this.#count;
    this.#keys[at] = key;
    this.#statesBefore[at] = table.states[key]!;
    const words = table.rowWords;
    this.#rowWordsBefore[at * 2] = words[key * 2]!;
    this.#rowWordsBefore[at * 2 + 1] = words[key * 2 + 1]!;
    this.#count++;
  }

  /** Puts every touched key back to its state before the member. */
  undo(table: KeyTable): void {
    const { states, rowWords } = table;
    for (let i = 0; i < this.#count; i++) {
      const key = this.#keys[i]!;
      states[key] = this.#statesBefore[i]!;
      rowWords[key * 2] = this.#rowWordsBefore[i * 2]!;
      rowWords[key * 2 + 1] = this.#rowWordsBefore[i * 2 + 1]!;
    }
  }

  /** Settles what has to be written. Later members may change the same keys again; the answer is kept here. */
  *complete(table: KeyTable): Slices<undefined> {
    const actions = new Uint8Array(this.#count);
    const after = new Uint32Array(this.#count * 2);
    for (const [first, last] of sliced(this.#count)) {
      this.#settle(table, first, last, actions, after);
      yield last - first;
    }
    this.#actions = actions;
    this.#rowWordsAfter = after;
    for (const entries of this.blindRemovals) this.#deletes += this.#measureBlind(entries);
    for (const entries of this.blindAdditions) this.#puts += this.#measureBlind(entries);
  }

  /** Appends the writes: entries that were decided once each, then blind removals, then blind additions, so that a put wins. */
  *appendTo(batch: BatchBuilder, table: KeyTable): Slices<undefined> {
    const actions = this.#actions;
    const rowWords = this.#rowWordsAfter;
    if (actions === null || rowWords === null) return;
    for (const [first, last] of sliced(this.#count)) {
      this.#append(batch, table, first, last, actions, rowWords);
      yield last - first;
    }
    for (const { keys, rows } of this.blindRemovals) {
      yield* eachSlice(keys, rows, (i) => batch.deleteRange(keys.data, keyStartOf(keys, i), keys.ends[i]!));
    }
    for (const { keys, rows } of this.blindAdditions) {
      yield* eachSlice(keys, rows, (i) => batch.putRange(keys.data, keyStartOf(keys, i), keys.ends[i]!, noValue, 0, 0));
    }
  }

  #settle(table: KeyTable, first: number, last: number, actions: Uint8Array, after: Uint32Array): void {
    const { states, rowWords } = table;
    for (let i = first; i < last; i++) {
      const key = this.#keys[i]!;
      const low = rowWords[key * 2]!;
      const high = rowWords[key * 2 + 1]!;
      const before = this.#statesBefore[i]!;
      if (states[key] === keyState.present) {
        const same =
          before === keyState.present &&
          low === this.#rowWordsBefore[i * 2] &&
          high === this.#rowWordsBefore[i * 2 + 1];
        if (same) continue;
        actions[i] = putAction;
        after[i * 2] = low;
        after[i * 2 + 1] = high;
        this.#puts++;
        this.#bytes += table.keyEnd(key) - table.keyStart(key) + valueBytes(table, key, low);
      } else if (states[key] === keyState.absent && before !== keyState.absent) {
        actions[i] = deleteAction;
        this.#deletes++;
        this.#bytes += table.keyEnd(key) - table.keyStart(key);
      }
    }
  }

  #append(
    batch: BatchBuilder,
    table: KeyTable,
    first: number,
    last: number,
    actions: Uint8Array,
    rowWords: Uint32Array,
  ): void {
    const { keyBytes } = table;
    const value = new Uint8Array(rowIdBytes);
    for (let i = first; i < last; i++) {
      if (actions[i] === noAction) continue;
      const key = this.#keys[i]!;
      if (actions[i] === deleteAction) {
        batch.deleteRange(keyBytes, table.keyStart(key), table.keyEnd(key));
        continue;
      }
      const low = rowWords[i * 2 + lowWord]!;
      writeWord(value, 0, rowWords[i * 2 + highWord]!);
      writeWord(value, 4, low);
      batch.putRange(keyBytes, table.keyStart(key), table.keyEnd(key), value, 0, valueBytes(table, key, low));
    }
  }

  #measureBlind({ keys, rows }: BlindEntries): number {
    if (rows === null) {
      this.#bytes += keyBytesOf(keys);
      return keys.count;
    }
    for (const i of rows) this.#bytes += keys.ends[i]! - keyStartOf(keys, i);
    return rows.length;
  }

  #grow(): void {
    const keys = new Uint32Array(this.#keys.length * 2);
    keys.set(this.#keys);
    this.#keys = keys;
    const states = new Uint8Array(keys.length);
    states.set(this.#statesBefore);
    this.#statesBefore = states;
    const rowWords = new Uint32Array(keys.length * 2);
    rowWords.set(this.#rowWordsBefore);
    this.#rowWordsBefore = rowWords;
  }
}

const noValue = new Uint8Array(0);

/** Bytes of an entry's value: a row id, or a number of rows where it is not one. */
function valueBytes(table: KeyTable, key: number, low: number): number {
  return low === 1 && isCounted(table.keyBytes, table.keyStart(key)) ? 0 : rowIdBytes;
}

/** Visits entries of a list in slices. `rows`: which of them; `null`: all. */
function* eachSlice(keys: IndexKeys, rows: Uint32Array | null, visit: (entry: number) => void): Slices<undefined> {
  for (const [first, last] of sliced(rows?.length ?? keys.count)) {
    for (let n = first; n < last; n++) visit(rows === null ? n : rows[n]!);
    yield last - first;
  }
}
