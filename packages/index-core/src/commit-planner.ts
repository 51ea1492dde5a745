import { CorruptionError, type IndexKeys, InvalidArgumentError } from "@moraine/codec";
import { absent, type BatchBuilder, type ReadView } from "@moraine/store";
import { AbsenceSearch } from "./absence-search.js";
import { Collisions } from "./collisions.js";
import { checkCommitSize, type IndexChange } from "./index-change.js";
import { KeyTable } from "./key-table.js";
import { uniquenessProbeWindowKeys } from "./limits.js";
import { keyState, MemberLog, type PlannedEntries } from "./planned-entries.js";
import { quotedName } from "./quoted-name.js";
import { highWord, lowWord, readWord, rowIdBytes, rowIdWords } from "./row-id-words.js";
import { indexKeyPrefixBytes } from "./stored-row-ids.js";
import type { UniquenessFilters } from "./uniqueness-filters.js";

/** How a planner's work was served, summed over its members. */
export interface PlannerReport {
  /** Value-keyed entries read from the view. */
  readonly probes: number;
  /** Probes that found an entry. */
  readonly hits: number;
  readonly misses: number;
  /** `getMany` calls. */
  readonly windows: number;
  /** Scans of one row that looked for spans without entries. */
  readonly absenceScans: number;
  /** Entries that such a span showed to be absent, so that no probe was needed. */
  readonly knownAbsent: number;
  /** Keys that a resident filter showed to be absent, so that no probe was needed. */
  readonly knownAbsentByFilter: number;
  readonly puts: number;
  readonly deletes: number;
  readonly noOps: number;
}

/** The keys of one index among those requested. */
interface Request {
  readonly indexId: bigint;
  readonly first: number;
  readonly last: number;
}

/**
 * Plans what the members of one group commit write to their indexes, in their order, over one cut of the store. Reading
 * and deciding are apart: `probe` reads what is stored under every value that the members touch, in bounded windows;
 * `plan` is synchronous, decides one member against the store and the members accepted before it, and either accepts it
 * whole or leaves no trace of it.
 *
 * Nothing may write index entries to the store between the construction of a planner and the write of its batch: the
 * catalog's single committer sees to that. One planner serves one batch.
 */
export class CommitPlanner {
  readonly #view: ReadView;
  readonly #filters: UniquenessFilters | undefined;
  readonly #keys = new KeyTable();
  readonly #absence = new AbsenceSearch();
  /** Per key: the member that last noted, and that last claimed it. Members count from 1. */
  #notedBy = new Uint32Array(64);
  #claimedBy = new Uint32Array(64);
  #member = 0;
  readonly #accepted: MemberLog[] = [];
  #probing = false;
  readonly #report = {
    probes: 0,
    hits: 0,
    misses: 0,
    windows: 0,
    absenceScans: 0,
    knownAbsent: 0,
    knownAbsentByFilter: 0,
    puts: 0,
    deletes: 0,
    noOps: 0,
  };

  /** `filters`: those of the same store, through which the planner's batch is then written. */
  constructor(view: ReadView, filters?: UniquenessFilters) {
    this.#view = view;
    this.#filters = filters;
  }

  get report(): PlannerReport {
    return { ...this.#report };
  }

  /**
   * Reads the stored state of every value-keyed entry that the changes add, or remove under guard, and that is not known
   * yet. Give it the changes of all members at once: their keys then share windows. When reading fails nothing is kept
   * of the failed windows and the call can be repeated.
   *
   * Check each member with `checkCommitSize` first: this call reads for whatever it is given.
   */
  async probe(changes: readonly IndexChange[]): Promise<void> {
    this.#refuseWhileProbing("probe");
    this.#probing = true;
    const requested: number[] = [];
    const requests: Request[] = [];
    try {
      this.#report.absenceScans += await this.#absence.search(this.#view, this.#withoutFilter(changes));
      for (const { layout, additions, removals, guardRemovals } of changes) {
        if (!layout.unique) continue;
        const { indexId } = layout;
        const first = requested.length;
        if (guardRemovals && removals !== undefined) this.#request(indexId, removals, requested);
        if (additions !== undefined) this.#request(indexId, additions, requested);
        requests.push({ indexId, first, last: requested.length });
      }
      for (let first = 0; first < requested.length; first += uniquenessProbeWindowKeys) {
        await this.#probeWindow(requested, first, Math.min(requested.length, first + uniquenessProbeWindowKeys));
      }
      if (this.#filters !== undefined) this.#noteMisses(this.#filters, requests, requested);
    } finally {
      const { states } = this.#keys;
      for (const key of requested) if (states[key] === keyState.requested) states[key] = keyState.unknown;
      this.#probing = false;
    }
  }

  /**
   * Decides one member: all its removals, then all its additions. The planner then stands at the state after it.
   *
   * @throws ConstraintError when the member is over the size limits, or adds a value that another row holds; nothing of
   * the member is kept. @throws InvalidArgumentError when its changes were not probed.
   */
  plan(changes: readonly IndexChange[]): PlannedEntries {
    this.#refuseWhileProbing("plan");
    const size = checkCommitSize(changes);
    this.#member++;
    const log = new MemberLog(this.#member, size.entries);
    try {
      for (const change of changes) {
        if (change.removals !== undefined) this.#planRemovals(change, change.removals, log);
      }
      for (const change of changes) {
        if (change.additions !== undefined) this.#planAdditions(change, change.additions, log);
      }
    } catch (error) {
      log.undo(this.#keys);
      throw error;
    }
    log.complete(this.#keys);
    this.#accepted.push(log);
    this.#count(log, 1);
    return log;
  }

  /**
   * Takes back the latest plan, for a caller that refuses it for another reason. Several are taken back latest first, and
   * before anything is probed again.
   */
  withdraw(planned: PlannedEntries): void {
    const log = this.#accepted.at(-1);
    if (log === undefined || planned !== log) {
      throw new InvalidArgumentError("planned is not the latest plan of this planner", {
        remedy: "Withdraw plans latest first, each once.",
      });
    }
    log.undo(this.#keys);
    this.#accepted.pop();
    this.#count(log, -1);
  }

  /** Appends a member's writes to the batch. Call it for the accepted members in the order in which they were planned. */
  stage(planned: PlannedEntries, batch: BatchBuilder): void {
    if (!(planned instanceof MemberLog)) {
      throw new InvalidArgumentError("planned does not come from a planner", { remedy: "Pass the result of plan." });
    }
    planned.appendTo(batch, this.#keys);
  }

  /** Changes of indexes for which no filter answers. */
  #withoutFilter(changes: readonly IndexChange[]): readonly IndexChange[] {
    const filters = this.#filters;
    if (filters === undefined) return changes;
    return changes.filter(({ layout }) => layout.unique && filters.filterOf(layout.indexId) === undefined);
  }

  /** Tells what a filter would have spared. */
  #noteMisses(filters: UniquenessFilters, requests: readonly Request[], requested: readonly number[]): void {
    const { states } = this.#keys;
    for (const { indexId, first, last } of requests) {
      let misses = 0;
      for (let i = first; i < last; i++) if (states[requested[i]!] === keyState.absent) misses++;
      if (misses > 0) filters.noteMisses(indexId, misses);
    }
  }

  #request(indexId: bigint, keys: IndexKeys, requested: number[]): void {
    const spans = this.#absence.spansOf(indexId);
    const filter = this.#filters?.filterOf(indexId);
    const { data, ends, multi, count } = keys;
    for (let i = 0, start = 0; i < count; i++) {
      const end = ends[i]!;
      if (multi[i] === 0) {
        if (spans?.hold(data, start, end) === true) {
          this.#report.knownAbsent++;
        } else {
          const key = this.#keys.findOrAdd(data, start, end);
          const { states } = this.#keys;
          if (states[key] === keyState.unknown) {
            if (filter?.mayHold(data, start + indexKeyPrefixBytes, end) === false) {
              // Noted here, as the filter may be given up before this key is planned.
              states[key] = keyState.absent;
              this.#report.knownAbsentByFilter++;
            } else {
              states[key] = keyState.requested;
              requested.push(key);
            }
          }
        }
      }
      start = end;
    }
  }

  async #probeWindow(requested: readonly number[], first: number, last: number): Promise<void> {
    const table = this.#keys;
    let bytes = 0;
    for (let i = first; i < last; i++) bytes += table.keyEnd(requested[i]!) - table.keyStart(requested[i]!);
    const { keyBytes } = table;
    const data = new Uint8Array(bytes);
    const ends = new Uint32Array(last - first);
    let at = 0;
    for (let i = first; i < last; i++) {
      const key = requested[i]!;
      const end = table.keyEnd(key);
      for (let from = table.keyStart(key); from < end; from++, at++) data[at] = keyBytes[from]!;
      ends[i - first] = at;
    }
    const values = await this.#view.getMany({ data, ends });
    const { states, rowWords } = table;
    for (let i = first; i < last; i++) {
      const key = requested[i]!;
      const length = values.lengths[i - first]!;
      this.#report.probes++;
      if (length === absent) {
        states[key] = keyState.absent;
        this.#report.misses++;
        continue;
      }
      if (length !== rowIdBytes) {
        throw new CorruptionError(`a value-keyed index entry holds ${length} bytes in place of ${rowIdBytes}`);
      }
      const offset = values.offsets[i - first]!;
      rowWords[key * 2 + highWord] = readWord(values.data, offset);
      rowWords[key * 2 + lowWord] = readWord(values.data, offset + 4);
      states[key] = keyState.present;
      this.#report.hits++;
    }
    this.#report.windows++;
  }

  #planRemovals(change: IndexChange, removals: IndexKeys, log: MemberLog): void {
    const { layout, guardRemovals } = change;
    if (!layout.unique) {
      log.blindRemovals.push({ keys: removals, rows: null });
      return;
    }
    const spans = this.#absence.spansOf(layout.indexId);
    const { data, ends, multi, count } = removals;
    const removedWords = rowIdWords(removals.rowIds);
    const blind: number[] = [];
    for (let i = 0, start = 0; i < count; i++) {
      const end = ends[i]!;
      if (multi[i] === 0) {
        const key = this.#touch(data, start, end, log);
        const { states, rowWords } = this.#keys;
        let state = states[key]!;
        if (state === keyState.unknown && spans?.hold(data, start, end) === true) state = keyState.absent;
        if (state === keyState.unknown && guardRemovals) throw notProbed(change);
        // Where the holder is known, even an unguarded removal leaves another row's entry alone: it costs nothing.
        const another =
          state === keyState.present &&
          (rowWords[key * 2] !== removedWords[i * 2] || rowWords[key * 2 + 1] !== removedWords[i * 2 + 1]);
        if (!another && state !== keyState.absent) states[key] = keyState.absent;
      } else {
        blind.push(i);
      }
      start = end;
    }
    if (blind.length > 0) log.blindRemovals.push({ keys: removals, rows: Uint32Array.from(blind) });
  }

  #planAdditions(change: IndexChange, additions: IndexKeys, log: MemberLog): void {
    const { layout } = change;
    if (!layout.unique) {
      log.blindAdditions.push({ keys: additions, rows: null });
      return;
    }
    const spans = this.#absence.spansOf(layout.indexId);
    const { data, ends, multi, count } = additions;
    const addedWords = rowIdWords(additions.rowIds);
    const blind: number[] = [];
    const collisions = new Collisions(change);
    for (let i = 0, start = 0; i < count; i++) {
      const end = ends[i]!;
      if (multi[i] === 0) {
        const key = this.#touch(data, start, end, log);
        const { states, rowWords } = this.#keys;
        const state = states[key]!;
        if (state === keyState.present) {
          if (rowWords[key * 2] === addedWords[i * 2] && rowWords[key * 2 + 1] === addedWords[i * 2 + 1]) {
            this.#claimedBy[key] = log.member;
          } else {
            const claimedBy = this.#claimedBy[key];
            const holder = claimedBy === log.member ? "own" : claimedBy === 0 ? "stored" : "staged";
            const from = start;
            collisions.add(additions.rowIds[i]!, this.#keys.rowId(key), holder, () => data.slice(from, end));
          }
        } else {
          if (state !== keyState.absent && spans?.hold(data, start, end) !== true) throw notProbed(change);
          states[key] = keyState.present;
          rowWords[key * 2] = addedWords[i * 2]!;
          rowWords[key * 2 + 1] = addedWords[i * 2 + 1]!;
          this.#claimedBy[key] = log.member;
        }
      } else {
        blind.push(i);
      }
      start = end;
    }
    if (blind.length > 0) log.blindAdditions.push({ keys: additions, rows: Uint32Array.from(blind) });
    if (collisions.found !== null) log.poisoned.push(collisions.found);
  }

  /** The key's number, its state before this member noted in the log. */
  #touch(data: Uint8Array, start: number, end: number, log: MemberLog): number {
    const key = this.#keys.findOrAdd(data, start, end);
    if (key >= this.#notedBy.length) this.#growMarks();
    if (this.#notedBy[key] !== log.member) {
      this.#notedBy[key] = log.member;
      log.note(this.#keys, key);
    }
    return key;
  }

  #growMarks(): void {
    const noted = new Uint32Array(Math.max(this.#keys.count, this.#notedBy.length * 2));
    noted.set(this.#notedBy);
    this.#notedBy = noted;
    const claimed = new Uint32Array(noted.length);
    claimed.set(this.#claimedBy);
    this.#claimedBy = claimed;
  }

  #count(log: MemberLog, sign: 1 | -1): void {
    this.#report.puts += sign * log.puts;
    this.#report.deletes += sign * log.deletes;
    this.#report.noOps += sign * log.noOps;
  }

  #refuseWhileProbing(call: string): void {
    if (!this.#probing) return;
    throw new InvalidArgumentError(`${call} was called while probe is running`, {
      remedy: "Await probe before the next call on the same planner.",
    });
  }
}

function notProbed({ layout, name }: IndexChange): InvalidArgumentError {
  return new InvalidArgumentError(`changes of index ${quotedName(name)} (id ${layout.indexId}) were not probed`, {
    remedy: "Pass the same changes to probe, and await it, before plan.",
  });
}
