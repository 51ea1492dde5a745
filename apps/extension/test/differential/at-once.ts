import { failed, type LakePair, type Outcome, ours, stock } from "./lake-pair.js";
import { outcomeIn, type ProcessPair } from "./process-pair.js";
import type { Random } from "./random.js";

/** Keys of the shared table, few enough that the two processes meet. */
const sharedKeys = 25;
const attempts = 20;

/** A transaction of one process, by the message that its snapshot carries. */
interface Sent {
  readonly statements: readonly string[];
  readonly outcome: Outcome;
}

/**
 * Has two processes write at once: each to a table of its own, and both to `shared(k, v)` with a unique index on `k`. Then does on
 * the stock lake what landed, in the order of our snapshots, and gives what differs.
 *
 * Only keys decide what a statement on the shared table does, so that no order of commits comes to something that a serial one does
 * not come to.
 */
export async function writeAtOnce(pair: ProcessPair, random: Random, transactions: number): Promise<string[]> {
  for (const lake of [ours, stock]) {
    await pair.connection.run(`CREATE TABLE ${lake}.shared(k BIGINT, v VARCHAR)`);
    for (const at of pair.writers.keys())
      await pair.connection.run(`CREATE TABLE ${lake}.own${at}(a BIGINT, b VARCHAR)`);
  }
  await pair.connection.run(`CREATE UNIQUE INDEX u ON ${ours}.shared(k)`);
  await pair.connection.run(`CREATE INDEX v ON ${ours}.shared(v)`);
  for (const at of pair.writers.keys()) await pair.connection.run(`CREATE INDEX o${at} ON ${ours}.own${at}(a)`);

  const plans = [...pair.writers.keys()].map((at) =>
    Array.from({ length: transactions }, () => transaction(random, at)),
  );
  const sent = new Map<string, Sent>();
  await Promise.all(pair.writers.map((_, at) => writeAll(pair, at, plans[at] ?? [], sent)));
  return await compare(pair, sent);
}

function transaction(random: Random, at: number): string[] {
  const own = `{lake}.own${at}`;
  const key = (): number => random.below(sharedKeys);
  const few = random.between(1, 3);
  const many = random.between(12, 40);
  const from = random.below(1000);
  const inserted = `INSERT INTO {lake}.shared VALUES (${key()}, 'by ${at}')`;
  const shared = random.pick([
    `INSERT INTO {lake}.shared SELECT ${100 * at} + i, 'many' FROM range(${1000 + from}, ${1000 + from + many}) r(i)`,
    `UPDATE {lake}.shared SET v = v || '${at}' WHERE k = ${key()}`,
    `DELETE FROM {lake}.shared WHERE k = ${key()}`,
  ]);
  const ownChange = random.pick([
    `INSERT INTO ${own} SELECT i, 'few' FROM range(${from}, ${from + few}) r(i)`,
    `INSERT INTO ${own} SELECT i, 'many' FROM range(${from}, ${from + many}) r(i)`,
    `UPDATE ${own} SET a = a + 1000 WHERE a % 7 = ${random.below(7)}`,
    `DELETE FROM ${own} WHERE a % 11 = ${random.below(11)}`,
  ]);
  // What finds no row stands alone, so that it makes no snapshot: with a change beside it, it could land behind the row.
  return random.weighted([
    [3, [inserted]],
    [3, [shared]],
    [3, [ownChange]],
    [2, [inserted, ownChange]],
  ]);
}

/** Runs the transactions of one process; one that loses to the other process is repeated. */
async function writeAll(
  pair: ProcessPair,
  at: number,
  plan: readonly string[][],
  sent: Map<string, Sent>,
): Promise<void> {
  const writer = pair.writers[at];
  const run = (sql: string): Promise<Outcome> => outcomeIn(writer, sql.replaceAll("{lake}", ours));
  for (const [number, statements] of plan.entries()) {
    for (let attempt = 1; ; attempt++) {
      const message = `${at}-${number}-${attempt}`;
      let outcome = await run("BEGIN");
      for (const sql of [`CALL {lake}.set_commit_message('writer ${at}', '${message}')`, ...statements, "COMMIT"]) {
        outcome = await run(sql);
        if (!failed(outcome)) continue;
        if (sql !== "COMMIT") await run("ROLLBACK");
        break;
      }
      sent.set(message, { statements, outcome });
      if (!failed(outcome) || !/conflict/iu.test(outcome.error)) break;
      if (attempt === attempts) throw new Error(`lost ${attempts} times: ${statements.join("; ")}: ${outcome.error}`);
    }
  }
}

async function compare(pair: LakePair, sent: ReadonlyMap<string, Sent>): Promise<string[]> {
  const differences: string[] = [];
  const landed = await pair.rows(
    `SELECT commit_message FROM ducklake_snapshots('${ours}') WHERE commit_message LIKE '%-%-%' ORDER BY snapshot_id`,
  );
  for (const [message, { outcome, statements }] of sent) {
    if (!failed(outcome)) continue;
    if (landed.includes(message)) differences.push(`${message} landed although it failed: ${outcome.error}`);
    // What is no lost race is a refusal by the unique index, which somebody's row must be the cause of.
    if (!/conflict|claims a value/iu.test(outcome.error))
      differences.push(`${statements.join("; ")}: ${outcome.error}`);
  }
  for (const message of landed) {
    for (const sql of sent.get(message)?.statements ?? []) {
      const replayed = await pair.run(stock, sql);
      if (failed(replayed)) differences.push(`serially: ${sql}: ${replayed.error}`);
    }
  }
  for (const table of ["shared", "own0", "own1"]) {
    const [left, right] = [await contents(pair, ours, table), await contents(pair, stock, table)];
    if (left.join("\n") !== right.join("\n"))
      differences.push(`${table}:\n${left.join("\n")}\nserially:\n${right.join("\n")}`);
  }
  const duplicates = await pair.rows(`SELECT k FROM ${ours}.shared GROUP BY k HAVING count(*) > 1`);
  if (duplicates.length > 0) differences.push(`duplicates: ${duplicates.join()}`);
  return differences;
}

async function contents(pair: LakePair, lake: string, table: string): Promise<string[]> {
  return await pair.rows(`SELECT * FROM ${lake}.${table} ORDER BY ALL`);
}
