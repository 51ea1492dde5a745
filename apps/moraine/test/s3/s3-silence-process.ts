// A process that meets a silent S3. Arguments: store, data path, what to do. `ready` is printed before it waits for a line on
// its input; then what became of the work, and how long it took in milliseconds.
import { writeSync } from "node:fs";
import { once } from "node:events";
import { Catalog, type DataFile, mainSchema, MoraineError } from "moraine";

const [store = "", dataPath = "", work = "", file = ""] = process.argv.slice(2);
const requestTimeoutMs = 1_500;

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

async function outcome(name: string, call: () => Promise<unknown>): Promise<void> {
  const began = performance.now();
  const code = await call().then(
    () => "landed",
    (error: unknown) => (error instanceof MoraineError ? error.code : String(error)),
  );
  say(`${name} ${code} ${Math.round(performance.now() - began)}`);
}

async function released(): Promise<void> {
  say("ready");
  await once(process.stdin, "data");
}

if (work === "open") {
  await released();
  await Promise.all([
    outcome("open", () => Catalog.open({ store, dataPath, requestTimeoutMs })),
    outcome("openReadOnly", () => Catalog.openReadOnly({ store, requestTimeoutMs })),
  ]);
} else {
  const catalog = await Catalog.open({ store, dataPath, requestTimeoutMs });
  const snapshot = await catalog.snapshot();
  const table = snapshot.tableByName(mainSchema, "events")!.id;
  const index = snapshot.indexBySchemaName(mainSchema, "events_id")!.id;
  await released();
  if (work === "register") {
    const described = JSON.parse(file) as DataFile;
    await outcome("register", () =>
      catalog.commit((tx) => tx.registerDataFile({ table, file: described, entries: "scoped-read" })),
    );
  }
  await outcome("commit", () => catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ id: 1_000_000 }] })));
  await outcome("again", () => catalog.commit((tx) => tx.inlineInsert({ table, rows: [{ id: 1_000_001 }] })));
  await outcome("lookup", () => catalog.indexLookup({ index, key: [5] }));
  await outcome("flush", () => catalog.flushInlined({ table }));
  await outcome("close", () => catalog.close());
}
say("done");
// The engine goes on trying to reach a place that does not answer, and keeps the process alive with that.
process.exit();
