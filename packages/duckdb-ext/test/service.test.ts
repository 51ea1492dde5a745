import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeFrame, type MessageOf, ServiceClient } from "../src/index.js";
import { integers, LakeClient, Refused } from "./lake-client.js";
import { batchOf, column } from "./support/columns.js";
import { LakeServer } from "./support/lake-server.js";

let folder: string;
let store: string;
let socket: string;
let service: LakeServer;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "moraine-service-"));
  process.env["MORAINE_RUNTIME_DIR"] = join(folder, "run");
  store = join(folder, "store");
  socket = join(folder, "socket");
  service = await LakeServer.listen(socket, store);
});

afterEach(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function refusal(work: Promise<unknown>): Promise<MessageOf<"failed">> {
  const outcome = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(outcome).toBeInstanceOf(Refused);
  return (outcome as Refused).failed;
}

const detach = (client: LakeClient): Promise<unknown> =>
  client.ask("done", { type: "detach", attachment: client.attachment });

const attach = (more: Partial<MessageOf<"attach">> = {}): Promise<LakeClient> => LakeClient.attach(socket, store, more);

/** A lake with one table, and a client that stands at its head. */
async function lakeWithTable(): Promise<{ client: LakeClient; table: bigint }> {
  const client = await attach();
  await client.create(join(folder, "data/"));
  await client.follow();
  const { id: table, changes } = client.createTable("people");
  await client.commit(changes);
  return { client, table };
}

/** So many rows of half a KiB: a thousand of them make a load that clients follow on from. */
const longRows = (count: number): [bigint, string][] =>
  Array.from({ length: count }, (_, i) => [BigInt(i), "x".repeat(500)]);

const createIndex = (client: LakeClient, more: Partial<MessageOf<"create_index">> = {}) =>
  client.ask("done", {
    type: "create_index",
    attachment: client.attachment,
    schema: "main",
    table: "people",
    name: "people_id",
    columns: ["id"],
    unique: true,
    ifNotExists: false,
    options: new Map(),
    ...more,
  });

async function rowIds(client: LakeClient, more: Partial<MessageOf<"read_index">>): Promise<(bigint | null)[]> {
  const { attachment } = client;
  const shape = await client.ask("index_shape", {
    type: "describe_index",
    attachment,
    snapshot: undefined,
    schema: "main",
    table: "people",
    index: "people_id",
  });
  expect(shape.columns).toEqual([{ name: "id", type: "BIGINT" }]);
  const { batch } = await client.ask("row_ids", {
    type: "read_index",
    attachment,
    snapshot: undefined,
    index: shape.index,
    kind: "lookup",
    flags: { lowerInclusive: true, upperInclusive: true, reverse: false },
    keys: [],
    ...more,
  });
  expect(batch.columns.map(({ type }) => type)).toEqual(["BIGINT", "UBIGINT"]);
  return integers(batch, 0);
}

describe("a lake through the service", () => {
  test("is made by the first commit, followed, and found again", async () => {
    const first = await attach();
    expect(first.exists).toBe(false);
    expect((await first.follow()).kind).toBe("unchanged");
    await first.create(join(folder, "data/"));
    expect((await first.follow()).kind).toBe("unchanged");

    const second = await attach();
    expect(second.exists).toBe(true);
    const loaded = await second.follow();
    expect(loaded.kind).toBe("full");
    expect(loaded.statements.every((sql) => sql.startsWith("CREATE TABLE "))).toBe(true);
    expect(loaded.rows.map(({ table }) => table)).toContain("ducklake_schema");

    const { changes } = first.createTable("people");
    await first.commit(changes);
    expect((await first.follow()).kind).toBe("unchanged");
    const followed = await second.follow();
    expect(followed.kind).toBe("changes");
    expect(followed.revision).toBe(first.revision);
    expect(followed.rows.map(({ table }) => table).toSorted()).toEqual(
      expect.arrayContaining(["ducklake_column", "ducklake_snapshot", "ducklake_table"]),
    );
  });

  test("a stale commit is refused as a conflict, and who repeats it goes first", async () => {
    const { client: slow } = await lakeWithTable();
    const quick = await attach();
    await quick.follow();
    await quick.commit(quick.createTable("quick").changes);
    const failed = await refusal(slow.commit(slow.createTable("slow").changes));
    expect(failed).toMatchObject({ code: "commit_conflict", exception: "Transaction", retryable: true });
    expect(failed.message).toContain("conflict");

    await slow.follow({ retry: true });
    // The others wait until the one that repeats has committed, and are stale then themselves.
    const overtaking = refusal(quick.commit(quick.createTable("quicker").changes));
    await slow.commit(slow.createTable("slow").changes);
    expect((await overtaking).code).toBe("commit_conflict");
  });

  test("who repeats a commit goes first whatever else it begins before", async () => {
    const { client: slow } = await lakeWithTable();
    const quick = await attach();
    await quick.follow();
    await quick.commit(quick.createTable("quick").changes);
    await refusal(slow.commit(slow.createTable("slow").changes));
    // Of another connection to the same database.
    await slow.follow();
    await slow.follow({ retry: true });
    const overtaking = refusal(quick.commit(quick.createTable("quicker").changes));
    await slow.commit(slow.createTable("slow").changes);
    expect((await overtaking).code).toBe("commit_conflict");
  });

  test("who gives up lets the others go on at once, and so does who takes too long", async () => {
    const { client: slow } = await lakeWithTable();
    const quick = await attach();
    await quick.follow();
    await quick.commit(quick.createTable("quick").changes);
    await refusal(slow.commit(slow.createTable("slow").changes));
    await slow.follow({ retry: true });
    const waiting = quick.commit(quick.createTable("second").changes);
    await slow.follow();
    expect(await waiting).toBe(quick.revision);
    await refusal(slow.commit(slow.createTable("slow").changes, { base: 0n }));
    await slow.follow({ retry: true });
    // Nobody lets go of the floor here: it is the time that runs out.
    const revision = quick.revision ?? 0n;
    expect(await quick.commit(quick.createTable("third").changes)).toBe(revision + 1n);
  });

  test("an answer that was lost: the commit is found, and not made twice", async () => {
    const { client } = await lakeWithTable();
    const base = client.revision;
    const { changes } = client.createTable("again");
    const revision = await client.commit(changes, { base });
    expect(await client.commit(changes, { base, mayHaveLanded: true })).toBe(revision);
    const other = client.createTable("never");
    expect((await refusal(client.commit(other.changes, { base, mayHaveLanded: true }))).code).toBe("commit_conflict");
  });

  test("the only client is told what it did not commit itself, without loading everything", async () => {
    const { client, table } = await lakeWithTable();
    await client.commit(client.insertInlined(table, 0n, [[7n, "Ada"]]));
    expect(await createIndex(client)).toMatchObject({ changed: true });
    expect(await client.follow()).toMatchObject({ kind: "changes" });
    // Alone again: its own commits are nobody's news, and the next ones of others are.
    await client.commit(client.insertInlined(table, 1n, [[8n, "Bo"]]));
    expect(await client.follow()).toMatchObject({ kind: "unchanged" });
    expect(
      await client.ask("done", {
        type: "drop_index",
        attachment: client.attachment,
        schema: "main",
        name: "people_id",
        ifExists: false,
      }),
    ).toMatchObject({ changed: true });
    expect(await client.follow()).toMatchObject({ kind: "changes" });
  });

  test("who follows on takes everything as somebody else was sent it, and then what was committed since", async () => {
    const { client, table } = await lakeWithTable();
    await client.commit(client.insertInlined(table, 0n, longRows(1_000)));
    // Rendered for this one, and remembered.
    await (await attach()).follow();
    const loaded = client.revision;
    await client.commit(client.insertInlined(table, 1_000n, [[1_000n, "Ada"]]));
    const older = await attach();
    expect(await older.follow({ mayBeOlder: true })).toMatchObject({ kind: "full", revision: loaded });
    const since = await older.follow({ mayBeOlder: true });
    expect(since).toMatchObject({ kind: "changes", revision: client.revision });
    expect(since.rows.find(({ table: name }) => name === "ducklake_inlined_data_1_1")?.batch.rows).toBe(1);
    const whole = await (await attach()).follow();
    expect(whole).toMatchObject({ kind: "full", revision: client.revision });
    // A way that is long beside the load is not gone.
    await client.commit(client.insertInlined(table, 1_001n, longRows(500)));
    const newest = await (await attach()).follow({ mayBeOlder: true });
    expect(newest).toMatchObject({ kind: "full", revision: client.revision });
  });

  test("the only client leaves a way to the next one, as long as what it was sent is remembered", async () => {
    const { client, table } = await lakeWithTable();
    await client.commit(client.insertInlined(table, 0n, longRows(1_000)));
    await detach(client);
    const alone = await attach();
    const { revision: loaded } = await alone.follow();
    for (const name of ["first", "second"]) {
      await alone.commit(alone.createTable(name).changes);
      expect((await alone.follow()).kind).toBe("unchanged");
    }
    const { revision } = alone;
    await detach(alone);
    const next = await attach();
    expect(await next.follow({ mayBeOlder: true })).toMatchObject({ kind: "full", revision: loaded });
    expect(await next.follow()).toMatchObject({ kind: "changes", revision });
  });

  test("indexes are created, enforced, read at pinned cuts and dropped", async () => {
    const { client, table } = await lakeWithTable();
    await client.commit(
      client.insertInlined(table, 0n, [
        [7n, "Ada"],
        [9n, "Bo"],
        [null, "nobody"],
      ]),
    );
    expect(await createIndex(client)).toMatchObject({ changed: true });
    expect(await createIndex(client, { ifNotExists: true, name: "PEOPLE_ID" })).toMatchObject({ changed: false });
    expect((await refusal(createIndex(client))).code).toBe("already_exists");
    const key = (...ids: (bigint | null)[]) => [batchOf(column("BIGINT", ids))];
    expect(await rowIds(client, { keys: key(9n) })).toEqual([1n]);
    expect(await rowIds(client, { kind: "in", keys: key(9n, 7n, 8n, null) })).toEqual([0n, 1n]);
    const open = { rows: 1, columns: [] };
    expect(await rowIds(client, { kind: "range", keys: [...key(7n), open] })).toEqual([0n, 1n]);
    expect(await rowIds(client, { kind: "nulls", keys: key(null) })).toEqual([2n]);

    await client.follow();
    const pinned = client.position.snapshot;
    const before = client.revision;
    await client.commit(client.insertInlined(table, 3n, [[8n, "Cy"]]));
    expect(await rowIds(client, { keys: key(8n) })).toEqual([3n]);
    expect(await rowIds(client, { keys: key(8n), snapshot: pinned })).toEqual([]);
    await client.follow({ oldestInUse: before! });
    expect(await rowIds(client, { keys: key(8n), snapshot: pinned })).toEqual([]);
    await client.follow();
    expect((await refusal(rowIds(client, { keys: key(8n), snapshot: pinned }))).code).toBe("unsupported");

    const failed = await refusal(client.commit(client.insertInlined(table, 4n, [[8n, "double"]])));
    expect(failed).toMatchObject({ code: "constraint", exception: "Catalog", retryable: false });
    expect(failed.message).not.toMatch(/conflict|concurrent|unique|primary key/i);

    const { batch } = await client.ask("indexes", {
      type: "list_indexes",
      attachment: client.attachment,
      snapshot: undefined,
      schema: "main",
      table: "people",
    });
    expect(batch.rows).toBe(1);
    const drop = (ifExists: boolean) =>
      client.ask("done", {
        type: "drop_index",
        attachment: client.attachment,
        schema: "main",
        name: "people_id",
        ifExists,
      });
    expect(await drop(false)).toMatchObject({ changed: true });
    expect(await drop(true)).toMatchObject({ changed: false });
    expect((await refusal(drop(false))).code).toBe("not_found");
  });

  test("names with DuckLake's retry words are broken in refusals, and stay readable", async () => {
    const { client } = await lakeWithTable();
    const failed = await refusal(createIndex(client, { table: "unique_conflict" }));
    expect(failed.message).toContain("u·nique_c·onflict");
    expect(failed.message).not.toMatch(/conflict|concurrent|unique|primary key/i);
  });

  test.each([
    ["an option that nobody knows", { options: new Map([["colour", "red"]]) }, "invalid_argument"],
    ["an option that this service has nothing for", { options: new Map([["cache_dir", "x"]]) }, "unsupported"],
    ["half of a secret", { storeSecret: new Map([["key_id", "x"]]) }, "invalid_argument"],
    ["the store of another service", { store: "elsewhere" }, "invalid_argument"],
  ])("attaching with %s is refused", async (_, more, code) => {
    expect((await refusal(attach(more))).code).toBe(code);
  });

  test("a read-only attachment of a store that is not there has no tables, and makes nothing", async () => {
    const reader = await attach({ readOnly: true });
    expect(reader.exists).toBe(false);
    expect((await reader.follow()).kind).toBe("unchanged");
    expect((await refusal(reader.create(join(folder, "data/")))).code).toBe("invalid_argument");
    expect(existsSync(store)).toBe(false);
    // The lake is made by whoever writes, with its settings.
    const writer = await attach({ cwd: folder });
    expect(writer.exists).toBe(false);
    await writer.create("data/");
    expect((await reader.follow()).kind).toBe("full");
  });

  test.each(["", "/below"])(
    "a plain file in the place of a store is no lake, and none is made there (%s)",
    async (below) => {
      writeFileSync(join(folder, "plain"), "");
      const [socketOfFile, location] = [join(folder, "socket-2"), join(folder, `plain${below}`)];
      const other = await LakeServer.listen(socketOfFile, location);
      try {
        expect((await LakeClient.attach(socketOfFile, location, { readOnly: true })).exists).toBe(false);
        const failed = await refusal(LakeClient.attach(socketOfFile, location));
        expect(failed).toMatchObject({ code: "configuration", retryable: false });
        expect(failed.message).toContain(`${join(folder, "plain")} is a file`);
      } finally {
        await other.stop();
      }
    },
  );

  test("a data path may contain the store, and not lie in it", async () => {
    const client = await attach();
    for (const dataPath of [store, join(store, "data")]) {
      const failed = await refusal(client.create(`${dataPath}/`));
      expect(failed.code).toBe("configuration");
      expect(failed.message).toContain("overlap");
    }
    await client.create(`${folder}/`);
    const again = await attach();
    expect(again.exists).toBe(true);
  });

  test("a relative data path is one folder for all", async () => {
    const first = await attach({ cwd: folder });
    await first.create("data/");
    const failed = await refusal(attach({ cwd: join(folder, "elsewhere") }));
    expect(failed.code).toBe("configuration");
    expect(failed.message).toContain(join(folder, "data/"));
    expect(failed.message).toContain(join(folder, "elsewhere/data/"));
    await attach({ cwd: folder });
  });

  test("an attachment ends with its last connection, and with it what it keeps", async () => {
    const { client } = await lakeWithTable();
    const joined = await LakeClient.connect(socket);
    await joined.ask("joined", { type: "join", attachment: client.attachment });
    client.wire.close();
    joined.attachment = client.attachment;
    expect((await joined.follow()).kind).toBe("full");
    joined.wire.close();
    const last = await LakeClient.connect(socket);
    await expect
      .poll(async () => (await refusal(last.ask("joined", { type: "join", attachment: client.attachment }))).code)
      .toBe("not_found");
  });

  test("status names who is attached", async () => {
    const { client } = await lakeWithTable();
    const { json } = await client.ask("status_report", { type: "status" });
    expect(JSON.parse(json)).toMatchObject({
      snapshot: "1",
      // Without the mark of the lake, by which clients know it.
      revision: String(BigInt.asUintN(40, client.revision ?? 0n)),
      clients: [{ pid: String(process.pid), program: "test", lakes: [{ name: "lake", readOnly: false }] }],
    });
  });
});

describe("a service", () => {
  test("survives whatever comes over a connection", async () => {
    const { client } = await lakeWithTable();
    const hello = encodeFrame({ type: "hello", magic: 0x4d524e58, version: 1, client: "x", pid: 1n, program: "x" });
    const cases: readonly Uint8Array[] = [
      Uint8Array.of(0, 0, 0, 0),
      Uint8Array.of(255, 255, 255, 255, 1),
      Uint8Array.of(1, 0, 0, 0, 0x60),
      encodeFrame({
        type: "follow",
        attachment: 1n,
        revision: undefined,
        oldestInUse: undefined,
        flags: { retry: false, mayBeOlder: false },
      }),
      Buffer.concat([hello, hello]),
      Buffer.concat([hello, Uint8Array.of(2, 0, 0, 0, 0x0c, 0)]),
      hello.subarray(0, 9),
      Buffer.concat([hello, encodeFrame({ type: "unchanged" })]),
    ];
    for (const bytes of cases) {
      const raw = await ServiceClient.connectRaw(socket);
      raw.send(bytes);
      raw.close();
    }
    for (const bytes of cases.slice(0, 6)) {
      const raw = await ServiceClient.connectRaw(socket);
      raw.send(bytes);
      let last = await raw.receive();
      if (last.type === "welcome") last = await raw.receive();
      expect(last).toMatchObject({ type: "failed", code: "protocol", retryable: false });
      await expect(raw.receive()).rejects.toThrow("closed the connection");
    }
    expect((await client.follow()).kind).toBe("unchanged");
  });

  test("names both versions to a client of another one", async () => {
    await expect(ServiceClient.connect(socket, "test", 9)).rejects.toThrow(/version 9 .* version 1/);
  });

  test("that is asked to stop finishes what runs", async () => {
    const { client, table } = await lakeWithTable();
    const committing = client.commit(client.insertInlined(table, 0n, [[1n, "a"]]));
    const asking = await LakeClient.connect(socket);
    await asking.ask("done", { type: "stop" });
    const outcome = await committing.then(
      (revision) => revision,
      (error: unknown) => error,
    );
    await service.stop();
    expect(typeof outcome).toBe("bigint");
    service = await LakeServer.listen(socket, store);
    const again = await attach();
    await again.follow();
    expect(again.revision).toBe(outcome);
  });

  test("reads only until somebody comes who writes", async () => {
    await lakeWithTable();
    await service.stop();
    service = await LakeServer.listen(socket, store);
    const reader = await attach({ readOnly: true });
    expect((await reader.follow()).kind).toBe("full");
    expect((await reader.follow()).kind).toBe("unchanged");
    expect((await refusal(reader.commit(reader.createTable("x").changes))).code).toBe("invalid_argument");
    const { attachment } = reader;
    const list = { type: "list_indexes", attachment, snapshot: undefined, schema: "main", table: "people" } as const;
    expect((await refusal(reader.ask("indexes", list))).code).toBe("unsupported");

    const writer = await attach();
    await writer.follow();
    await writer.commit(writer.createTable("more").changes);
    expect((await reader.follow()).revision).toBe(writer.revision);
    await reader.ask("indexes", list);
  });
});
