import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { nativeLoopsAvailable } from "../ordered/every-loops.js";
import { compileSources, type CompiledSources } from "../compiled-sources.js";
import { isSanitized, runToEnd } from "./child.js";

const canLimit = process.platform === "linux" && !isSanitized;
const available = nativeLoopsAvailable("memory that native calls do not get") && canLimit;

describe.skipIf(!available)("native calls that get no memory", () => {
  let sources: CompiledSources;
  beforeAll(() => {
    const names = ["databases", "no-memory-process"];
    sources = compileSources(
      ["codec", "store"],
      names.map((name) => `store/test/native/${name}.ts`),
    );
  });
  afterAll(() => sources.remove());

  test("for a copy of their arguments throw, and the next ones are answered", async () => {
    const script = sources.path("store/test/native/no-memory-process.ts");
    const ended = await runToEnd(script, [], { limitMs: 50_000, memoryBytes: 1_200_000 * 1024 });
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: "" });
    expect(JSON.parse(ended.stdout)).toEqual(["Limit", "Limit", "Limit", "answered", "answered", "answered"]);
  });
});
