import {
  decodeKey,
  decodeValue,
  encodeValue,
  FormatValue,
  HeadValue,
  InlineChunkValue,
  InlineSchemaValue,
} from "@moraine/codec";
import { absent, openStore, type WritableStore, type WriteBatch } from "@moraine/store";
import { describe, expect, it } from "vitest";
import { Catalog } from "../catalog.js";
import type { CommitClosure } from "../catalog.js";
import type { FileIndexEntry, FileIndexRemoval } from "../operations.js";
import { GoldenNormaliser } from "./golden-compare.js";
import { type GoldenItem, type GoldenOperation, type GoldenValue, readGoldenStore } from "./golden-data.js";
import {
  type Arguments,
  catalogHandlers,
  columnOrders,
  dataFile,
  deleteFile,
  type GoldenHandler,
  runOperations,
} from "./golden-driver.js";
import { fromHex, RecordedBatch, toHex } from "./records.js";

/**
 * The reference's scripts through the embedding API on a real store: what each call leaves must be the same records, after the
 * translation to format 9 that golden/README.md describes.
 */
describe("stores of the reference", () => {
  const scripts = readGoldenStore();
  it.each([
    "bootstrap",
    "bootstrap_with_options",
    "ddl",
    "files",
    "inline",
    "indexes",
    "views_macros_tags_options",
    "many_operations_in_one_commit",
    "group_commit",
    "changelog_window",
    "maintenance_records",
  ])("%s", async (name) => {
    const items = scripts.get(name) ?? [];
    expect(items.length).toBeGreaterThan(0);
    files = new FileEntriesByFile();
    const lake = await Lake.open(name, items[0]!);
    for (const call of callsOf(items)) {
      // Rows of DuckLake's own commits are not part of this path; the one script that has some ends there.
      if (call.step["verb"] === "staged_commit") break;
      await lake.play(call);
    }
    await lake.close();
  });
});

/** One call of a script with everything that it wrote, over however many batches. */
interface Call {
  readonly step: Readonly<Record<string, unknown>>;
  readonly result: unknown;
  readonly puts: Map<string, string>;
  readonly deletes: Set<string>;
  readonly elided: boolean;
}

function callsOf(items: readonly GoldenItem[]): Call[] {
  const calls: Call[] = [];
  for (const item of items) {
    if (item.step.continues === undefined) {
      calls.push({
        step: item.step as unknown as Readonly<Record<string, unknown>>,
        result: item.result,
        puts: new Map(),
        deletes: new Set(),
        elided: item.elided === true,
      });
    }
    const call = calls.at(-1)!;
    for (const { key, value } of item.puts ?? []) call.puts.set(key, value);
    for (const key of item.deletes ?? []) call.deletes.add(key);
  }
  return calls;
}

const headKey = "0203";
const formatKey = "0202";
const oldTombstone = "060303";

class Lake {
  readonly #catalog: Catalog;
  readonly #recorder: Recorder;
  readonly #normaliser = new GoldenNormaliser();
  readonly #tombstones = new Map<string, string>();
  readonly #live = new Set<string>();
  /** How many more head stamps we have written than the reference, which leaves some out. */
  #extraStamps = 0n;
  readonly #owedDeletes = new Set<string>();

  private constructor(catalog: Catalog, recorder: Recorder) {
    this.#catalog = catalog;
    this.#recorder = recorder;
  }

  static async open(name: string, opening: GoldenItem): Promise<Lake> {
    const recorder = new Recorder(await openStore(`memory://golden-${name}-${process.pid}`));
    const step = opening.step as { readonly encrypted?: boolean; readonly data_path?: string };
    const catalog = await Catalog.open({
      numbersOfReference: true,
      store: recorder,
      ...(step.encrypted === undefined ? {} : { encrypted: step.encrypted }),
      dataPath: step.data_path,
    });
    return new Lake(catalog, recorder);
  }

  async close(): Promise<void> {
    await this.#catalog.close();
  }

  async play(call: Call): Promise<void> {
    const result = await this.#run(call);
    const ours = this.#recorder.take();
    if (call.elided) {
      for (const key of ours.puts.keys()) this.#live.add(key);
      return;
    }
    const verb = String(call.step["verb"]);
    const expected = expectedResult(call);
    if (verb === "maintain" || (verb === "reclaim_index_entries" && typeof result === "number")) {
      this.#compareReclaimed(verb, call, ours);
      return;
    }
    expect(result, verb).toEqual(expected);
    this.#compare(verb, call, ours);
  }

  async #run(call: Call): Promise<unknown> {
    const { step } = call;
    switch (step["verb"]) {
      case "open":
        return undefined;
      case "commit":
        return await this.#commit(call, step["ops"] as readonly GoldenOperation[]);
      case "commit_group": {
        const chunks = new ChunkInputs(call);
        const members = step["members"] as readonly (readonly GoldenOperation[])[];
        const results = await this.#catalog.commitGroup(members.map((operations) => closureOf(operations, chunks)));
        return {
          snapshots: results.map(({ snapshotId }) => Number(snapshotId)),
          returns: results.map(({ value }) => value),
        };
      }
      case "repeat": {
        for (let n = 0; n < Number(step["times"]); n++)
          await this.#commit(call, step["ops"] as readonly GoldenOperation[]);
        return undefined;
      }
      case "reclaim_index_entries":
        return await outcome(
          async () =>
            await this.#catalog.reclaimIndexEntries({
              index: BigInt(Number(step["index"])),
              limit: Number(step["limit"]),
            }),
        );
      case "maintain": {
        const report = await this.#catalog.maintain({ batchSize: Number(step["batch_size"]) });
        return {
          indexes_swept: report.indexesSwept,
          index_entries_reclaimed: report.indexEntriesReclaimed,
          file_column_stats_reclaimed: report.fileColumnStatsReclaimed,
        };
      }
      case "record_maintenance_pass":
        await this.#catalog.recordMaintenancePass({
          startedAtMicros: BigInt(Number(step["started_at"])),
          trigger: String(step["trigger"]),
          steps: step["steps"] as never,
        });
        return undefined;
      case "raise_format":
        return call.result;
      default:
        throw new Error(`no way to run ${String(step["verb"])}`);
    }
  }

  async #commit(call: Call, operations: readonly GoldenOperation[]): Promise<unknown> {
    const chunks = new ChunkInputs(call);
    return await outcome(async () => {
      const { snapshotId, value } = await this.#catalog.commit(closureOf(operations, chunks));
      return { snapshot: Number(snapshotId), returns: value };
    });
  }

  #compare(verb: string, call: Call, ours: Written): void {
    const puts = this.#normaliser.normalise(ours.puts);
    const head = puts.get(headKey);
    puts.delete(headKey);
    const expectedHead = call.puts.get(headKey);
    if (
      verb === "maintain" ||
      verb === "reclaim_index_entries" ||
      verb === "record_maintenance_pass" ||
      verb === "raise_format"
    ) {
      expect(expectedHead).toBeUndefined();
      this.#extraStamps += BigInt(ours.headStamps);
    } else if (expectedHead !== undefined) {
      const stamp = decodeValue(HeadValue, fromHex(expectedHead));
      expect(head).toBe(toHex(encodeValue(HeadValue, { ...stamp, batchSeq: stamp.batchSeq + this.#extraStamps })));
    } else {
      expect(head).toBeUndefined();
    }
    const deletes = [...ours.deletes].filter((key) => this.#live.has(key)).sort();
    expect(Object.fromEntries(byKey([...puts])), verb).toEqual(Object.fromEntries(this.#expectedPuts(verb, call)));
    const expected = this.#expectedDeletes(call);
    // The reference leaves the entries of rows that an expired file still held; here they must be named, and go.
    const left = deletes.filter((key) => key.startsWith("07") && !expected.includes(key));
    expect(left.length, verb).toBe(files.takeExpired());
    expect(
      deletes.filter((key) => !left.includes(key)),
      verb,
    ).toEqual(expected);
    for (const key of puts.keys()) this.#live.add(key);
    for (const key of ours.deletes) this.#live.delete(key);
  }

  /**
   * How a sweep cuts its batches is free, so calls in a row are compared by all that they deleted together. The reference counts
   * an index once for each of its two key ranges; here it counts once.
   */
  #compareReclaimed(verb: string, call: Call, ours: Written): void {
    this.#extraStamps += BigInt(ours.headStamps);
    for (const key of this.#expectedDeletes(call)) this.#owedDeletes.add(key);
    for (const key of ours.deletes) {
      expect(this.#owedDeletes.delete(key) || verb === "reclaim_index_entries", `${verb} deleted ${key}`).toBe(true);
      this.#live.delete(key);
    }
    if (verb === "maintain") expect([...this.#owedDeletes]).toEqual([]);
  }

  #expectedPuts(verb: string, call: Call): [string, string][] {
    const puts: [string, string][] = [];
    for (const [key, value] of call.puts) {
      if (key === headKey) continue;
      if (key === formatKey) {
        if (verb === "open")
          puts.push([key, toHex(encodeValue(FormatValue, { formatVersion: 9n, writerVersion: "moraine-ts 0.1.0" }))]);
        continue;
      }
      puts.push([this.#translate(key, value), value]);
    }
    return byKey(puts);
  }

  /**
   * Deletes of the reference that meet a live key of ours. The one call of the scripts whose removals name wrong values leaves
   * entries behind there; here they are worked out from the row, and go with it.
   */
  #expectedDeletes(call: Call): string[] {
    const deletes = [...call.deletes]
      .map((key) => this.#tombstones.get(key) ?? key)
      .filter((key) => this.#live.has(key));
    const row = rowOfWrongRemovals(call);
    if (row !== undefined)
      for (const key of this.#live) if (key.startsWith("0703") && key.endsWith(row)) deletes.push(key);
    return deletes.sort();
  }

  /** An inline tombstone gets the snapshot that it ends a row at into its key. */
  #translate(key: string, value: string): string {
    if (!key.startsWith(oldTombstone)) return key;
    const end = value.slice(12);
    const ours = [...this.#recorder.last.puts.keys()].find((candidate) => candidate.startsWith(`0609${key.slice(6)}`));
    if (ours === undefined) throw new Error(`no tombstone for ${key}, which ends at ${end}`);
    const decoded = decodeKey(fromHex(ours));
    expect(decoded).toMatchObject({ subspace: "inline", kind: "row_tombstone" });
    this.#tombstones.set(key, ours);
    return ours;
  }
}

/** The row, in hex as it ends a key, of a delete whose removals name values that the row never had. */
function rowOfWrongRemovals(call: Call): string | undefined {
  const operations = (call.step["ops"] ?? []) as readonly GoldenOperation[];
  const wrong = operations.find(({ removals }) => JSON.stringify(removals ?? []).includes("never there"));
  return wrong === undefined ? undefined : Number(wrong["row_id"]).toString(16).padStart(16, "0");
}

/** Errors are compared by their kind, which begins their text. */
async function outcome(run: () => Promise<unknown>): Promise<unknown> {
  try {
    return await run();
  } catch (error) {
    return { error: kindOf(String((error as Error).message)) };
  }
}

function kindOf(message: string): string {
  return message.slice(0, message.indexOf(":"));
}

function expectedResult(call: Call): unknown {
  const { result } = call;
  if (typeof result === "object" && result !== null && "error" in result)
    return { error: kindOf(String(result.error)) };
  return result ?? undefined;
}

/** Arrow bytes are inputs of the scripts: they stand in the records that the reference wrote. */
class ChunkInputs {
  readonly #bodies: { readonly tableId: bigint; readonly schemaVersion: bigint; readonly body: Uint8Array }[] = [];
  readonly #schemas: ReadonlyMap<string, Uint8Array>;
  #next = 0;

  constructor(call: Call, schemas: Map<string, Uint8Array> = knownSchemas) {
    this.#schemas = schemas;
    for (const [hex, value] of byKey([...call.puts])) {
      const key = decodeKey(fromHex(hex));
      if (key.subspace !== "inline") continue;
      if (key.kind === "schema") {
        schemas.set(`${key.tableId}/${key.schemaVersion}`, decodeValue(InlineSchemaValue, fromHex(value)).arrowSchema);
      } else if (key.kind === "chunk") {
        this.#bodies.push({
          tableId: key.tableId,
          schemaVersion: key.schemaVersion,
          body: decodeValue(InlineChunkValue, fromHex(value)).body,
        });
      }
    }
  }

  take(op: Arguments): { schemaVersion: bigint; arrowSchema: Uint8Array; arrowBody: Uint8Array; rowCount: number } {
    const chunk = this.#bodies[this.#next++];
    const schemaVersion = op.count("schema_version");
    const arrowSchema = this.#schemas.get(`${op.table()}/${schemaVersion}`);
    if (chunk === undefined || arrowSchema === undefined)
      throw new Error("the script holds no Arrow bytes for an insert");
    return { schemaVersion, arrowSchema, arrowBody: chunk.body, rowCount: op.list("rows").length };
  }
}

/** Entries of registered files, so that a file can be expired with those of the rows that it still holds. */
class FileEntriesByFile {
  readonly #entries = new Map<bigint, readonly FileIndexRemoval[]>();
  #expired = 0;

  registered(dataFileId: bigint, rowIdStart: bigint, entries: readonly FileIndexEntry[]): void {
    this.#entries.set(
      dataFileId,
      entries.map(({ index, ordinal, values }) => ({ index, rowId: rowIdStart + BigInt(ordinal), values })),
    );
  }

  removed(dataFileId: bigint, removals: readonly FileIndexRemoval[]): void {
    const left = (this.#entries.get(dataFileId) ?? []).filter(
      ({ rowId }) => !removals.some((removal) => removal.rowId === rowId),
    );
    this.#entries.set(dataFileId, left);
  }

  expire(dataFileId: bigint): readonly FileIndexRemoval[] {
    const left = this.#entries.get(dataFileId) ?? [];
    this.#expired += left.length;
    return left;
  }

  /** How many entries were named by expiries since the last call. */
  takeExpired(): number {
    const expired = this.#expired;
    this.#expired = 0;
    return expired;
  }
}

let files = new FileEntriesByFile();

const knownSchemas = new Map<string, Uint8Array>();

function closureOf(operations: readonly GoldenOperation[], chunks: ChunkInputs): CommitClosure<unknown[]> {
  return (transaction) => runOperations(transaction, operations, { ...catalogHandlers, ...rowHandlers(chunks) });
}

function rowHandlers(chunks: ChunkInputs): Readonly<Record<string, GoldenHandler>> {
  return {
    inline_insert: (tx, op) => tx.inlineInsert({ table: op.table(), rows: chunks.take(op) }),
    inline_delete: (tx, op) => tx.inlineDelete({ table: op.table(), rowId: op.count("row_id") }),
    flush_inlined_data: (tx, op) =>
      tx.flushInlinedData({
        table: op.table(),
        schemaVersion: op.count("schema_version"),
        files: op.each("files").map((file) => ({
          file: dataFile(file),
          rowIdStart: file.count("row_id_start"),
          beginSnapshot: file.count("begin_snapshot"),
          ...(file.has("partial_max") ? { partialMax: file.count("partial_max") } : {}),
        })),
      }),
    create_index: (tx, op) =>
      tx.createIndex({
        table: op.table(),
        name: op.text("name"),
        columns: op.list("columns").map((id) => BigInt(Number(id)) as never),
        unique: op.flag("unique"),
        orders: columnOrders(op),
      }),
    register_data_file: (tx, op) => {
      const entries = op.each("entries").map(fileEntry);
      const { dataFileId, rowIdStart } = tx.registerDataFile({ table: op.table(), file: dataFile(op), entries });
      files.registered(dataFileId, rowIdStart, entries);
      return dataFileId;
    },
    register_delete_file: (tx, op) => {
      const removals = op.each("removals").map(fileRemoval);
      files.removed(op.count("file"), removals);
      return tx.registerDeleteFile({ table: op.table(), file: deleteFile(op), removals });
    },
    expire_data_file: (tx, op) =>
      tx.expireDataFile({
        table: op.table(),
        file: op.count("file") as never,
        removals: files.expire(op.count("file")),
      }),
  };
}

function fileEntry(args: Arguments): FileIndexEntry {
  return { index: args.count("index") as never, ordinal: Number(args.count("ordinal")), values: valuesOf(args) };
}

function fileRemoval(args: Arguments): FileIndexRemoval {
  return { index: args.count("index") as never, rowId: args.count("row_id"), values: valuesOf(args) };
}

function valuesOf(args: Arguments): unknown[] {
  return (args.list("values") as GoldenValue[]).map((value) => {
    if (value === null) return null;
    if ("i64" in value) return BigInt(value.i64);
    if ("i32" in value) return BigInt(value.i32);
    if ("f64" in value) return value.f64 === "nan" ? Number.NaN : Number(value.f64);
    return "str" in value ? value.str : value.bool;
  });
}

/** Keeps what is written to a store since the last look. */
class Recorder implements WritableStore {
  readonly #store: WritableStore;
  last = new Written();
  #written = new Written();

  constructor(store: WritableStore) {
    this.#store = store;
  }

  take(): Written {
    this.last = this.#written;
    this.#written = new Written();
    return this.last;
  }

  get location(): string {
    return this.#store.location;
  }

  get failure(): Error | null {
    return this.#store.failure;
  }

  getMany: WritableStore["getMany"] = (keys) => this.#store.getMany(keys);
  scan: WritableStore["scan"] = (range, options) => this.#store.scan(range, options);
  snapshot: WritableStore["snapshot"] = () => this.#store.snapshot();
  checkpointMemory: WritableStore["checkpointMemory"] = () => this.#store.checkpointMemory();
  close: WritableStore["close"] = () => this.#store.close();

  async write(batch: WriteBatch): ReturnType<WritableStore["write"]> {
    let at = 0;
    for (let i = 0; i < batch.count; i++) {
      const keyEnd = batch.ends[2 * i]!;
      const key = batch.data.slice(at, keyEnd);
      const valueEnd = batch.ends[2 * i + 1]!;
      if (toHex(key) === headKey) this.#written.headStamps += 1;
      if (valueEnd === absent) this.#written.delete(key);
      else this.#written.put(key, batch.data.slice(keyEnd, valueEnd));
      at = valueEnd === absent ? keyEnd : valueEnd;
    }
    return await this.#store.write(batch);
  }
}

class Written extends RecordedBatch {
  headStamps = 0;
}

function byKey(entries: [string, string][]): [string, string][] {
  return entries.sort(([a], [b]) => (a < b ? -1 : 1));
}
