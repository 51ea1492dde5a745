import type { Random } from "../differential/random.js";
import type { SqlOutcome, SqlProcess } from "../support/sql-process.js";

/** Longest time in which a statement must have ended, whatever became of processes meanwhile. */
export const statementLimitMs = 15_000;
/** Ids below are claimed by all writers; each writer has its own from `firstId` on. */
export const sharedIds = 60;
const idsPerWriter = 1_000_000;

/** A change of rows: what they are after it, by id; undefined for a row that is gone. */
interface Change {
  readonly statements: readonly string[];
  readonly after: ReadonlyMap<number, number | undefined>;
  /** Whether a unique index may, or must, refuse it. */
  readonly refusal?: "possible" | "certain";
}

/**
 * Changes rows of `lake.t(id, n, note)`, whose `id` has a unique index, one statement or transaction after the other, and keeps
 * what was acknowledged. After an error it looks whether the lake is as before, as it must be unless the error says that this is
 * not known.
 */
export class Writer {
  /** What was acknowledged of its own rows: `n` by id. */
  readonly rows = new Map<number, number>();
  /** Shared ids that were acknowledged to it. */
  readonly won = new Set<number>();
  acknowledged = 0;
  refused = 0;
  /** Errors other than refusals, by what they say. */
  readonly errors = new Map<string, number>();
  /** Changes without an answer that were found to have landed. */
  foundLanded = 0;
  readonly #number: number;
  readonly #random: Random;
  readonly #open: () => Promise<SqlProcess>;
  #process: SqlProcess;
  #nextId: number;

  /** `open` gives a process in place of one that was killed. */
  constructor(number: number, process: SqlProcess, open: () => Promise<SqlProcess>, random: Random) {
    this.#number = number;
    this.#process = process;
    this.#open = open;
    this.#random = random;
    this.#nextId = (number + 1) * idsPerWriter;
  }

  /** Makes one change. Fails where it came to something that it must not come to. */
  async step(): Promise<void> {
    const change = this.#change();
    const outcome = await this.#run(change.statements);
    if ("rows" in outcome) {
      if (change.refusal === "certain") throw new Error(`a duplicate was let in: ${change.statements.join("; ")}`);
      this.acknowledged += 1;
      this.#apply(change);
      return;
    }
    if ("killed" in outcome) {
      await this.#settle(change, true, "the process was killed");
      return;
    }
    if (outcome.error.includes("claims a value")) {
      if (change.refusal === undefined) throw new Error(`refused: ${change.statements.join("; ")}: ${outcome.error}`);
      this.refused += 1;
      return;
    }
    this.#count(outcome.error);
    await this.#settle(change, outcome.error.includes("is not known"), outcome.error);
  }

  async kill(): Promise<void> {
    await this.#process.kill();
  }

  #change(): Change {
    const random = this.#random;
    return random.weighted<() => Change>([
      [5, () => this.#insert(random.between(1, 4))],
      [2, () => this.#insert(random.between(15, 40))],
      [3, () => this.#update()],
      [2, () => this.#remove()],
      [2, () => this.#claim()],
      [1, () => this.#duplicate()],
      [1, () => this.#transaction()],
      [0.5, () => this.#maintain()],
    ])();
  }

  #insert(count: number): Change {
    const after = new Map<number, number>();
    for (let i = 0; i < count; i++) after.set(this.#nextId++, this.#random.below(50));
    const values = [...after].map(([id, n]) => `(${id}, ${n}, 'by ${this.#number}')`);
    return { statements: [`INSERT INTO lake.t VALUES ${values.join(", ")}`], after };
  }

  #update(): Change {
    const ids = this.#random.some([...this.rows.keys()], this.#random.between(1, 4));
    if (ids.length === 0) return this.#insert(1);
    const after = new Map(ids.map((id) => [id, (this.rows.get(id) ?? 0) + 1]));
    return { statements: [`UPDATE lake.t SET n = n + 1 WHERE id IN (${ids.join(", ")})`], after };
  }

  #remove(): Change {
    const ids = this.#random.some([...this.rows.keys()], this.#random.between(1, 3));
    if (ids.length === 0) return this.#insert(1);
    const after = new Map(ids.map((id) => [id, undefined]));
    return { statements: [`DELETE FROM lake.t WHERE id IN (${ids.join(", ")})`], after };
  }

  #claim(): Change {
    const id = this.#random.below(sharedIds);
    const statements = [`INSERT INTO lake.t VALUES (${id}, ${this.#number}, 'shared')`];
    return { statements, after: new Map([[id, this.#number]]), refusal: this.won.has(id) ? "certain" : "possible" };
  }

  #duplicate(): Change {
    const [id] = this.#random.some([...this.rows.keys()], 1);
    if (id === undefined) return this.#insert(1);
    const statements = [`INSERT INTO lake.t VALUES (${id}, 0, 'again')`];
    return { statements, after: new Map(), refusal: "certain" };
  }

  /** An insert, an update of the row that it inserted, and a delete. */
  #transaction(): Change {
    const inserted = this.#insert(2);
    const removed = this.#remove();
    const [first] = inserted.after.keys();
    const after = new Map([...inserted.after, ...removed.after]);
    after.set(first ?? 0, (inserted.after.get(first ?? 0) ?? 0) + 7);
    const update = `UPDATE lake.t SET n = n + 7 WHERE id = ${first}`;
    return { statements: ["BEGIN", ...inserted.statements, update, ...removed.statements, "COMMIT"], after };
  }

  #maintain(): Change {
    const call = this.#random.pick(["flush_inlined_data", "merge_adjacent_files", "rewrite_data_files"]);
    return { statements: [`CALL ducklake_${call}('lake')`], after: new Map() };
  }

  async #run(statements: readonly string[]): Promise<SqlOutcome> {
    let outcome: SqlOutcome = { rows: [] };
    for (const sql of statements) {
      outcome = await this.#timed(sql);
      if ("rows" in outcome) continue;
      // A failed COMMIT has ended the transaction, a failed statement has not.
      if ("error" in outcome && statements.length > 1) await this.#timed("ROLLBACK");
      break;
    }
    return outcome;
  }

  async #timed(sql: string): Promise<SqlOutcome> {
    const began = performance.now();
    const outcome = await this.#process.run(sql);
    const tookMs = performance.now() - began;
    if (tookMs > statementLimitMs) throw new Error(`took ${Math.round(tookMs)} ms: ${sql}: ${JSON.stringify(outcome)}`);
    return outcome;
  }

  /** Looks what became of a change that was not acknowledged: all of it, or nothing. */
  async #settle(change: Change, mayHaveLanded: boolean, why: string): Promise<void> {
    const ids = [...change.after.keys()];
    const found = await this.#read(ids);
    const isShared = change.refusal !== undefined;
    const isAsBefore = ids.every((id) =>
      isShared ? this.won.has(id) || found.get(id) !== this.#number : found.get(id) === this.rows.get(id),
    );
    if (isAsBefore) return;
    const isAsAfter = ids.every((id) => found.get(id) === change.after.get(id));
    if (!isAsAfter || !mayHaveLanded) {
      throw new Error(`${isAsAfter ? "landed" : "landed in part"} after ${why}: ${change.statements.join("; ")}`);
    }
    this.foundLanded += 1;
    this.#apply(change);
  }

  /** Rows by id, as soon as they can be read. */
  async #read(ids: readonly number[]): Promise<Map<number, number>> {
    const began = performance.now();
    for (;;) {
      const outcome = await this.#timed(`SELECT id, n FROM lake.t WHERE id IN (${ids.join(", ") || "NULL"})`);
      if ("rows" in outcome) return new Map(outcome.rows.map(([id, n]) => [Number(id), Number(n)]));
      if ("killed" in outcome) this.#process = await this.#open();
      else this.#count(outcome.error);
      if (performance.now() - began > 2 * statementLimitMs)
        throw new Error(`cannot be read: ${JSON.stringify(outcome)}`);
    }
  }

  #apply({ after }: Change): void {
    for (const [id, n] of after) {
      if (id < sharedIds) this.won.add(id);
      else if (n === undefined) this.rows.delete(id);
      else this.rows.set(id, n);
    }
  }

  #count(error: string): void {
    // A crash, or an assertion, is none of the errors that a statement may end with.
    if (!/^(IO|Transaction|TransactionContext|Catalog|Invalid Input) Error/u.test(error)) throw new Error(error);
    const kind = error.replaceAll(/\d+/gu, "#").replaceAll(/\s+/gu, " ").slice(0, 200);
    this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
  }
}
