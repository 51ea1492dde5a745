import { qualified, LakeModel } from "./lake-model.js";
import { failed, type LakePair, type Outcome, ours, stock } from "./lake-pair.js";
import type { Random } from "./random.js";
import { firstTable, rowStatement, type Statement, statement } from "./statements.js";

/** A difference between the two lakes, with all that led to it. */
class Difference extends Error {
  constructor(what: string, history: readonly string[]) {
    super(`${what}\n\n${history.join(";\n")};`);
    this.name = "Difference";
  }
}

export interface WorkloadResult {
  readonly model: LakeModel;
  readonly history: readonly string[];
  /** Snapshots of our lake that index statements made, which the other one does not have. */
  readonly indexSnapshots: readonly number[];
  /** Statements that an index refused. */
  readonly refused: number;
}

/**
 * Runs random statements on both lakes and compares what each came to. What a unique index must refuse is found out on the
 * stock lake, in a transaction that is looked into before it is committed.
 */
export async function runWorkload(pair: LakePair, random: Random, steps: number): Promise<WorkloadResult> {
  const run = new Run(pair, random);
  await run.step(firstTable(random, run.model));
  for (let i = 1; i < steps; i++) {
    if (random.chance(0.15)) await run.transaction();
    else await run.step(statement(random, run.model));
  }
  return { model: run.model, history: run.history, indexSnapshots: run.indexSnapshots, refused: run.refused };
}

class Run {
  readonly model = new LakeModel();
  readonly history: string[] = [];
  readonly indexSnapshots: number[] = [];
  refused = 0;
  readonly #pair: LakePair;
  readonly #random: Random;

  constructor(pair: LakePair, random: Random) {
    this.#pair = pair;
    this.#random = random;
  }

  async step(made: Statement): Promise<void> {
    this.history.push(made.sql);
    if (made.indexDdl === true) await this.#indexStatement(made);
    else if (made.maintenance === true || made.query === true) await this.#alike(made);
    else if (made.applied === undefined) await this.#change([made.sql]);
    else await this.#alike(made);
  }

  async transaction(): Promise<void> {
    const statements: string[] = [];
    const count = this.#random.between(2, 4);
    for (let i = 0; i < count; i++) statements.push(rowStatement(this.#random, this.model).sql);
    const end = this.#random.chance(0.2) ? "ROLLBACK" : "COMMIT";
    this.history.push("BEGIN", ...statements, end);
    await this.#change(statements, end);
  }

  async #indexStatement(made: Statement): Promise<void> {
    const before = await this.#headOfOurs();
    const duplicates = await this.#wouldBeDuplicate(made);
    const outcome = await this.#pair.run(ours, made.sql);
    if (failed(outcome) !== duplicates) this.#differs(`index statement: ${text(outcome)}`);
    const after = await this.#headOfOurs();
    for (let snapshot = before + 1; snapshot <= after; snapshot++) this.indexSnapshots.push(snapshot);
    if (!failed(outcome)) made.applied?.();
  }

  /** Whether a unique index would find two rows with the same values. */
  async #wouldBeDuplicate(made: Statement): Promise<boolean> {
    const unique = /^CREATE UNIQUE INDEX \S+ ON (\S+)\(([^)]*)\)/u.exec(made.sql);
    if (unique === null) return false;
    return await this.#hasDuplicates(unique[1] ?? "", (unique[2] ?? "").split(", "));
  }

  async #hasDuplicates(table: string, columns: readonly string[]): Promise<boolean> {
    const present = columns.map((column) => `${column} IS NOT NULL`).join(" AND ");
    const list = columns.join(", ");
    const sql = `SELECT count(*) FROM (SELECT 1 FROM ${table} WHERE ${present} GROUP BY ${list} HAVING count(*) > 1)`;
    return (await this.#pair.number(sql.replaceAll("{lake}", stock))) > 0;
  }

  async #duplicatesNow(): Promise<boolean> {
    for (const table of this.model.tables) {
      for (const { unique, columns } of table.indexes) {
        if (unique && (await this.#hasDuplicates(qualified(table), columns))) return true;
      }
    }
    return false;
  }

  async #alike(made: Statement): Promise<void> {
    const [left, right] = [await this.#pair.run(ours, made.sql), await this.#pair.run(stock, made.sql)];
    if (made.query === true || failed(left) || failed(right)) this.#compare(left, right);
    if (!failed(right)) made.applied?.();
  }

  /** Changes rows on both lakes, unless an index must refuse it. */
  async #change(statements: readonly string[], end = "COMMIT"): Promise<void> {
    const pair = this.#pair;
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
      this.refused += 1;
      if (!failed(outcome)) this.#differs("a duplicate was let in");
      if (!outcome.error.includes("claims a value")) this.#differs(`refused otherwise: ${outcome.error}`);
      if (performance.now() - began > 5000) this.#differs("the refusal was repeated");
      return;
    }
    if (failed(expected) || failed(outcome)) this.#compare(outcome, expected);
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

  async #headOfOurs(): Promise<number> {
    return await this.#pair.number(`SELECT max(snapshot_id) FROM ducklake_snapshots('${ours}')`);
  }

  #differs(what: string): never {
    throw new Difference(what, this.history);
  }
}

function text(outcome: Outcome): string {
  return failed(outcome) ? outcome.error : `${outcome.rows.length} rows`;
}
