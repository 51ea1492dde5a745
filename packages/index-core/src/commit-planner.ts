import { type IndexKeys, InvalidArgumentError } from "@moraine/codec";
import { absent, type BatchBuilder, nextTurn, type ReadView, type WriteBatch } from "@moraine/store";
import { AbsenceSearch } from "./absence-search.js";
import { eachCountedKey, isCounted } from "./counted-entries.js";
import { checkCommitSize, type IndexChange, keyStartOf } from "./index-change.js";
import { KeyTable } from "./key-table.js";
import { uniquenessProbeKeys, uniquenessProbeWindowKeys } from "./limits.js";
import { MemberDecisions } from "./member-decisions.js";
import { keyState, MemberLog, type PlannedEntries } from "./planned-entries.js";
import type { PlannerReport } from "./planner-report.js";
import { noteMisses, type ProbeRequest } from "./note-misses.js";
import { probedLists, type ProbedList } from "./probed-lists.js";
import { highWord, lowWord, readWord, rowIdBytes } from "./row-id-words.js";
import { partsSideBySide } from "./side-by-side.js";
import { atOnce, inTurns, sliced, type Slices } from "./slices.js";
import { indexKeyPrefixBytes, wrongValue } from "./stored-row-ids.js";
import type { UniquenessFilters } from "./uniqueness-filters.js";
import { valueKeys } from "./written-keys.js";

/**
 * Plans what the members of one group commit write to their indexes, in their order, over one cut of the store. Reading
 * and deciding are apart: `probe` reads what is stored under every value that the members touch, in bounded windows;
 * `plan` waits for nothing, decides one member against the store and the members accepted before it, and either accepts it
 * whole or leaves no trace of it.
 *
 * Nothing may write index entries to the store between the first `probe` of a planner and the write of its batch: the
 * catalog's single committer sees to that. One planner serves one batch.
 *
 * `probeAhead` does the reading of a large member before that, while other batches are written. Its caller tells `written`
 * of each batch right before it hands that to the store, and `probeAhead` which one is on its way. **What is known of a key is
 * then what the store holds when it is planned.** All keys are entered into the table before the first is read. A batch that
 * changes the entry of one was durable before that first read, and the read sees it; or it was on its way then, or was handed
 * over later, and meets the key in the table: the planner forgets the key, does not read it ahead any more, drops a read of it
 * that is under way, and leaves it to `probe`, which reads while nothing is written. So neither an absence nor a holder can
 * be out of date.
 */
export class CommitPlanner {
  readonly #view: ReadView;
  readonly #filters: UniquenessFilters | undefined;
  readonly #keys = new KeyTable();
  readonly #absence = new AbsenceSearch();
  readonly #accepted: MemberLog[] = [];
  #probing = false;
  /** The call that is under way in slices. */
  #slicing: "plan" | "stage" | undefined;
  /** Numbers of the keys of lists that were entered ahead, by the lists' `ends`: lists that share it hold the same keys. */
  readonly #ahead = new Map<Uint32Array, Uint32Array>();
  readonly #decisions = new MemberDecisions(this.#keys, this.#absence, this.#ahead);
  /** Keys that were entered ahead and of which nothing is known, or nothing any more. */
  #forgotten: number[] = [];
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
   * Reads the stored state of every value-keyed entry that the changes add, or remove under guard, and of every counted one,
   * where it is not known yet. Give it the changes of all members at once: their keys then share windows. When reading fails
   * nothing is kept of the failed parts and the call can be repeated.
   *
   * Check each member with `checkCommitSize` first: this call reads for whatever it is given.
   */
  async probe(changes: readonly IndexChange[]): Promise<void> {
    this.#refuseWhileBusy("probe");
    this.#probing = true;
    const requested: number[] = this.#requestForgotten();
    const requests: ProbeRequest[] = [];
    const lists = probedLists(changes).filter(({ keys }) => !this.#ahead.has(keys.ends));
    try {
      this.#report.absenceScans += await this.#absence.search(this.#view, this.#withoutFilter(lists));
      for (const { indexId, keys } of lists) {
        const first = requested.length;
        this.#request(indexId, keys, requested);
        requests.push({ indexId, first, last: requested.length });
      }
      this.#requestCounted(changes, requested);
      await this.#probeRequested(requested);
      if (this.#filters !== undefined) noteMisses(this.#filters, this.#keys, requests, requested);
    } finally {
      this.#giveUp(requested);
      this.#probing = false;
    }
  }

  /**
   * Reads what `probe` would read for these changes, while others write. Yields to the event loop between slices. `inFlight`
   * gives the batch that was handed to the store and is not durable yet. Call it before the first `probe`.
   */
  async probeAhead(changes: readonly IndexChange[], inFlight: () => WriteBatch | undefined): Promise<void> {
    this.#refuseWhileBusy("probeAhead");
    this.#probing = true;
    const lists = probedLists(changes).filter(({ keys }) => !this.#ahead.has(keys.ends));
    const entered: { readonly indexId: bigint; readonly numbers: Uint32Array }[] = [];
    try {
      for (const { indexId, keys } of lists) {
        const numbers = await this.#enter(keys);
        this.#ahead.set(keys.ends, numbers);
        entered.push({ indexId, numbers });
      }
      // A batch that was handed over before its key was entered has not met it.
      const batch = inFlight();
      if (batch !== undefined) this.written(batch);
      this.#report.absenceScans += await this.#absence.search(this.#view, this.#withoutFilter(lists));
      for (const { indexId, numbers } of entered) await this.#readAhead(indexId, numbers);
    } finally {
      for (const { numbers } of entered) this.#giveUp(numbers);
      this.#absence.clear();
      this.#probing = false;
    }
  }

  /** Whether all that `probe` would read for these changes was read ahead, or met a batch that made the planner forget it. */
  hasReadAhead(changes: readonly IndexChange[]): boolean {
    return probedLists(changes).every(({ keys }) => this.#ahead.has(keys.ends));
  }

  /** Forgets what was read ahead of the entries that a batch writes. Call it right before the batch is handed to the store. */
  written(batch: WriteBatch): void {
    atOnce(this.#written(batch));
  }

  /** The same for a batch of many entries, in turns of the event loop. Reading ahead may go on meanwhile. */
  writtenInTurns(batch: WriteBatch): Promise<void> {
    return inTurns(this.#written(batch));
  }

  /**
   * Decides one member: all its removals, then all its additions. The planner then stands at the state after it.
   *
   * @throws ConstraintError when the member is over the size limits, or adds a value that another row holds; nothing of
   * the member is kept. @throws InvalidArgumentError when its changes were not probed.
   */
  plan(changes: readonly IndexChange[]): PlannedEntries {
    return atOnce(this.#plan(changes));
  }

  /** The same for a member of many entries, in turns of the event loop. Nothing else may be asked of the planner meanwhile. */
  planInTurns(changes: readonly IndexChange[]): Promise<PlannedEntries> {
    return inTurns(this.#plan(changes));
  }

  /**
   * Takes back the latest plan, for a caller that refuses it for another reason. Several are taken back latest first, and
   * before anything is probed again.
   */
  withdraw(planned: PlannedEntries): void {
    this.#refuseWhileBusy("withdraw");
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
    atOnce(this.#stage(planned, batch));
  }

  /** The same for a member of many entries, in turns of the event loop. The batch and the planner are in use meanwhile. */
  stageInTurns(planned: PlannedEntries, batch: BatchBuilder): Promise<void> {
    return inTurns(this.#stage(planned, batch));
  }

  *#written(batch: WriteBatch): Slices<undefined> {
    if (this.#accepted.length > 0 || this.#slicing !== undefined) {
      throw new InvalidArgumentError("a batch was written between plan and the write of what was planned", {
        remedy: "Write the batch of a planner before any other.",
      });
    }
    if (this.#keys.count === 0) return;
    yield* valueKeys(batch, (data, start, end) => {
      const key = this.#keys.find(data, start, end);
      if (key >= 0) this.#forget(key);
    });
  }

  *#plan(changes: readonly IndexChange[]): Slices<PlannedEntries> {
    this.#refuseWhileBusy("plan");
    const size = checkCommitSize(changes);
    this.#slicing = "plan";
    try {
      const log = yield* this.#decisions.decide(changes, size.entries);
      this.#accepted.push(log);
      this.#count(log, 1);
      return log;
    } finally {
      this.#slicing = undefined;
    }
  }

  *#stage(planned: PlannedEntries, batch: BatchBuilder): Slices<undefined> {
    this.#refuseWhileBusy("stage");
    if (!(planned instanceof MemberLog)) {
      throw new InvalidArgumentError("planned does not come from a planner", { remedy: "Pass the result of plan." });
    }
    this.#slicing = "stage";
    try {
      yield* planned.appendTo(batch, this.#keys);
    } finally {
      this.#slicing = undefined;
    }
  }

  /** Lists of indexes for which no filter answers. */
  #withoutFilter(lists: readonly ProbedList[]): readonly ProbedList[] {
    const filters = this.#filters;
    return filters === undefined ? lists : lists.filter(({ indexId }) => filters.filterOf(indexId) === undefined);
  }

  /** Puts the keys of a list into the table, those of which nothing is known to be read. Gives the number of each. */
  async #enter(keys: IndexKeys): Promise<Uint32Array> {
    const table = this.#keys;
    const { data, ends, multi, count } = keys;
    const numbers = new Uint32Array(count);
    for (const [first, last] of sliced(count)) {
      for (let i = first, start = keyStartOf(keys, first); i < last; i++) {
        const end = ends[i]!;
        if (multi[i] === 0) {
          const key = table.findOrAdd(data, start, end);
          numbers[i] = key;
          if (table.states[key] === keyState.unknown) table.states[key] = keyState.requested;
        } else {
          numbers[i] = noKey;
        }
        start = end;
      }
      if (last < count) await nextTurn();
    }
    return numbers;
  }

  async #readAhead(indexId: bigint, numbers: Uint32Array): Promise<void> {
    const table = this.#keys;
    const filters = this.#filters;
    const spans = this.#absence.spansOf(indexId);
    // Asked for again after each wait: a filter that was given up meanwhile is not kept current.
    let filter = filters?.filterOf(indexId);
    let window: number[] = [];
    const read = async (): Promise<void> => {
      await this.#probeRequested(window);
      if (filters !== undefined) noteMisses(filters, table, [{ indexId, first: 0, last: window.length }], window);
      window = [];
      filter = filters?.filterOf(indexId);
    };
    for (const [first, last] of sliced(numbers.length)) {
      for (let i = first; i < last; i++) {
        const key = numbers[i]!;
        if (key === noKey || table.states[key] !== keyState.requested) continue;
        const start = table.keyStart(key);
        const end = table.keyEnd(key);
        if (spans?.hold(table.keyBytes, start, end) === true) {
          table.states[key] = keyState.absent;
          this.#report.knownAbsent++;
        } else if (filter?.mayHold(table.keyBytes, start + indexKeyPrefixBytes, end) === false) {
          table.states[key] = keyState.absent;
          this.#report.knownAbsentByFilter++;
        } else {
          window.push(key);
          if (window.length === uniquenessProbeWindowKeys) await read();
        }
      }
      if (last < numbers.length) await nextTurn();
      filter = filters?.filterOf(indexId);
    }
    if (window.length > 0) await read();
  }

  #forget(key: number): void {
    const { states } = this.#keys;
    if (states[key] === keyState.unknown) return;
    states[key] = keyState.unknown;
    this.#forgotten.push(key);
  }

  #requestForgotten(): number[] {
    const { states } = this.#keys;
    const requested: number[] = [];
    for (const key of this.#forgotten) {
      if (states[key] !== keyState.unknown) continue;
      states[key] = keyState.requested;
      requested.push(key);
    }
    this.#forgotten = [];
    return requested;
  }

  /** Keys that were to be read and were not are unknown again, and stay to be read. */
  #giveUp(requested: Iterable<number>): void {
    const { states } = this.#keys;
    for (const key of requested) if (key !== noKey && states[key] === keyState.requested) this.#forget(key);
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

  /** Counted entries are never read ahead: there are few of them. */
  #requestCounted(changes: readonly IndexChange[], requested: number[]): void {
    eachCountedKey(changes, (data, start, end) => {
      const key = this.#keys.findOrAdd(data, start, end);
      if (this.#keys.states[key] !== keyState.unknown) return;
      this.#keys.states[key] = keyState.requested;
      requested.push(key);
    });
  }

  #probeRequested(requested: readonly number[]): Promise<void> {
    const parts = { partKeys: uniquenessProbeKeys, windowKeys: uniquenessProbeWindowKeys };
    return partsSideBySide(requested.length, parts, (first, last) => this.#probePart(requested, first, last));
  }

  async #probePart(requested: readonly number[], first: number, last: number): Promise<void> {
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
      // Its entry was written meanwhile, or it was asked for twice.
      if (states[key] !== keyState.requested) continue;
      if (length === absent) {
        states[key] = keyState.absent;
        this.#report.misses++;
        continue;
      }
      if (length === 0 && isCounted(keyBytes, table.keyStart(key))) {
        rowWords[key * 2 + highWord] = 0;
        rowWords[key * 2 + lowWord] = 1;
      } else {
        if (length !== rowIdBytes) throw wrongValue(length, rowIdBytes);
        const offset = values.offsets[i - first]!;
        rowWords[key * 2 + highWord] = readWord(values.data, offset);
        rowWords[key * 2 + lowWord] = readWord(values.data, offset + 4);
      }
      states[key] = keyState.present;
      this.#report.hits++;
    }
    this.#report.windows++;
  }

  #count(log: MemberLog, sign: 1 | -1): void {
    this.#report.puts += sign * log.puts;
    this.#report.deletes += sign * log.deletes;
    this.#report.noOps += sign * log.noOps;
  }

  #refuseWhileBusy(call: string): void {
    const running = this.#probing ? "probe" : this.#slicing;
    if (running === undefined) return;
    throw new InvalidArgumentError(`${call} was called while ${running} is running`, {
      remedy: `Await ${running} before the next call on the same planner.`,
    });
  }
}

/** In place of the number of an entry that is stored under no value. */
const noKey = 0xffff_ffff;
