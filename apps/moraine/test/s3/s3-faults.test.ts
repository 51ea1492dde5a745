import { MoraineError, type Transaction } from "moraine";
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { compileSources, type CompiledSources } from "../../../../packages/store/test/compiled-sources.js";
import { CuttingProxy } from "../../../../packages/store/test/cutting-proxy.js";
import { useS3Environment } from "../../../../packages/store/test/s3-environment.js";
import { hasS3Server, startS3Server, type S3Server } from "../../../../packages/store/test/s3-server.js";
import { WriterProcess } from "../../../../packages/store/test/writer-process.js";
import { EventLake, eventRow, events, type Place } from "./event-lake.js";

// `npm run test:faults` runs the long form.
const isLong = (process.env["MORAINE_FAULTS"] ?? "") !== "";
const killRounds = isLong ? 60 : 3;
const stopRounds = isLong ? 40 : 3;
/** Opening and reads of data files have time limits of their own, which are long. */
const silentWorks = isLong ? ["commit", "open", "register"] : ["commit"];
const dataTimeoutMs = 30_000;
/** Time limits of the processes that meet a silent server: of a request, of the preflight; and how much later they may end. */
const [requestTimeoutMs, preflightTimeoutMs, slackMs] = [1_500, 10_000, 4_000];
const maxMomentMs = 150;
const deleteAfterCommits = 10;

describe.skipIf(!hasS3Server("lakes in S3 that fail"))("a lake in an S3 that fails", () => {
  let server: S3Server;
  let proxy: CuttingProxy;
  let sources: CompiledSources;
  let restore: () => void;
  let lakes = 0;

  beforeAll(async () => {
    sources = compileSources(
      ["codec", "store", "index-core", "scoped-reader", "catalog", "moraine"],
      ["moraine/test/s3/s3-writer-process.ts", "moraine/test/s3/s3-silence-process.ts"],
    );
    server = await startS3Server();
    await server.createBucket("lakes");
    proxy = await CuttingProxy.start(server.port);
    restore = useS3Environment(server);
  });
  afterEach(() => proxy.set(undefined));
  afterAll(async () => {
    restore();
    await proxy.stop();
    await server.stop();
    sources.remove();
  });

  function freshPlace(): Place {
    const name = `lake-${++lakes}`;
    return { store: `s3://lakes/${name}/store`, dataPath: `s3://lakes/${name}/data` };
  }

  function start(script: string, args: readonly string[], endpoint = server.endpoint): WriterProcess {
    const child = new WriterProcess(sources.path(`moraine/test/s3/${script}-process.ts`), args, {
      env: { ...process.env, AWS_ENDPOINT: endpoint },
    });
    onTestFinished(() => child.kill());
    return child;
  }

  it(
    `a writer killed at ${killRounds} random moments has lost no commit and left every index whole`,
    { timeout: 60_000 + killRounds * 10_000 },
    async () => {
      const lake = await EventLake.create(freshPlace());
      const { store, dataPath } = lake.place;
      await lake.close();
      let landed: ReadonlyMap<number, boolean> = new Map();
      for (let round = 0; round < killRounds; round++) {
        const until = ["acknowledged", "flushing", "flushed"][round % 3]!;
        const inFlight = until === "flushed" ? 1 : 4;
        const first = Math.max(-1, ...landed.keys()) + 1;
        const writer = start("s3-writer", [store, dataPath, `${inFlight}`, `${first}`]);
        await writer.line(until);
        await moment();
        await writer.kill();

        await lake.open();
        await lake.expectVerified();
        const found = await landedCommits(lake);
        const acknowledged = new Set([...landed.keys(), ...writer.acknowledged]);
        expect([...acknowledged].filter((i) => !found.has(i))).toEqual([]);
        expect(found.size - acknowledged.size).toBeLessThanOrEqual(inFlight);
        expect(await lake.duckDb.bigints("SELECT id FROM live ORDER BY id")).toEqual(idsOf(found));
        landed = found;
        await lake.close();
      }
      expect(landed.size).toBeGreaterThan(killRounds);
    },
  );

  it(
    `a server that stops ${stopRounds} times among commits leaves each of them whole or not at all`,
    { timeout: 60_000 + stopRounds * 20_000 },
    async () => {
      const lake = await EventLake.create(freshPlace());
      const failures = new Set<string>();
      const expected = new Set<bigint>();
      let next = 0;
      for (let round = 0; round < stopRounds; round++) {
        const catalog = await lake.open({ requestTimeoutMs: 4_000 });
        const table = await lake.table();
        const commits: { readonly ids: readonly bigint[]; readonly outcome: string }[] = [];
        const commit = async (ids: readonly bigint[], closure: (tx: Transaction) => unknown): Promise<boolean> => {
          const outcome = await outcomeOf(catalog.commit(closure));
          commits.push({ ids, outcome });
          return outcome === "landed";
        };
        const fileIds = idsFrom(next, 40);
        const file = await lake.putFile(`round-${round}.parquet`, events(next, 40));
        next += 40;
        let isOver = false;
        const loops = Array.from({ length: 3 }, async () => {
          for (let goesOn = true; goesOn && !isOver;) {
            const rows = [eventRow(next), eventRow(next + 1)];
            const ids = idsFrom(next, 2);
            next += 2;
            goesOn = await commit(ids, (tx) => tx.inlineInsert({ table, rows }));
          }
        });
        await vi.waitFor(() => expect(commits.length).toBeGreaterThan(2), { timeout: 20_000, interval: 5 });
        const register = { table, file, entries: "scoped-read" } as const;
        const work = Promise.all([...loops, commit(fileIds, (tx) => tx.registerDataFile(register))]);
        await moment();
        await server.kill();
        // Half of the time it comes back while commits wait for it, otherwise when all of them have failed.
        await (round % 2 === 0 ? moment() : work);
        await server.restart();
        isOver = true;
        await work;

        // A handle that has failed stays failed; what it left is seen when the lake is opened again.
        await lake.open();
        await lake.expectVerified();
        const found = new Set(await lake.duckDb.bigints("SELECT id FROM live"));
        for (const { ids, outcome } of commits) {
          const there = ids.filter((id) => found.has(id));
          expect(outcome === "landed" ? [ids.length] : [0, ids.length]).toContain(there.length);
          for (const id of there) expected.add(id);
          if (outcome !== "landed") failures.add(outcome);
        }
        expect(found).toEqual(expected);
      }
      expect([...failures]).toEqual(["store_unavailable"]);
    },
  );

  it.each(silentWorks)(
    "a process that meets a silent server (%s) is told within the time limits, and can end",
    { timeout: 120_000 },
    async (work) => {
      const lake = await EventLake.create(freshPlace());
      const table = await lake.table();
      const first = await lake.putFile("first.parquet", events(0, 20));
      await lake.catalog.commit((tx) => tx.registerDataFile({ table, file: first, entries: "scoped-read" }));
      const file = await lake.putFile("second.parquet", events(20, 20));
      await lake.close();
      const described = JSON.stringify(file, (_, value: unknown) =>
        typeof value === "bigint" ? Number(value) : value,
      );
      const { store, dataPath } = lake.place;
      const child = start("s3-silence", [store, dataPath, work, described], `http://127.0.0.1:${proxy.port}`);
      await child.line("ready");
      proxy.set({ kind: "stall", afterBytes: 0 });
      child.tell("go");
      await child.line("done");
      const ending = performance.now();
      await child.ended();
      expect(performance.now() - ending).toBeLessThan(slackMs);

      const limits: Record<string, number> = {
        open: preflightTimeoutMs,
        openReadOnly: preflightTimeoutMs,
        register: dataTimeoutMs,
        close: 30_000,
      };
      const outcomes = child.lines.filter((line) => line !== "ready" && line !== "done");
      expect(outcomes.length).toBeGreaterThan(1);
      for (const line of outcomes) {
        const [name = "", code, took] = line.split(" ");
        if (name !== "close") expect(code, line).toBe("store_unavailable");
        expect(Number(took), line).toBeLessThan((limits[name] ?? requestTimeoutMs) + slackMs);
      }
      proxy.set(undefined);
      await lake.open();
      await lake.expectVerified();
    },
  );
});

/** What became of a call: `landed`, or the code of its error. */
async function outcomeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
    return "landed";
  } catch (error) {
    if (error instanceof MoraineError) return error.code;
    throw error;
  }
}

function idsFrom(first: number, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => BigInt(first + i));
}

/** The random moment is what is tested; nothing waits for it to be long enough. */
async function moment(): Promise<void> {
  const ms = Math.random() * maxMomentMs;
  await new Promise<void>((resolve) => {
    setTimeout(resolve, ms);
  });
}

/** The commits of the writer process that have landed, with whether each of them deleted an event. */
async function landedCommits(lake: EventLake): Promise<Map<number, boolean>> {
  const rows = await lake.duckDb.rows("SELECT id, name FROM live WHERE id % 2 = 1");
  return new Map(rows.map(({ id, name }) => [Number(((id as bigint) - 1n) / 2n), name === "deleted"]));
}

/** What the table must hold when exactly these commits have landed. */
function idsOf(landed: ReadonlyMap<number, boolean>): bigint[] {
  const ids: bigint[] = [];
  for (const i of landed.keys()) {
    ids.push(BigInt(2 * i + 1));
    if (landed.get(i + deleteAfterCommits) !== true) ids.push(BigInt(2 * i));
  }
  return ids.sort((a, b) => (a < b ? -1 : 1));
}
