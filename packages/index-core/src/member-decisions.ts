import { type IndexKeys, InvalidArgumentError } from "@moraine/codec";
import type { AbsenceSearch } from "./absence-search.js";
import type { AbsentSpans } from "./absent-spans.js";
import { Collisions } from "./collisions.js";
import { countedEntries, isProvisional } from "./counted-entries.js";
import { type IndexChange, keyStartOf } from "./index-change.js";
import type { KeyTable } from "./key-table.js";
import { keyState, MemberLog } from "./planned-entries.js";
import { quotedName } from "./quoted-name.js";
import { lowWord, rowIdWords } from "./row-id-words.js";
import { sliced, type Slices } from "./slices.js";

/** Numbers of the keys of lists that are in the table already, by the lists' `ends`. */
type KnownNumbers = ReadonlyMap<Uint32Array, Uint32Array>;

/** One list of entries that is being decided. */
interface DecidedList {
  readonly change: IndexChange;
  readonly keys: IndexKeys;
  readonly rowWords: Uint32Array;
  readonly spans: AbsentSpans | undefined;
  readonly numbers: Uint32Array | undefined;
  readonly counted: ReadonlySet<number> | undefined;
  /** Entries of the list that are stored under no value. */
  readonly blind: number[];
}

/**
 * Decides members in memory, each against what is known of its keys and against the members before it. The states of the
 * table are then those after the member; one that is refused leaves none of its changes.
 */
export class MemberDecisions {
  readonly #keys: KeyTable;
  readonly #absence: AbsenceSearch;
  readonly #numbers: KnownNumbers;
  /** Per key: the member that last noted, and that last claimed it. Members count from 1. */
  #notedBy = new Uint32Array(64);
  #claimedBy = new Uint32Array(64);
  #member = 0;

  constructor(keys: KeyTable, absence: AbsenceSearch, numbers: KnownNumbers) {
    this.#keys = keys;
    this.#absence = absence;
    this.#numbers = numbers;
  }

  /** All removals of a member, then all its additions. `entries`: how many its changes name. */
  *decide(changes: readonly IndexChange[], entries: number): Slices<MemberLog> {
    this.#member++;
    const log = new MemberLog(this.#member, entries);
    try {
      for (const change of changes) {
        if (change.removals !== undefined) yield* this.#decideRemovals(change, change.removals, log);
      }
      for (const change of changes) {
        if (change.additions !== undefined) yield* this.#decideAdditions(change, change.additions, log);
      }
      yield* log.complete(this.#keys);
    } catch (error) {
      log.undo(this.#keys);
      throw error;
    }
    return log;
  }

  *#decideRemovals(change: IndexChange, removals: IndexKeys, log: MemberLog): Slices<undefined> {
    const counted = countedEntries(removals);
    if (!change.layout.unique && counted === undefined) {
      log.blindRemovals.push({ keys: removals, rows: null });
      return;
    }
    const list = this.#listOf(change, removals, counted);
    for (const [first, last] of sliced(removals.count)) {
      this.#remove(list, first, last, log);
      yield last - first;
    }
    if (list.blind.length > 0) log.blindRemovals.push({ keys: removals, rows: Uint32Array.from(list.blind) });
  }

  *#decideAdditions(change: IndexChange, additions: IndexKeys, log: MemberLog): Slices<undefined> {
    const counted = countedEntries(additions);
    if (!change.layout.unique && counted === undefined) {
      log.blindAdditions.push({ keys: additions, rows: null });
      return;
    }
    const list = this.#listOf(change, additions, counted);
    const collisions = new Collisions(change);
    for (const [first, last] of sliced(additions.count)) {
      this.#add(list, first, last, log, collisions);
      yield last - first;
    }
    if (list.blind.length > 0) log.blindAdditions.push({ keys: additions, rows: Uint32Array.from(list.blind) });
    if (collisions.found !== null) log.poisoned.push(collisions.found);
  }

  #listOf(change: IndexChange, keys: IndexKeys, counted: Uint32Array | undefined): DecidedList {
    return {
      change,
      keys,
      rowWords: rowIdWords(keys.rowIds),
      spans: this.#absence.spansOf(change.layout.indexId),
      numbers: this.#numbers.get(keys.ends),
      counted: counted === undefined ? undefined : new Set(counted),
      blind: [],
    };
  }

  #remove(list: DecidedList, first: number, last: number, log: MemberLog): void {
    const { change, keys, spans, numbers, blind, rowWords: removedWords } = list;
    const { data, ends, multi } = keys;
    for (let i = first, start = keyStartOf(keys, first); i < last; i++) {
      const end = ends[i]!;
      if (multi[i] === 0) {
        const key = numbers?.[i] ?? this.#keys.findOrAdd(data, start, end);
        this.#touch(key, log);
        const { states, rowWords } = this.#keys;
        let state = states[key]!;
        if (state === keyState.unknown && spans?.hold(data, start, end) === true) state = keyState.absent;
        if (state === keyState.unknown && change.guardRemovals) throw notProbed(change);
        // Where the holder is known, even an unguarded removal leaves another row's entry alone: it costs nothing.
        const another =
          state === keyState.present &&
          (rowWords[key * 2] !== removedWords[i * 2] || rowWords[key * 2 + 1] !== removedWords[i * 2 + 1]);
        if (!another && state !== keyState.absent) states[key] = keyState.absent;
      } else if (list.counted?.has(i) === true) {
        this.#count(list, start, end, -1, log);
      } else {
        blind.push(i);
      }
      start = end;
    }
  }

  #add(list: DecidedList, first: number, last: number, log: MemberLog, collisions: Collisions): void {
    const { change, keys, spans, numbers, blind, rowWords: addedWords } = list;
    const { data, ends, multi } = keys;
    for (let i = first, start = keyStartOf(keys, first); i < last; i++) {
      const end = ends[i]!;
      if (multi[i] === 0) {
        const key = numbers?.[i] ?? this.#keys.findOrAdd(data, start, end);
        this.#touch(key, log);
        const { states, rowWords } = this.#keys;
        const state = states[key]!;
        if (state === keyState.present) {
          const same = rowWords[key * 2] === addedWords[i * 2] && rowWords[key * 2 + 1] === addedWords[i * 2 + 1];
          // A row id that several rows may have does not make a row the holder.
          if (same && !isProvisional(addedWords, i)) {
            this.#claimedBy[key] = log.member;
          } else {
            const claimedBy = this.#claimedBy[key];
            const holder = claimedBy === log.member ? "own" : claimedBy === 0 ? "stored" : "staged";
            const from = start;
            collisions.add(keys.rowIds[i]!, this.#keys.rowId(key), holder, () => data.slice(from, end));
          }
        } else {
          if (state !== keyState.absent && spans?.hold(data, start, end) !== true) throw notProbed(change);
          states[key] = keyState.present;
          rowWords[key * 2] = addedWords[i * 2]!;
          rowWords[key * 2 + 1] = addedWords[i * 2 + 1]!;
          this.#claimedBy[key] = log.member;
        }
      } else if (list.counted?.has(i) === true) {
        this.#count(list, start, end, 1, log);
      } else {
        blind.push(i);
      }
      start = end;
    }
  }

  /** One row more or less for an entry that stands for any number of them. */
  #count({ change, keys }: DecidedList, start: number, end: number, by: 1 | -1, log: MemberLog): void {
    const key = this.#keys.findOrAdd(keys.data, start, end);
    this.#touch(key, log);
    const { states, rowWords } = this.#keys;
    const state = states[key]!;
    if (state !== keyState.absent && state !== keyState.present) throw notProbed(change);
    // Where there is none, there is none to take out.
    const rows = Math.max(0, (state === keyState.present ? rowWords[key * 2 + lowWord]! : 0) + by);
    states[key] = rows === 0 ? keyState.absent : keyState.present;
    rowWords[key * 2 + lowWord] = rows;
  }

  /** Notes the key's state before this member in its log. */
  #touch(key: number, log: MemberLog): void {
    if (key >= this.#notedBy.length) this.#growMarks();
    if (this.#notedBy[key] === log.member) return;
    this.#notedBy[key] = log.member;
    log.note(this.#keys, key);
  }

  #growMarks(): void {
    const noted = new Uint32Array(Math.max(this.#keys.count, this.#notedBy.length * 2));
    noted.set(this.#notedBy);
    this.#notedBy = noted;
    const claimed = new Uint32Array(noted.length);
    claimed.set(this.#claimedBy);
    this.#claimedBy = claimed;
  }
}

function notProbed({ layout, name }: IndexChange): InvalidArgumentError {
  return new InvalidArgumentError(`changes of index ${quotedName(name)} (id ${layout.indexId}) were not probed`, {
    remedy: "Pass the same changes to probe, and await it, before plan.",
  });
}
