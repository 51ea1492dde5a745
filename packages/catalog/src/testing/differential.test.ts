import { type ColumnId, ConstraintError, indexPrefix, prefixEnd, type SchemaId, type TableId } from "@moraine/codec";
import {
  DataStoreSet,
  dropMemoryDataStore,
  openDataStore,
  openStore,
  rowKey,
  rowValue,
  type WritableStore,
} from "@moraine/store";
import { describe, expect, it } from "vitest";
import { Catalog, type CommitClosure } from "../catalog.js";
import { ConnectedCatalog } from "../connected/connected-catalog.js";
import type { FileEntries, FileIndexRemoval, FileRemovals } from "../operations.js";
import type { Transaction } from "../transaction.js";
import {
  type ModelFile,
  type ModelIndex,
  type ModelRow,
  type ModelTable,
  emptyTable,
  expectedEntries,
} from "./lake-model.js";
import { LoopbackLink } from "./loopback-link.js";
import { type FileColumn, dataFileBytes, deleteFileBytes } from "./parquet-files.js";
import { Random } from "./random.js";
import { toHex } from "./records.js";

/** Sequences of one run; the long form and a single seed are chosen by environment variables. */
const sequences = Number(process.env["MORAINE_SEQUENCES"] ?? 2000);
const firstSeed = Number(process.env["MORAINE_SEED"] ?? 1);
const stepsPerSequence = 8;
const sequencesPerTest = 50;
/** Of the sequences, how many run through connected handles as well. */
const connectedPart = 0.1;

const columnTypes = [
  "BIGINT",
  "VARCHAR",
  "DOUBLE",
  "DATE",
  "DECIMAL(10,2)",
  "UUID",
  "UINTEGER",
  "BOOLEAN",
  "BLOB",
  "TIMESTAMP",
] as const;

/** Which handle of the lake makes the commits: the one that has it open, or two in turn that are connected to it. */
type Access = "opened" | "connected";

describe("index entries against live rows", () => {
  const testsOf = (access: Access, part: number): [access: Access, seed: number][] =>
    Array.from({ length: Math.ceil((sequences * part) / sequencesPerTest) }, (_, i) => [
      access,
      firstSeed + i * sequencesPerTest,
    ]);
  it.each([...testsOf("opened", 1), ...testsOf("connected", connectedPart)])(
    "%s: random sequences from seed %i",
    async (access, seed) => {
      const last = Math.min(seed + sequencesPerTest, firstSeed + sequences);
      // The sequences of a test share a lake, each with a table of its own: opening one costs more than a sequence.
      const lake = await Lake.open(seed, access);
      let done = 0;
      try {
        for (let current = seed; current < last; current++) {
          const sequence = await Sequence.open(lake, current);
          try {
            for (let step = 0; step < stepsPerSequence; step++) await sequence.step();
          } catch (error) {
            const again = `run again with MORAINE_SEED=${current} MORAINE_SEQUENCES=1`;
            throw new Error(`seed ${current}, after: ${sequence.log.join("; ")} (${again})`, { cause: error });
          }
          done += 1;
        }
      } finally {
        await lake.close();
      }
      expect(done).toBe(last - seed);
    },
  );
});

/** A verb of a commit with its effect on the model. Applied to a model, it gives the next; a model that breaks a rule is refused later. */
interface Move {
  readonly name: string;
  readonly stage: CommitClosure<(model: ModelTable) => ModelTable>;
}

interface InsertMove extends Move {
  readonly stage: (tx: Transaction) => (model: ModelTable) => ModelTable;
  readonly rowCount: number;
}

/** One commit of a race: what became of it, and what it did to the model and was to make when its closure last ran. */
interface Contender {
  readonly move: InsertMove;
  readonly outcome: "landed" | "refused";
  readonly effect: (model: ModelTable) => ModelTable;
  readonly snapshotId: bigint;
}

class Sequence {
  readonly log: string[] = [];
  readonly #random: Random;
  readonly #lake: Lake;
  readonly #seed: number;
  readonly #columns: readonly FileColumn[];
  readonly #table: TableId;
  #model: ModelTable = emptyTable;
  #names = 0;
  /** This commit was given entries or removals: rows of files can then not be deleted one by one in it. */
  #supplied = false;

  private constructor(lake: Lake, seed: number, table: TableId, columns: readonly FileColumn[], random: Random) {
    this.#lake = lake;
    this.#seed = seed;
    this.#table = table;
    this.#columns = columns;
    this.#random = random;
  }

  static async open(lake: Lake, seed: number): Promise<Sequence> {
    const random = new Random(seed);
    const types = Array.from({ length: 3 }, () => random.pick(columnTypes));
    const { value } = await lake.catalog.commit((tx) => {
      const table = tx.createTable({
        schema: 0n as SchemaId,
        name: `t${seed}`,
        columns: types.map((columnType, i) => ({ name: `c${i}`, columnType })),
      });
      return {
        table,
        columns: tx.columnsOf(table).map(({ id, name, columnType }) => ({ fieldId: id, name, columnType })),
      };
    });
    return new Sequence(lake, seed, value.table, value.columns, random);
  }

  /** One step: a commit of one to three verbs, or something around commits. Afterwards entries and rows must agree. */
  async step(): Promise<void> {
    const kind = this.#random.below(20);
    if (kind === 0) await this.#reopen();
    else if (kind === 1) await this.#flush();
    else if (kind === 2) await this.#maintain();
    else if (kind === 3) await this.#abandon();
    else if (kind <= 5) await this.#race();
    else await this.#commit();
    await this.#check();
  }

  async #commit(): Promise<void> {
    const moves: Move[] = [];
    let model = this.#model;
    const verbs = 1 + this.#random.below(3);
    const outcome = await attempt(async () => {
      await this.#lake.catalog.commit(async (tx) => {
        moves.length = 0;
        this.#supplied = false;
        model = this.#model;
        for (let i = 0; i < verbs; i++) {
          const move = await this.#move(model);
          moves.push(move);
          model = (await move.stage(tx))(model);
        }
      });
    });
    this.log.push(`commit(${moves.map(({ name }) => name).join(", ")}) ${outcome}`);
    expect(outcome).toBe(expectedEntries(model) === undefined ? "refused" : "landed");
    if (outcome === "landed") this.#model = model;
  }

  /**
   * Commits that start together: each one lands whole or not at all. The snapshot that its closure was to make when it ran
   * last says on which state it was decided. So the model can follow, and knows of each one whether it had to land: it had to
   * unless a row of that state, or another one of its own, holds one of its values.
   */
  async #race(): Promise<void> {
    const rows = this.#rows(3);
    const moves = Array.from({ length: 2 + this.#random.below(4) }, () =>
      // Some bring rows that others bring as well, and not all give their turn away.
      this.#random.chance(0.5) ? this.#insertMove([this.#random.pick(rows), ...this.#rows(1)]) : this.#insertMove(),
    );
    const waits = moves.map(() => this.#random.below(3));
    const contenders = await Promise.all(
      moves.map(async (move, at): Promise<Contender> => {
        let effect: Contender["effect"] = (model) => model;
        let snapshotId = 0n;
        const run: CommitClosure<void> = (tx) => {
          effect = move.stage(tx);
          ({ snapshotId } = tx);
        };
        const runLater: CommitClosure<void> = async (tx) => {
          for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate);
          await run(tx);
        };
        const outcome = await attempt(async () => {
          const result = await this.#lake.catalog.commit(waits[at] === 0 ? runLater : run);
          expect(result.snapshotId).toBe(snapshotId);
        });
        // Whoever is told finds what it was decided on, and its own commit if that landed.
        const head = (await this.#lake.catalog.snapshot()).snapshotId;
        expect(head).toBeGreaterThanOrEqual(outcome === "landed" ? snapshotId : snapshotId - 1n);
        return { move, outcome, effect, snapshotId };
      }),
    );
    // Those that were refused on a state come before the one that landed on it.
    const landedLast = ({ outcome }: Contender): number => (outcome === "landed" ? 1 : 0);
    contenders.sort((a, b) => ascending(a.snapshotId, b.snapshotId) || landedLast(a) - landedLast(b));
    this.log.push(`race(${contenders.map(({ move, outcome }) => `${move.name} ${outcome}`).join(", ")})`);
    const landed = contenders.filter(({ outcome }) => outcome === "landed").map(({ snapshotId }) => snapshotId);
    expect(new Set(landed).size).toBe(landed.length);
    for (const { move, outcome, effect } of contenders) {
      const next = effect(this.#model);
      // Its closure ran on just this state, so none of the row ids that it got has been given out.
      expect(next.rows.size).toBe(this.#model.rows.size + move.rowCount);
      expect(outcome).toBe(expectedEntries(next) === undefined ? "refused" : "landed");
      if (outcome === "landed") this.#model = next;
    }
  }

  async #reopen(): Promise<void> {
    this.log.push("reopen");
    await this.#lake.reopen();
  }

  async #flush(): Promise<void> {
    const { dataFileIds, rowCount } = await this.#lake.catalog.flushInlined({ table: this.#table });
    this.log.push(`flush(${rowCount})`);
    expect(rowCount).toBe(this.#model.inline.size);
    const rowIds = [...this.#model.inline].sort(ascending);
    const snapshot = await this.#lake.catalog.snapshot();
    const flushed = dataFileIds.map((id) => snapshot.dataFilesOf(this.#table).find((file) => file.id === id)!);
    const files = [...this.#model.files];
    let taken = 0;
    for (const file of flushed) {
      files.push({
        dataFileId: file.id,
        path: file.path,
        rowIds: rowIds.slice(taken, taken + Number(file.recordCount)),
        dead: new Set(),
        deleteFileId: undefined,
      });
      taken += Number(file.recordCount);
    }
    this.#model = { ...this.#model, inline: new Set(), files };
  }

  async #maintain(): Promise<void> {
    this.log.push("maintain");
    await this.#lake.catalog.maintain({ batchSize: 3 });
  }

  async #abandon(): Promise<void> {
    this.log.push("abandon");
    const move = await this.#move(this.#model);
    const failure = new Error("the closure gave up");
    const commit = this.#lake.catalog.commit(async (tx) => {
      await move.stage(tx);
      throw failure;
    });
    await expect(commit).rejects.toBe(failure);
  }

  async #move(model: ModelTable): Promise<Move> {
    const alive = model.files.filter((file) => file.dead.size < file.rowIds.length);
    const choices: (() => Move | Promise<Move>)[] = [
      () => this.#insertMove(),
      () => this.#insertMove(),
      () => this.#fileMove(model),
    ];
    if (model.inline.size > 0)
      choices.push(
        () => this.#deleteInlineMove(model),
        () => this.#deleteInlineMove(model),
      );
    if (alive.length > 0 && !this.#supplied) choices.push(() => this.#deleteRowInFileMove(this.#random.pick(alive)));
    if (alive.length > 0)
      choices.push(
        () => this.#deleteFileMove(model, this.#random.pick(alive)),
        () => this.#expireMove(model, this.#random.pick(alive)),
      );
    if (model.indexes.length < 4)
      choices.push(
        () => this.#createIndexMove(model),
        () => this.#createIndexMove(model),
      );
    if (model.indexes.length > 0) choices.push(() => this.#dropIndexMove(model));
    return await this.#random.pick(choices)();
  }

  #insertMove(values = this.#rows(1 + this.#random.below(4))): InsertMove {
    return {
      name: `insert ${values.length}`,
      rowCount: values.length,
      stage: (tx) => {
        const first = tx.inlineInsert({ table: this.#table, rows: values.map((row) => this.#byName(row)) });
        return (model) => {
          const rows = withIds(values, first);
          return {
            ...model,
            rows: added(model.rows, rows),
            inline: new Set([...model.inline, ...rows.map(({ rowId }) => rowId)]),
          };
        };
      },
    };
  }

  #deleteInlineMove(model: ModelTable): Move {
    const rowId = this.#random.pick([...model.inline]);
    return {
      name: `delete inline ${rowId}`,
      stage: (tx) => {
        tx.inlineDelete({ table: this.#table, rowId });
        return (current) => ({
          ...current,
          rows: without(current.rows, [rowId]),
          inline: new Set([...current.inline].filter((id) => id !== rowId)),
        });
      },
    };
  }

  /** A row of a file, by its id. A file that this commit adds is not there yet for such a delete. */
  #deleteRowInFileMove(file: ModelFile): Move {
    const known = this.#model.files.find((other) => other.dataFileId === file.dataFileId);
    const positions = (known ?? file).rowIds
      .map((_, position) => position)
      .filter((position) => !file.dead.has(position));
    const position = this.#random.pick(positions);
    const rowId = file.rowIds[position]!;
    return {
      name: `delete row ${rowId} in file ${file.dataFileId}`,
      stage: (tx) => {
        if (known === undefined) return (current) => current;
        tx.inlineDelete({ table: this.#table, rowId });
        return (current) => ({
          ...current,
          rows: without(current.rows, [rowId]),
          files: current.files.map((other) =>
            other.dataFileId === file.dataFileId
              ? { ...other, dead: new Set([...other.dead, position]), singlyDeleted: true }
              : other,
          ),
        });
      },
    };
  }

  async #fileMove(model: ModelTable): Promise<Move> {
    const values = this.#rows(1 + this.#random.below(5));
    const path = `f${this.#names++}.parquet`;
    const file = dataFileBytes(
      this.#columns,
      values.map((row) => this.#byName(row)),
    );
    await this.#put(path, file.bytes);
    const entries = this.#entriesFor(model, values);
    return {
      name: `register ${values.length} ${typeof entries}`,
      stage: (tx) => {
        const { dataFileId, rowIdStart } = tx.registerDataFile({
          table: this.#table,
          file: { path, recordCount: values.length, fileSizeBytes: file.fileSizeBytes, footerSize: file.footerSize },
          entries,
        });
        return (current) => {
          const rows = withIds(values, rowIdStart);
          const added_: ModelFile = {
            dataFileId,
            path,
            rowIds: rows.map(({ rowId }) => rowId),
            dead: new Set(),
            deleteFileId: undefined,
          };
          return { ...current, rows: added(current.rows, rows), files: [...current.files, added_] };
        };
      },
    };
  }

  #entriesFor(model: ModelTable, rows: readonly ReadonlyMap<bigint, unknown>[]): FileEntries {
    if (this.#random.chance(0.5)) return "scoped-read";
    return model.indexes.flatMap((index) =>
      rows.map((row, ordinal) => ({
        index: index.indexId as never,
        ordinal,
        values: index.columns.map(({ columnId }) => row.get(columnId) ?? null),
      })),
    );
  }

  async #deleteFileMove(model: ModelTable, file: ModelFile): Promise<Move> {
    const alive = file.rowIds.map((_, position) => position).filter((position) => !file.dead.has(position));
    const killed = alive.filter(() => this.#random.chance(0.5));
    if (killed.length === 0) killed.push(this.#random.pick(alive));
    const dead = new Set([...file.dead, ...killed]);
    const path = `d${this.#names++}.parquet`;
    const written = deleteFileBytes(
      file.path,
      [...dead].sort((a, b) => a - b),
    );
    await this.#put(path, written.bytes);
    const rowIds = killed.map((position) => file.rowIds[position]!);
    const removals = this.#removalsFor(model, rowIds, isDense(file.rowIds) && file.singlyDeleted !== true);
    return {
      name: `delete ${killed.length} of file ${file.dataFileId} ${typeof removals}`,
      stage: (tx) => {
        if (file.deleteFileId !== undefined)
          tx.expireDeleteFile({ table: this.#table, file: file.deleteFileId as never });
        const deleteFileId = tx.registerDeleteFile({
          table: this.#table,
          file: {
            dataFileId: file.dataFileId as never,
            path,
            deleteCount: dead.size,
            fileSizeBytes: written.fileSizeBytes,
            footerSize: written.footerSize,
          },
          removals,
        });
        return (current) => ({
          ...current,
          rows: without(current.rows, rowIds),
          files: current.files.map((other) =>
            other.dataFileId === file.dataFileId ? { ...other, dead, deleteFileId } : other,
          ),
        });
      },
    };
  }

  #expireMove(model: ModelTable, file: ModelFile): Move {
    const rowIds = file.rowIds.filter((_, position) => !file.dead.has(position));
    const removals = this.#removalsFor(model, rowIds, isDense(file.rowIds) && file.singlyDeleted !== true);
    return {
      name: `expire file ${file.dataFileId} ${typeof removals}`,
      stage: (tx) => {
        tx.expireDataFile({ table: this.#table, file: file.dataFileId as never, removals });
        return (current) => ({
          ...current,
          rows: without(current.rows, rowIds),
          files: current.files.filter((other) => other.dataFileId !== file.dataFileId),
        });
      },
    };
  }

  #removalsFor(model: ModelTable, rowIds: readonly bigint[], isDenseFile: boolean): FileRemovals {
    if (!isDenseFile || this.#random.chance(0.5)) return "scoped-read";
    this.#supplied = true;
    return model.indexes.flatMap((index) =>
      rowIds.map((rowId): FileIndexRemoval => {
        const row = model.rows.get(rowId);
        return {
          index: index.indexId as never,
          rowId,
          values: index.columns.map(({ columnId }) => row?.values.get(columnId) ?? null),
        };
      }),
    );
  }

  #createIndexMove(model: ModelTable): Move {
    const columns = this.#random.shuffled(this.#columns).slice(0, 1 + this.#random.below(2));
    const orders = columns.map(() => ({
      direction: this.#random.pick(["asc", "desc"] as const),
      nulls: this.#random.pick(["first", "last"] as const),
    }));
    const unique = this.#random.chance(0.4);
    const name = `i${this.#seed}_${this.#names++}`;
    const explicit = this.#random.chance(0.5) && model.files.length > 0;
    if (explicit) this.#supplied = true;
    return {
      name: `create ${unique ? "unique " : ""}index over ${columns.map(({ columnType }) => columnType).join("+")}`,
      stage: (tx) => {
        const inFiles = model.files.flatMap((file) => file.rowIds.filter((_, position) => !file.dead.has(position)));
        const backfill = inFiles.map((rowId) => ({
          rowId,
          values: columns.map(({ fieldId }) => model.rows.get(rowId)?.values.get(fieldId) ?? null),
        }));
        const dense = model.files.every((file) => isDense(file.rowIds) && file.singlyDeleted !== true);
        const indexId = tx.createIndex({
          table: this.#table,
          name,
          columns: columns.map(({ fieldId }) => fieldId as ColumnId),
          unique,
          orders,
          ...(explicit && dense && backfill.length > 0 ? { backfill } : {}),
        });
        const index: ModelIndex = {
          indexId,
          unique,
          columns: columns.map(({ fieldId, columnType }, i) => ({
            columnId: fieldId,
            columnType,
            descending: orders[i]?.direction === "desc",
            nullsFirst: orders[i]?.nulls === "first",
          })),
        };
        return (current) => ({ ...current, indexes: [...current.indexes, index] });
      },
    };
  }

  #dropIndexMove(model: ModelTable): Move {
    const index = this.#random.pick(model.indexes);
    return {
      name: `drop index ${index.indexId}`,
      stage: (tx) => {
        tx.dropIndex({ index: index.indexId as never });
        return (current) => ({ ...current, indexes: current.indexes.filter((other) => other !== index) });
      },
    };
  }

  #rows(count: number): ReadonlyMap<bigint, unknown>[] {
    return Array.from(
      { length: count },
      () => new Map(this.#columns.map(({ fieldId, columnType }) => [fieldId, this.#value(columnType)] as const)),
    );
  }

  #value(columnType: string): unknown {
    if (this.#random.chance(0.15)) return null;
    const n = this.#random.below(12);
    switch (columnType) {
      case "BIGINT":
        return BigInt(n - 4) * 250n;
      case "UINTEGER":
        return n * 255;
      case "VARCHAR":
        return "\u0000\u0001aé☃".slice(0, n % 5) + "x".repeat(n % 3);
      case "BLOB":
        return Uint8Array.from({ length: n % 4 }, (_, i) => (n + i) % 3);
      case "DOUBLE":
        return [
          0,
          -0,
          Number.NaN,
          Number.POSITIVE_INFINITY,
          Number.NEGATIVE_INFINITY,
          0.5,
          -0.5,
          1e300,
          5e-324,
          -1,
          2,
          3,
        ][n];
      case "DATE":
        return `20${String(10 + n)}-0${1 + (n % 9)}-15`;
      case "DECIMAL(10,2)":
        return `${n - 5}.25`;
      case "UUID":
        return `00000000-0000-4000-8000-0000000000${String(10 + n)}`;
      case "BOOLEAN":
        return n % 2 === 0;
      default:
        return BigInt(n) * 1_000_003n;
    }
  }

  #byName(row: ReadonlyMap<bigint, unknown>): Record<string, unknown> {
    return Object.fromEntries(this.#columns.map(({ fieldId, name }) => [name, row.get(fieldId) ?? null]));
  }

  async #put(path: string, bytes: Uint8Array): Promise<void> {
    const store = await openDataStore(`memory://${this.#lake.dataName}`);
    await store.put(`main/t${this.#seed}/${path}`, bytes);
    await store.close();
  }

  async #check(): Promise<void> {
    const entries = new Map<string, string>();
    for (const { indexId } of this.#model.indexes) {
      for (const shape of ["unique", "multi"] as const) {
        const start = indexPrefix(shape, indexId);
        for await (const block of this.#lake.store.scan({ start, end: prefixEnd(start) })) {
          for (let i = 0; i < block.count; i++) entries.set(toHex(rowKey(block, i)), toHex(rowValue(block, i)));
        }
      }
    }
    const expected = expectedEntries(this.#model);
    if (expected === undefined) throw new Error("two rows of the model claim one key of a unique index");
    expect(sorted(entries)).toEqual(sorted(expected));
    const inline = await this.#lake.catalog.recentRows({ table: this.#table });
    expect(inline.map(({ rowId }) => rowId)).toEqual([...this.#model.inline].sort(ascending));
  }
}

/** A catalog with the store below it, which the test looks into. */
class Lake {
  readonly dataName: string;
  readonly #storeName: string;
  readonly #access: Access;
  #store: WritableStore;
  #catalog: Catalog;
  #connected: ConnectedCatalog[];

  private constructor(name: string, access: Access, store: WritableStore, catalog: Catalog) {
    this.#storeName = name;
    this.dataName = name;
    this.#access = access;
    this.#store = store;
    this.#catalog = catalog;
    this.#connected = connectedTo(catalog);
  }

  static async open(seed: number, access: Access): Promise<Lake> {
    const name = `differential-${process.pid}-${access}-${seed}`;
    const store = await openStore(`memory://${name}`);
    return new Lake(name, access, store, await openCatalog(store, name));
  }

  get store(): WritableStore {
    return this.#store;
  }

  get catalog(): Catalog | ConnectedCatalog {
    if (this.#access === "opened") return this.#catalog;
    // The one that was used last knows the head, the other one has to find out.
    const [first, ...others] = this.#connected;
    this.#connected = [...others, first!];
    return first!;
  }

  async reopen(): Promise<void> {
    await this.#catalog.close();
    this.#store = await openStore(`memory://${this.#storeName}`);
    this.#catalog = await openCatalog(this.#store, this.dataName);
    this.#connected = connectedTo(this.#catalog);
  }

  async close(): Promise<void> {
    for (const handle of this.#connected) await handle.close();
    await this.#catalog.close();
    dropMemoryDataStore(this.dataName);
  }
}

function connectedTo(catalog: Catalog): ConnectedCatalog[] {
  return [0, 1].map(() => new ConnectedCatalog(new LoopbackLink(catalog)));
}

async function openCatalog(store: WritableStore, dataName: string): Promise<Catalog> {
  return await Catalog.open({
    store,
    dataPath: `memory://${dataName}`,
    openDataFiles: (dataPath) => new DataStoreSet(dataPath),
  });
}

async function attempt(run: () => Promise<void>): Promise<"landed" | "refused"> {
  try {
    await run();
    return "landed";
  } catch (error) {
    if (error instanceof ConstraintError) return "refused";
    throw error;
  }
}

function withIds(values: readonly ReadonlyMap<bigint, unknown>[], first: bigint): ModelRow[] {
  return values.map((row, i) => ({ rowId: first + BigInt(i), values: row }));
}

function added(rows: ReadonlyMap<bigint, ModelRow>, more: readonly ModelRow[]): Map<bigint, ModelRow> {
  return new Map([...rows, ...more.map((row) => [row.rowId, row] as const)]);
}

function without(rows: ReadonlyMap<bigint, ModelRow>, rowIds: readonly bigint[]): Map<bigint, ModelRow> {
  const left = new Map(rows);
  for (const rowId of rowIds) left.delete(rowId);
  return left;
}

/** Files with gaps embed their row ids: only a scoped read knows them. */
function isDense(rowIds: readonly bigint[]): boolean {
  return rowIds.every((rowId, i) => rowId === rowIds[0]! + BigInt(i));
}

function sorted(entries: ReadonlyMap<string, string>): [string, string][] {
  return [...entries].sort(([a], [b]) => (a < b ? -1 : 1));
}

function ascending(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
