import { qualified, LakeModel } from "./lake-model.js";
import { failed, type LakePair, type Outcome, ours, stock } from "./lake-pair.js";
import type { Random } from "./random.js";
import type { Made } from "./statement.js";
import { firstTable, statement, statementInTransaction } from "./statements.js";

/** A difference between the two lakes, with all that led to it. */
class Difference extends Error {
  constructor(what: string, history: readonly string[]) {
    super(`${what}\n\n${history.join(";\n")};`);
    this.name = "Difference";
  }
}

/** What a workload may come to beside its kinds of statements. */
export const otherKinds = [
  "committed transaction",
  "transaction that was rolled back",
  "transaction with a message",
  "transaction that changes tables",
  "statement that an index refuses",
  "transaction that an index refuses",
  "index over duplicates",
] as const;

const mergingKinds: readonly string[] = [
  "merge of adjacent files",
  "rewrite of files",
  "upkeep of a table",
  "checkpoint",
];

export interface WorkloadResult {
  readonly model: LakeModel;
  readonly history: readonly string[];
  /** Snapshots of our lake that index statements made, which the other one does not have. */
  readonly indexSnapshots: readonly number[];
  /** Kinds of statements that came to what they are for, and `otherKinds`. */
  readonly reached: ReadonlySet<string>;
  /** Files were merged on one lake only, where the workload ended: their metadata and row ids may differ. */
  readonly apart: boolean;
}

/**
 * Runs random statements on both lakes and compares what each came to. What a unique index must refuse is found out on the
 * stock lake, in a transaction that is looked into before it is committed. `isForTheSeldom`: with more of the kinds of statements that
 * come seldom.
 */
export async function runWorkload(
  pair: LakePair,
  random: Random,
  steps: number,
  isForTheSeldom = false,
): Promise<WorkloadResult> {
  const run = new Run(pair, random);
  await run.step(firstTable(random, run.model));
  for (let i = 1; i < steps && !run.apart; i++) {
    if (random.chance(0.15)) await run.transaction();
    else await run.step(statement(random, run.model, isForTheSeldom));
  }
  const { model, history, indexSnapshots, reached, apart } = run;
  return { model, history, indexSnapshots, reached, apart };
}

class Run {
  readonly model = new LakeModel();
  readonly history: string[] = [];
  readonly indexSnapshots: number[] = [];
  readonly reached = new Set<string>();
  apart = false;
  readonly #pair: LakePair;
  readonly #random: Random;
  /** Snapshots at which both lakes held the same: numbers of ours and of the other one. */
  #sameAt: (readonly [number, number])[] = [];

  constructor(pair: LakePair, random: Random) {
    this.#pair = pair;
    this.#random = random;
  }

  async step(made: Made): Promise<void> {
    const isExpiry = made.kind === "expiry of snapshots";
    // It would leave our lake a snapshot that the other one does not have, and no other.
    if (isExpiry && this.indexSnapshots.includes(await this.#head(ours))) return;
    if (made.before !== undefined) await this.#prepare(made.before);
    this.history.push(made.sql);
    const how = made.how ?? "rows";
    if (how === "index") await this.#indexStatement(made);
    else if (how === "refused") await this.#refused(made);
    else if (how === "rows") await this.#changeRows([made]);
    else await this.#alike(made, how === "query");
    if (isExpiry) this.#sameAt = [];
    if (this.#random.chance(0.2)) await this.#rememberSnapshots();
  }

  async transaction(): Promise<void> {
    const before = this.model.copy();
    const statements: Made[] = [];
    const count = this.#random.between(2, 4);
    for (let i = 0; i < count; i++) {
      const made = statementInTransaction(this.#random, this.model);
      made.applied?.();
      statements.push(made);
      // DuckLake breaks, and DuckDB with it, where rows are changed before and after: "Missing stats when merging inlined data".
      if (i > 0 && made.kind.startsWith("add column")) break;
    }
    if (this.#random.chance(0.3)) {
      const sql = `CALL {lake}.set_commit_message('somebody', 'message ${this.model.serial()}')`;
      statements.splice(this.#random.below(statements.length), 0, { sql, kind: "transaction with a message" });
    }
    const end = this.#random.chance(0.2) ? "ROLLBACK" : "COMMIT";
    for (const { before: preparation } of statements) {
      if (preparation !== undefined) await this.#prepare(preparation);
    }
    this.history.push("BEGIN", ...statements.map(({ sql }) => sql), end);
    const isDone = await this.#changeRows(statements, end);
    if (!isDone || end === "ROLLBACK") this.model.restore(before);
    if (!isDone) return;
    this.reached.add(end === "COMMIT" ? "committed transaction" : "transaction that was rolled back");
    if (statements.some(({ how }) => how === "alike")) this.reached.add("transaction that changes tables");
  }

  async #prepare(sql: string): Promise<void> {
    this.history.push(sql);
    for (const lake of [ours, stock]) {
      const outcome = await this.#pair.run(lake, sql);
      if (failed(outcome)) this.#differs(`preparation: ${outcome.error}`);
    }
  }

  async #indexStatement(made: Made): Promise<void> {
    const before = await this.#head(ours);
    const duplicates = await this.#wouldBeDuplicate(made);
    const outcome = await this.#pair.run(ours, made.sql);
    if (failed(outcome) && outcome.error.includes("share the row id") && (await this.#sharesRowIds(ours))) return;
    if (failed(outcome) !== duplicates) this.#differs(`index statement: ${text(outcome)}`);
    const after = await this.#head(ours);
    for (let snapshot = before + 1; snapshot <= after; snapshot++) this.indexSnapshots.push(snapshot);
    if (!failed(outcome)) made.applied?.();
    this.reached.add(duplicates ? "index over duplicates" : made.kind);
  }

  async #refused(made: Made): Promise<void> {
    const outcome = await this.#pair.run(ours, made.sql);
    if (!failed(outcome) || !outcome.error.includes(made.refusal ?? "")) this.#differs(`refusal: ${text(outcome)}`);
    this.reached.add(made.kind);
  }

  /** Whether a unique index would find two rows with the same values. */
  async #wouldBeDuplicate(made: Made): Promise<boolean> {
    const unique = /^CREATE UNIQUE INDEX \S+ ON (\S+)\(([^)]*)\)/u.exec(made.sql);
    if (unique === null) return false;
    return await this.#hasDuplicates(unique[1] ?? "", (unique[2] ?? "").split(", "));
  }

  async #hasDuplicates(table: string, columns: readonly string[]): Promise<boolean> {
    const list = columns.join(", ");
    const sql = `SELECT ${list} FROM ${table} GROUP BY ${list} HAVING count(*) > 1`;
    const result = await this.#pair.connection.runAndReadAll(this.#pair.textFor(stock, sql));
    // NULLs are told apart here, as DuckLake takes a column that a file lacks to have none.
    return result.getRows().some((row) => !row.includes(null));
  }

  async #duplicatesNow(): Promise<boolean> {
    for (const table of this.model.tables) {
      for (const { unique, columns } of table.indexes) {
        if (unique && (await this.#hasDuplicates(qualified(table), columns))) return true;
      }
    }
    return false;
  }

  async #alike(made: Made, isQuery: boolean): Promise<void> {
    const isOfEarlier = made.sql.includes("{version}");
    const [before, after] = isOfEarlier ? await this.#twoSnapshots() : [];
    if (isOfEarlier && after === undefined) return;
    const at = (side: 0 | 1): string =>
      made.sql.replaceAll("{since}", `${before?.[side]}`).replaceAll("{version}", `${after?.[side]}`);
    if (before !== undefined) this.history.splice(-1, 1, at(0));
    const [left, right] = [await this.#pair.run(ours, at(0)), await this.#pair.run(stock, at(1))];
    const isRefused = failed(left) && /a row the id|not the same ones/u.test(left.error);
    if (isRefused && !failed(right) && mergingKinds.includes(made.kind) && (await this.#sharesRowIds(stock))) {
      this.apart = true;
      return;
    }
    if (isQuery || failed(left) || failed(right)) this.#compare(left, right);
    if (failed(right)) return;
    made.applied?.();
    this.reached.add(made.kind);
    if (mergingKinds.includes(made.kind)) this.apart = await this.#hasMergedApart();
  }

  /** Whether DuckLake has given rows of one table the same id, by a merge: an index over them is refused. */
  async #sharesRowIds(lake: string): Promise<boolean> {
    for (const table of this.model.tables) {
      const rows = `FROM ${qualified(table)} WHERE rowid < 1000000000000000000`;
      const shared = `SELECT count(*) - count(DISTINCT rowid) ${rows}`;
      if ((await this.#pair.number(this.#pair.textFor(lake, shared))) > 0) return true;
    }
    return false;
  }

  /** DuckLake merges no files of before and after a change of a table's schema, which making an index is, and that on our lake alone. */
  async #hasMergedApart(): Promise<boolean> {
    if (this.indexSnapshots.length === 0) return false;
    const filesOf = (lake: string): Promise<string[]> =>
      this.#pair.rows(`SELECT table_id, count(*) FROM __ducklake_metadata_${lake}.ducklake_data_file GROUP BY ALL`);
    const counts = async (lake: string): Promise<string> =>
      (await filesOf(lake))
        .map((row) => row.split("|")[1] ?? "")
        .toSorted()
        .join();
    return (await counts(ours)) !== (await counts(stock));
  }

  async #rememberSnapshots(): Promise<void> {
    // A snapshot that an index made has no change of rows, and the other lake has none for it.
    const made = this.indexSnapshots.length === 0 ? "" : ` WHERE snapshot_id NOT IN (${this.indexSnapshots.join()})`;
    const sql = `SELECT coalesce(max(snapshot_id), -1) FROM __ducklake_metadata_${ours}.ducklake_snapshot${made}`;
    const snapshot = await this.#pair.number(sql);
    if (snapshot >= 0) this.#sameAt.push([snapshot, await this.#head(stock)]);
  }

  /** Two snapshots of each lake, the later one last. */
  async #twoSnapshots(): Promise<(readonly [number, number])[]> {
    if (this.#sameAt.length === 0) await this.#rememberSnapshots();
    const places = [0, 0].map(() => this.#random.below(this.#sameAt.length)).toSorted((a, b) => a - b);
    return places.flatMap((place) => this.#sameAt.slice(place, place + 1));
  }

  /** Changes rows, and in transactions tables, on both lakes, unless an index must refuse it. Gives whether it was done. */
  async #changeRows(made: readonly Made[], end = "COMMIT"): Promise<boolean> {
    const pair = this.#pair;
    const statements = made.map(({ sql }) => sql);
    const expected = await this.#all(stock, statements);
    const duplicates = !failed(expected) && end === "COMMIT" && (await this.#duplicatesNow());
    const rollback = failed(expected) || duplicates || end === "ROLLBACK";
    const ended = await pair.run(stock, rollback ? "ROLLBACK" : "COMMIT");
    if (failed(ended)) this.#differs(`the stock lake: ${ended.error}`);

    const single = statements.length === 1 && end === "COMMIT";
    const began = performance.now();
    let outcome = single ? await pair.run(ours, statements[0] ?? "") : await this.#all(ours, statements);
    if (!single) {
      const last = await pair.run(ours, failed(outcome) ? "ROLLBACK" : end);
      if (failed(last)) outcome = last;
    }
    if (duplicates) {
      this.reached.add(`${single ? "statement" : "transaction"} that an index refuses`);
      if (!failed(outcome)) this.#differs("a duplicate was let in");
      if (!outcome.error.includes("claims a value")) this.#differs(`refused otherwise: ${outcome.error}`);
      if (performance.now() - began > 5000) this.#differs("the refusal was repeated");
      return false;
    }
    if (failed(expected) || failed(outcome)) {
      this.#compare(outcome, expected);
      return false;
    }
    if (end === "COMMIT") for (const { kind } of made) this.reached.add(kind);
    return true;
  }

  /** Runs statements in a transaction that is left open. */
  async #all(lake: string, statements: readonly string[]): Promise<Outcome> {
    let outcome = await this.#pair.run(lake, "BEGIN");
    for (const sql of statements) {
      if (failed(outcome)) return outcome;
      outcome = await this.#pair.run(lake, sql);
    }
    return outcome;
  }

  #compare(left: Outcome, right: Outcome): void {
    if (failed(left) || failed(right)) {
      const same = failed(left) && failed(right) && left.errorClass === right.errorClass;
      if (!same) this.#differs(`ours: ${text(left)}\nstock: ${text(right)}`);
    } else if (left.rows.join("\n") !== right.rows.join("\n")) {
      this.#differs(`ours:\n${left.rows.join("\n")}\nstock:\n${right.rows.join("\n")}`);
    }
  }

  async #head(lake: string): Promise<number> {
    return await this.#pair.number(`SELECT max(snapshot_id) FROM __ducklake_metadata_${lake}.ducklake_snapshot`);
  }

  #differs(what: string): never {
    throw new Difference(what, this.history);
  }
}

function text(outcome: Outcome): string {
  return failed(outcome) ? outcome.error : `${outcome.rows.length} rows`;
}
