import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nativeLoopsAvailable } from "../ordered/every-loops.js";
import { compileSources, type CompiledSources } from "../compiled-sources.js";
import { nativeAddon } from "./addon.js";
import { BusyStore } from "./busy-store.js";
import { runToEnd } from "./child.js";

// `npm run test:faults` runs the long form.
const isLong = (process.env["MORAINE_FAULTS"] ?? "") !== "";
const closings = 100;
const workers = isLong ? 100 : 12;
const processes = isLong ? 100 : 5;
/** A process that has not ended by then hangs. */
const limitMs = 60_000;

const available = nativeLoopsAvailable("ends of the native loops");

describe.skipIf(!available)("what ends in the middle of native calls", () => {
  let sources: CompiledSources;
  beforeAll(() => {
    sources = compileSources(
      ["codec", "store"],
      ["busy-store", "teardown-process", "teardown-worker", "teardown-workers-process"].map(
        (name) => `store/test/native/${name}.ts`,
      ),
    );
  });
  afterAll(() => sources.remove());

  test(`a store, ${closings} times: every call is answered or refused`, { timeout: 120_000 }, async () => {
    const addon = nativeAddon();
    let closed = 0;
    for (let i = 0; i < closings; i++) {
      const busy = await BusyStore.open(addon, `memory://closing-${i}`);
      const rounds = Math.floor(Math.random() * 2);
      for (let round = 0; round <= rounds; round++) busy.start(round);
      const closing = busy.close();
      busy.start(i);
      const tally = await busy.settled();
      await closing;
      expect(tally.other).toEqual([]);
      closed += tally.closed;
    }
    // Those that were started after the closing had begun, at least.
    expect(closed).toBeGreaterThanOrEqual(closings);
  });

  test.each(["here first", "alone"])(
    `${workers} workers, with the binding loaded %s: the process lives on and answers`,
    { timeout: limitMs * 4 },
    async (order) => {
      const script = sources.path("store/test/native/teardown-workers-process.ts");
      const ended = await runToEnd(script, [`${workers}`, order === "alone" ? "alone" : ""], {
        limitMs: limitMs * 3,
      });
      expect(ended).toEqual({
        code: 0,
        signal: null,
        stdout: `${".".repeat(workers)}\nother 0 closed 0 answered true\n`,
        stderr: "",
      });
    },
  );

  test.each([
    ["exit", 7],
    ["natural", 0],
  ])("%s of %i processes", { timeout: processes * limitMs }, async (how, code) => {
    for (let i = 0; i < processes; i++) {
      const after = Math.floor(Math.random() * 30_000);
      const script = sources.path("store/test/native/teardown-process.ts");
      const ended = await runToEnd(script, [how, `${after}`], { limitMs });
      expect({ after, ...ended }).toEqual({
        after,
        code,
        signal: null,
        stdout: expect.stringMatching(
          /^ended after \d+ rounds, \{"answered":\d+,"closed":0,"other":\[\]\}\n$/u,
        ) as unknown,
        stderr: "",
      });
    }
  });
});
