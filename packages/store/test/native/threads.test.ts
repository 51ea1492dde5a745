import { once } from "node:events";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nativeLoopsAvailable } from "../ordered/every-loops.js";
import { compileSources, type CompiledSources } from "../compiled-sources.js";
import { runToEnd } from "./child.js";

const rounds = (process.env["MORAINE_FAULTS"] ?? "") === "" ? 20 : 500;

const available = nativeLoopsAvailable("threads of the native loops");

describe.skipIf(!available)("native loops of several threads", () => {
  let sources: CompiledSources;
  beforeAll(() => {
    const names = ["databases", "shared-ends-process", "shared-ends-worker", "store-worker"];
    sources = compileSources(
      ["codec", "store"],
      names.map((name) => `store/test/native/${name}.ts`),
    );
  });
  afterAll(() => sources.remove());

  test("two workers with a store each get their own values", { timeout: 600_000 }, async () => {
    const script = pathToFileURL(sources.path("store/test/native/store-worker.ts"));
    const checked = await Promise.all(
      ["one", "two"].map(async (name) => {
        const worker = new Worker(script, { workerData: { name, rounds } });
        const [message] = (await once(worker, "message")) as [unknown];
        const [code] = (await once(worker, "exit")) as [unknown];
        expect(code).toBe(0);
        return message;
      }),
    );
    const each = rounds * (3 * 500 + 50);
    expect(checked).toEqual([each, each]);
  });

  test("ends that another thread changes during the call are refused or used as they were", async () => {
    const ended = await runToEnd(sources.path("store/test/native/shared-ends-process.ts"), [], { limitMs: 50_000 });
    expect(ended).toEqual({ code: 0, signal: null, stdout: "answered and refused\n", stderr: "" });
  });
});
