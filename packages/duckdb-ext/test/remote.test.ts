import { existsSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serialize } from "node:v8";
import { ConnectedCatalog, type Transaction } from "@moraine/catalog";
import { ConstraintError, MoraineError, type SchemaId } from "@moraine/codec";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { type Message, type MessageOf, ProtocolError, ServiceClient, ServiceLink } from "../src/index.js";
import { errorOf, refusalOf } from "../src/remote/refusal.js";
import { valueOf } from "../src/remote/values.js";
import { LakeServer } from "./support/lake-server.js";

const main = 0n as SchemaId;
let folder: string;
let store: string;
let socket: string;
let service: LakeServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moraine-remote-"));
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
  store = join(folder, "store");
  socket = join(folder, "socket");
  service = await LakeServer.listen(socket, store);
});

afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function connect(dial = () => ServiceClient.connect(socket, "test")): Promise<ConnectedCatalog> {
  const dataPath = join(folder, "data/");
  const options = { dial, store, cwd: folder, dataPath, encrypted: undefined, requestTimeoutMs: 20_000 };
  const catalog = new ConnectedCatalog(await ServiceLink.open(options));
  onTestFinished(() => catalog.close());
  return catalog;
}

const numbers = { name: "numbers", schema: main, columns: [{ name: "n", columnType: "BIGINT" }] };

async function failureOf(work: Promise<unknown>): Promise<MoraineError> {
  const error = await work.then(
    () => undefined,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(MoraineError);
  return error as MoraineError;
}

/** A connection by hand, attached, and what a request on it is answered. */
async function attached(): Promise<{ ask: (request: Message) => Promise<Message>; attachment: bigint }> {
  const client = await ServiceClient.connect(socket, "test");
  onTestFinished(() => client.close());
  const request = { type: "connect", store, cwd: folder, dataPath: undefined, encrypted: undefined } as const;
  const answer = await client.request({ ...request, create: true });
  expect(answer.type).toBe("attached");
  return { ask: (message) => client.request(message), attachment: (answer as MessageOf<"attached">).attachment };
}

describe("two handles on one store", () => {
  test("see each other's commits, and nothing is lost where they race", async () => {
    const [first, second] = [await connect(), await connect()];
    const { value: table } = await first.commit((tx) => tx.createTable(numbers));
    const add = (catalog: ConnectedCatalog) => async (): Promise<void> => {
      await catalog.commit(async (tx) => {
        // What is inserted depends on what is there.
        const next = tx.tableStats(table)?.nextRowId ?? 0n;
        await Promise.resolve();
        tx.inlineInsert({ table, rows: [{ n: next }] });
      });
    };
    const rounds = Array.from({ length: 20 }, (_, at) => add(at % 2 === 0 ? first : second));
    await Promise.all(rounds.map((round) => round()));
    const rows = await first.recentRows({ table });
    expect(rows.map(({ rowId, values }) => [rowId, values["n"]])).toEqual(
      Array.from({ length: 20 }, (_, at) => [BigInt(at), BigInt(at)]),
    );
    expect((await second.snapshot()).currentSnapshot.id).toBe((await first.snapshot()).currentSnapshot.id);
  });

  test("one that stands at an older head runs again before it refuses or reports anything", async () => {
    const [first, second] = [await connect(), await connect()];
    const { value: table } = await first.commit((tx) => tx.createTable(numbers));
    await second.snapshot();
    await first.commit((tx) => tx.dropTable({ table }));
    // The name is free again, which the second handle has not heard of.
    const { value: again } = await second.commit((tx) => tx.createTable(numbers));
    await second.commit((tx) => tx.renameTable({ table: again, name: "others" }));
    const { value: names } = await first.commit((tx) => tx.tablesIn(main).map(({ name }) => name));
    expect(names).toEqual(["others"]);
  });

  test("uuids, times and ids are those that the closure saw", async () => {
    const catalog = await connect();
    const { value: seen } = await catalog.commit((tx) => {
      expect(() => tx.createTable({ ...numbers, columns: [] })).toThrow(/column/u);
      const schema = tx.createSchema({ name: "s" });
      return { schema, uuid: tx.schemas().find(({ id }) => id === schema)?.uuid };
    });
    const found = (await catalog.snapshot()).schemas().find(({ id }) => id === seen.schema);
    expect(found?.uuid).toBe(seen.uuid);
    expect(seen.uuid).toMatch(/^[0-9a-f-]{36}$/u);
  });

  test("a group lands as commits of their own, together or not at all", async () => {
    const catalog = await connect();
    const { value: table } = await catalog.commit((tx) => tx.createTable(numbers));
    await catalog.commit((tx) => tx.createIndex({ table, name: "by_n", columns: ["n"], unique: true }));
    const insert = (n: number) => (tx: Transaction) => tx.inlineInsert({ table, rows: [{ n }] });
    const results = await catalog.commitGroup([insert(1), insert(2)], { author: "Ada" });
    expect(results.map(({ value }) => value)).toEqual([0n, 1n]);
    expect(results[1]!.snapshotId).toBe(results[0]!.snapshotId + 1n);
    expect(await failureOf(catalog.commitGroup([insert(3), insert(2)]))).toBeInstanceOf(ConstraintError);
    expect((await catalog.recentRows({ table })).map(({ values }) => values["n"])).toEqual([1n, 2n]);
  });

  test("a commit inside of a closure, and one that was cancelled, are refused", async () => {
    const catalog = await connect();
    const inner = await failureOf(catalog.commit(() => catalog.commit(() => undefined)));
    expect(inner.code).toBe("invalid_argument");
    const control = new AbortController();
    const waiting = catalog.commit(() => new Promise<void>(() => undefined), { signal: control.signal });
    control.abort();
    expect((await failureOf(waiting)).code).toBe("interrupted");
    // A closure that waits for ever has given its turn away.
    await catalog.commit((tx) => tx.createTable(numbers));
    expect((await catalog.snapshot()).tablesIn(main)).toHaveLength(1);
  });

  test("passes of maintenance, and what needs data files, are the service's", async () => {
    const catalog = await connect();
    const { value: table } = await catalog.commit((tx) => tx.createTable(numbers));
    const { value: index } = await catalog.commit((tx) => tx.createIndex({ table, name: "by_n", columns: ["n"] }));
    await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ n: 1 }, { n: 2 }, { n: 3 }] }));
    const flushed = await catalog.flushInlined({ table });
    expect(flushed.rowCount).toBe(3);
    const columns = (await catalog.snapshot()).columnsOf(table).map(({ id }) => id);
    expect(await catalog.scopedBackfillEntries({ table, columns })).toHaveLength(3);
    await catalog.commit((tx) => tx.dropIndex({ index }));
    const reports: number[] = [];
    const report = await catalog.maintain({
      batchSize: 1,
      onProgress: ({ indexEntriesReclaimed }) => reports.push(indexEntriesReclaimed),
    });
    expect(report.indexEntriesReclaimed).toBe(3);
    expect(reports.length).toBeGreaterThan(1);
    const pass = { startedAtMicros: 1n, trigger: "test", steps: [] };
    await catalog.recordMaintenancePass(pass);
    expect(await catalog.maintenanceStatus()).toEqual([pass]);
  });
});

describe("errors", () => {
  test("come back as they were, also where a name holds a word that DuckLake would repeat for", async () => {
    const catalog = await connect();
    const { value: table } = await catalog.commit((tx) => tx.createTable({ ...numbers, name: "unique_numbers" }));
    await catalog.commit((tx) => tx.createIndex({ table, name: "unique_n", columns: ["n"], unique: true }));
    const insert = (): Promise<unknown> => catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ n: 7 }] }));
    await insert();
    const refused = await failureOf(insert());
    expect(refused).toBeInstanceOf(ConstraintError);
    expect(refused.retryable).toBe(false);
    expect(refused.message).not.toContain("unique_n");
    expect(refused.readable.message).toContain('index "unique_n"');
    expect(refused.readable.message).not.toContain("7");
    expect(refused.remedy).not.toBe("");
  });

  test("of every code are of the same class again", () => {
    const codes = ["commit_conflict", "closed", "store", "not_found", "retry_budget_exhausted", "data_file"] as const;
    for (const code of codes) {
      const error = errorOf({ code, message: "a table named unique", remedy: "Look at unique." });
      const again = errorOf(refusalOf(error));
      expect(again.constructor).toBe(error.constructor);
      expect([again.code, again.message, again.remedy, again.readable]).toEqual([
        code,
        error.message,
        error.remedy,
        error.readable,
      ]);
    }
    expect(errorOf({ code: "toString", message: "m", remedy: "r" }).code).toBe("store");
    expect(errorOf(refusalOf(new TypeError("x is no function"))).message).toMatch(
      /internal error .* x is no function/u,
    );
  });
});

describe("a service that ends", () => {
  async function restarted(): Promise<void> {
    await service.stop();
    service = await LakeServer.listen(socket, store);
  }

  test("is found again by reads and commits; its scopes are closed", async () => {
    const catalog = await connect();
    const { value: table } = await catalog.commit((tx) => tx.createTable(numbers));
    const scope = await catalog.reads();
    await restarted();
    expect((await failureOf(scope.recentRows({ table }))).code).toBe("closed");
    scope.release();
    await catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ n: 1 }] }));
    await restarted();
    expect(await catalog.recentRows({ table })).toHaveLength(1);
    await restarted();
    expect((await catalog.snapshot()).tableById(table)?.name).toBe("numbers");
  });

  test("with the answer to a commit leaves open whether it landed, and says so", async () => {
    /** Cuts the connection on which a commit goes out, when its answer would come. */
    let cutAnswer = false;
    const dial = async (): Promise<ServiceClient> => {
      const client = await ServiceClient.connect(socket, "test");
      const receive = client.receive.bind(client);
      client.receive = async () => {
        const answer = await receive();
        if (cutAnswer && answer.type === "landed") {
          cutAnswer = false;
          client.close();
          return await receive();
        }
        return answer;
      };
      return client;
    };
    const catalog = await connect(dial);
    const { value: table } = await catalog.commit((tx) => tx.createTable(numbers));
    cutAnswer = true;
    const failure = await failureOf(catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ n: 1 }] })));
    expect(failure.code).toBe("store_unavailable");
    expect(failure.message).toMatch(/may have landed/u);
    expect(await catalog.recentRows({ table })).toHaveLength(1);
  });
});

describe("a store's folder that is moved away", () => {
  /** Another service, as the next one to be started is. */
  async function nextService(): Promise<void> {
    await service.stop();
    service = await LakeServer.listen(socket, store);
  }

  test("takes commits no more, and nothing is made in its place; put back, the catalog goes on", async () => {
    const catalog = await connect();
    const { value: table } = await catalog.commit((tx) => tx.createTable(numbers));
    renameSync(store, `${store}-away`);
    const insert = (n: number) => catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ n }] }));
    expect((await failureOf(insert(1))).code).toBe("store_gone");
    await nextService();
    for (const call of [() => insert(2), () => catalog.snapshot(), () => catalog.recentRows({ table })]) {
      expect((await failureOf(call())).message).toMatch(
        /the lake that was connected: there is none at the store's place/u,
      );
    }
    expect(existsSync(store)).toBe(false);
    renameSync(`${store}-away`, store);
    await nextService();
    await insert(3);
    // The first one may have been under way when the folder was moved.
    const found = (await catalog.recentRows({ table })).map(({ values }) => values["n"]);
    expect(found.filter((n) => n !== 1n)).toEqual([3n]);
  });

  test("is not mistaken for another one that is put there, at whatever revision", async () => {
    const catalog = await connect();
    const { value: table } = await catalog.commit((tx) => tx.createTable(numbers));
    await service.stop();
    renameSync(store, `${store}-away`);
    service = await LakeServer.listen(socket, store);
    const other = await connect();
    await other.commit((tx) => tx.createTable({ ...numbers, name: "others" }));
    const insert = () => catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ n: 1 }] }));
    for (const call of [insert, () => catalog.snapshot(), () => catalog.recentRows({ table })]) {
      expect((await failureOf(call())).message).toMatch(/the lake that was connected: another one is at the store's/u);
    }
    expect(await other.recentRows({ table })).toEqual([]);
  });
});

describe("requests of no sense", () => {
  test("are answered, and end nothing but their connection", async () => {
    const catalog = await connect();
    const { value: table } = await catalog.commit((tx) => tx.createTable(numbers));
    const { ask, attachment } = await attached();
    const read = {
      type: "read_many",
      attachment,
      revision: 99n,
      keys: new Uint8Array(1),
      ends: Uint32Array.of(1),
    } as const;
    expect(await ask(read)).toMatchObject({ type: "refused", code: "closed" });
    const pinned = (await ask({ type: "pin", attachment, known: undefined, since: undefined })) as MessageOf<"pinned">;
    const { revision } = pinned;
    expect(await ask({ ...read, revision, ends: Uint32Array.of(7) })).toMatchObject({ code: "invalid_argument" });
    const scan = { type: "scan_rows", attachment, revision, reverse: false, rows: 0 } as const;
    expect(await ask({ ...scan, start: new Uint8Array(0), end: undefined })).toMatchObject({
      code: "invalid_argument",
    });
    expect(await ask({ type: "call", attachment, method: "close", arguments: serialize({}) })).toMatchObject({
      code: "invalid_argument",
    });
    const commit = {
      type: "commit_verbs",
      attachment,
      base: revision,
      baseSnapshot: 0n,
      author: undefined,
      message: undefined,
      extraInfo: undefined,
    } as const;
    const members = [
      { verbs: [{ verb: "end", args: {}, result: undefined }], uuids: [] },
      { verbs: [{ verb: "dropTable", args: 7, result: undefined }], uuids: [] },
      { verbs: 7, uuids: [] },
      null,
    ];
    for (const member of members) {
      expect(await ask({ ...commit, members: [serialize(member)] })).toMatchObject({ code: "invalid_argument" });
    }
    const other = { verb: "createSchema", args: { name: "s" }, result: 77n };
    expect(await ask({ ...commit, members: [serialize({ verbs: [other], uuids: [] })] })).toMatchObject({
      code: "corruption",
    });
    expect(await ask({ ...commit, base: 0n, members: [serialize({ verbs: [], uuids: [] })] })).toEqual({
      type: "stale",
    });
    expect(await ask({ ...commit, members: [new Uint8Array(3)] })).toMatchObject({ type: "failed", code: "protocol" });
    expect((await catalog.snapshot()).tablesIn(main).map(({ id }) => id)).toEqual([table]);
  });

  test("values that were changed on the way are read as something, or refused", () => {
    const value = {
      verbs: [{ verb: "x", args: { a: 1n, b: new Map([["k", [1, null]]]), c: new Date(0) } }],
      uuids: ["u"],
    };
    const plain = serialize({ ...value, bytes: new Uint8Array([1, 2, 3]), wide: new BigUint64Array([1n]) });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.nat(),
        (edits, length) => {
          const bytes = Uint8Array.from(plain);
          for (const [at, byte] of edits) bytes[at % bytes.length] = byte;
          try {
            valueOf(bytes.subarray(0, length % 3 === 0 ? length % bytes.length : bytes.length));
          } catch (error) {
            expect(error).toBeInstanceOf(ProtocolError);
          }
        },
      ),
      { numRuns: 5_000, endOnFailure: true },
    );
  });
});
