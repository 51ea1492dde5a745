import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { isRunning, readHolder } from "@moraine/runtime";
import { expect } from "vitest";
import { literal } from "../../src/duckdb/sql-text.js";
import { servicePlace } from "../../src/service/place.js";
import { Random } from "../differential/random.js";
import { stopServices } from "../../../../packages/duckdb-ext/test/services.js";
import { SqlProcess } from "../support/sql-process.js";
import { sharedIds, statementLimitMs, Writer } from "./writer.js";

/** A lake in a folder of its own, with a table `t` that several processes write to at once. */
export class LakeOfWriters {
  readonly folder = mkdtempSync(join(tmpdir(), "moraine-faults-"));
  readonly writers: Writer[] = [];
  readonly #random: Random;
  readonly #processes: SqlProcess[] = [];
  #isEnding = false;
  #failure: Error | undefined;

  constructor(seed: number) {
    this.#random = new Random(seed);
    process.env["MORAINE_RUNTIME_DIR"] = join(this.folder, "run");
  }

  /** Makes the table, and opens the processes of that many writers. */
  async open(writers: number): Promise<void> {
    const first = await this.openProcess();
    await first.rows("CREATE TABLE lake.t(id BIGINT, n BIGINT, note VARCHAR)");
    await first.rows("CREATE UNIQUE INDEX u ON lake.t(id)");
    await first.rows("CREATE INDEX p ON lake.t(n)");
    const processes = [first, ...(await Promise.all(Array.from({ length: writers - 1 }, () => this.openProcess())))];
    for (const [number, opened] of processes.entries()) {
      this.writers.push(new Writer(number, opened, () => this.openProcess(), new Random(this.#random.below(2 ** 31))));
    }
  }

  async openProcess(): Promise<SqlProcess> {
    const [store, data] = [join(this.folder, "store"), `${join(this.folder, "data")}/`];
    const attach = `ATTACH ${literal(`ducklake:moraine:${store}`)} AS lake (DATA_PATH ${literal(data)})`;
    const opened = await SqlProcess.open([attach]);
    this.#processes.push(opened);
    return opened;
  }

  get acknowledged(): number {
    return this.writers.reduce((sum, { acknowledged }) => sum + acknowledged, 0);
  }

  /** Has every writer write until `meanwhile` has ended. */
  async during(meanwhile: () => Promise<void>): Promise<void> {
    const writing = this.writers.map((writer) => this.#write(writer));
    try {
      await meanwhile();
    } finally {
      this.#isEnding = true;
      await Promise.all(writing);
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  /** Waits until so many more changes were acknowledged, and then for a time of its own. Fails where that takes too long. */
  async progress(changes: number, mostMs: number): Promise<void> {
    const before = this.acknowledged;
    const began = performance.now();
    while (this.acknowledged < before + changes) {
      if (this.#failure !== undefined) throw this.#failure;
      if (performance.now() - began > 2 * statementLimitMs) throw new Error("nothing is acknowledged any more");
      await wait(5);
    }
    await wait(this.#random.below(mostMs));
  }

  /** The process that serves the lake, as soon as there is one. */
  async service(): Promise<number> {
    const { lock } = servicePlace(join(this.folder, "store"));
    for (;;) {
      const holder = readHolder(lock);
      if (holder !== undefined && isRunning(holder)) return holder.pid;
      await wait(5);
    }
  }

  /** Compares the lake, read by a DuckDB that has just attached it, with what was acknowledged, and its indexes with its rows. */
  async check(): Promise<void> {
    const reader = await this.openProcess();
    const stored = await reader.rows("SELECT id, n FROM lake.t ORDER BY id");
    const own = this.writers.flatMap(({ rows }) => [...rows]).toSorted(([a], [b]) => a - b);
    const isOwn = ([id]: readonly string[]): boolean => Number(id) >= sharedIds;
    expect(stored.filter(isOwn)).toEqual(own.map(([id, n]) => [String(id), String(n)]));
    const winners = this.writers.flatMap(({ won }, number) => [...won].map((id) => [String(id), String(number)]));
    expect(stored.filter((row) => !isOwn(row))).toEqual(winners.toSorted(([a], [b]) => Number(a) - Number(b)));

    const ids = await reader.column("SELECT rowid FROM lake.t ORDER BY id");
    const index = (call: string): Promise<string[]> =>
      reader.column(`SELECT row_id FROM moraine_index_${call} ORDER BY row_id`);
    const sorted = ids.toSorted((a, b) => Number(a) - Number(b));
    expect(await index("range('lake', 'main', 't', 'u', NULL, NULL, true, true)")).toEqual(sorted);
    expect(await index("range('lake', 'main', 't', 'p', NULL, NULL, true, true)")).toEqual(sorted);
    await reader.rows("SET VARIABLE keys = (SELECT list(id) FROM lake.t)");
    expect(await index("in('lake', 'main', 't', 'u', getvariable('keys'))")).toEqual(sorted);
    expect(await index("in('lake', 'main', 't', 'u', [-1])")).toEqual([]);
  }

  /** What was counted, in one line. */
  summary(): string {
    const errors = new Map<string, number>();
    for (const writer of this.writers) {
      for (const [kind, count] of writer.errors) errors.set(kind, (errors.get(kind) ?? 0) + count);
    }
    const sum = (of: (writer: Writer) => number): number =>
      this.writers.reduce((total, writer) => total + of(writer), 0);
    const slowestMs = Math.max(...this.#processes.map((opened) => opened.slowestMs));
    return (
      `${this.acknowledged} acknowledged, ${sum(({ refused }) => refused)} refused, ` +
      `${sum(({ foundLanded }) => foundLanded)} landed unanswered, slowest ${Math.round(slowestMs)} ms, ` +
      `errors ${JSON.stringify(Object.fromEntries(errors))}`
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#processes.map((opened) => opened.kill()));
    await stopServices(this.folder);
    rmSync(this.folder, { recursive: true, force: true });
  }

  async #write(writer: Writer): Promise<void> {
    try {
      while (!this.#isEnding && this.#failure === undefined) await writer.step();
    } catch (error) {
      this.#failure = error instanceof Error ? error : new Error(String(error));
    }
  }
}
