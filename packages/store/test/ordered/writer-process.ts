// A process that writes to a store until it is killed or fails. Arguments: location, writes in flight, bytes of padding in each, write-ahead objects for each checkpoint.
// Each batch `i` holds head=i and two more keys; `acknowledged i` is printed once the store has acknowledged it.
import { writeSync } from "node:fs";
import { BatchBuilder, getOne, openStore, valueAt, packKeys } from "../../src/index.js";

const [location = "", inFlight = "1", paddingBytes = "0", walObjects = ""] = process.argv.slice(2);
const padding = new Uint8Array(Number(paddingBytes));
const encoder = new TextEncoder();

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

const store = await openStore(location, walObjects === "" ? {} : { walObjectsPerCheckpoint: Number(walObjects) });
const head = await getOne(store, encoder.encode("head"));
let next = head === undefined ? 0 : Number(new TextDecoder().decode(head)) + 1;
say(`opened ${next}`);

async function writeLoop(): Promise<void> {
  for (;;) {
    const i = next++;
    const batch = new BatchBuilder();
    batch.put(encoder.encode(`a${i}`), encoder.encode(`${i}`));
    batch.put(encoder.encode("head"), encoder.encode(`${i}`));
    batch.put(encoder.encode(`b${i}`), encoder.encode(`${i}`));
    // Growing, so that the first ones fit even where the size of a file is limited.
    if (padding.length > 0) batch.put(encoder.encode(`padding${i}`), padding.subarray(0, (padding.length * i) / 10));
    await store.write(batch.finish());
    say(`acknowledged ${i}`);
  }
}

try {
  await Promise.all(Array.from({ length: Number(inFlight) }, writeLoop));
} catch (error) {
  const code = error instanceof Error && "code" in error ? String(error.code) : "none";
  say(`failed ${code}`);
  // What can still be read after that must be an error too, never an answer.
  const answer = await store.getMany(packKeys([encoder.encode("head")])).then(
    (values) => `answered ${valueAt(values, 0)?.length}`,
    (readError: unknown) =>
      `refused ${readError instanceof Error && "code" in readError ? String(readError.code) : "none"}`,
  );
  say(answer);
  await store.close();
  say("closed");
  // The engine goes on trying to reach a place that fails, and keeps the process alive with that.
  process.exit();
}
