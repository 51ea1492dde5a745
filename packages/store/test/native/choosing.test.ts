import { copyFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findAddon, libraryPath } from "../../src/native/find-addon.js";
import { platformOf } from "../../src/native/platform.js";
import { nativeLoopsAvailable } from "../ordered/every-loops.js";
import { temporaryFolder } from "../ordered/helpers.js";
import { compileSources, type CompiledSources } from "../compiled-sources.js";
import { runToEnd } from "./child.js";

const available = nativeLoopsAvailable("choice of the loops");

function addonPath(): string {
  const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
  if (found.addon === undefined) throw new Error(found.reason);
  return found.path;
}

describe("the choice of the loops", () => {
  let sources: CompiledSources;
  beforeAll(() => {
    sources = compileSources(
      ["codec", "store"],
      ["choosing-process", "loading-process"].map((name) => `store/test/native/${name}.ts`),
    );
  });
  afterAll(() => sources.remove());

  async function choose(mode: string | undefined, addon: string | undefined): Promise<unknown> {
    const { MORAINE_NATIVE: _, MORAINE_NATIVE_ADDON: __, ...env } = process.env;
    const ended = await runToEnd(sources.path("store/test/native/choosing-process.ts"), [], {
      limitMs: 50_000,
      env: {
        ...env,
        ...(mode === undefined ? {} : { MORAINE_NATIVE: mode }),
        ...(addon === undefined ? {} : { MORAINE_NATIVE_ADDON: addon }),
      },
    });
    expect(ended).toMatchObject({ code: 0, signal: null });
    return JSON.parse(ended.stdout);
  }

  const values = [[2], [2]];
  const nowhere = "/nowhere/moraine-store.node";

  test("off: plain, without a word", async () => {
    expect(await choose("off", undefined)).toEqual({
      inUse: { name: "plain", reason: "MORAINE_NATIVE is off" },
      values,
      warnings: [],
    });
  });

  test.each(["auto", "", undefined])(
    "%o without the addon: plain, with one warning, and everything works",
    async (mode) => {
      const reason = expect.stringContaining("Cannot find module '/nowhere/moraine-store.node'") as unknown;
      expect(await choose(mode, nowhere)).toEqual({
        inUse: { name: "plain", reason },
        values,
        warnings: [{ code: "MORAINE_PLAIN_BINDING", message: reason }],
      });
    },
  );

  test("on without the addon: an error that says why", async () => {
    expect(await choose("on", nowhere)).toEqual({
      code: "configuration",
      message: expect.stringContaining("Cannot find module '/nowhere/moraine-store.node'") as unknown,
    });
  });

  test("another word: an error", async () => {
    expect(await choose("yes", undefined)).toEqual({
      code: "configuration",
      message: expect.stringContaining("MORAINE_NATIVE is neither auto, on nor off") as unknown,
    });
  });

  test("a file that is no addon, and an addon that is not ours", async () => {
    const text = join(temporaryFolder(), "text.node");
    writeFileSync(text, "not an addon");
    expect(await choose(undefined, text)).toMatchObject({
      inUse: {
        name: "plain",
        reason: expect.stringMatching(/invalid ELF header|file too short|not a mach-o/iu) as unknown,
      },
      values,
      warnings: [{ code: "MORAINE_PLAIN_BINDING" }],
    });
    const other = join(temporaryFolder(), "other.cjs");
    writeFileSync(other, "exports.load = () => ({ loaded: true });");
    expect(await choose("on", other)).toEqual({
      code: "configuration",
      message: expect.stringContaining(`${other} is another addon`) as unknown,
    });
  });

  describe.skipIf(!available)("where there is an addon", () => {
    test("an empty path of the addon is none", async () => {
      expect(await choose(undefined, "")).toEqual(await choose(undefined, undefined));
    });

    test("a relative path of the addon counts from the current folder", async () => {
      const path = relative(process.cwd(), addonPath());
      expect(await choose("on", path)).toMatchObject({ inUse: { name: "native" } });
    });

    test.each(["auto", "on", "", undefined])("%o: native, without a word", async (mode) => {
      expect(await choose(mode, addonPath())).toEqual({ inUse: { name: "native" }, values, warnings: [] });
    });

    test("a library that is not the loaded one, is another one, or lacks a function is refused, and nothing is changed by it", async () => {
      const library = libraryPath(platformOf(process).name ?? "");
      const copy = join(temporaryFolder(), "copy.so");
      copyFileSync(library, copy);
      const script = sources.path("store/test/native/loading-process.ts");
      const ended = await runToEnd(script, [addonPath(), library, copy], { limitMs: 50_000 });
      expect(ended).toMatchObject({ code: 0, signal: null, stderr: "" });
      const notLoaded = { loaded: false, reason: "the library is not loaded in this process", details: [] };
      const missing = { loaded: false, reason: "the library lacks functions", details: ["slatedb_does_not_have_this"] };
      const loaded = { loaded: true, futuresLeak: expect.any(Boolean) as unknown };
      expect(JSON.parse(ended.stdout)).toEqual({
        before: "MORAINE_NATIVE_NOT_LOADED",
        "not loaded": notLoaded,
        "no file": notLoaded,
        "no library": notLoaded,
        "another library": {
          loaded: false,
          reason: "the library lacks functions",
          details: expect.arrayContaining(["ffi_slatedb_uniffi_rustbuffer_alloc"]) as unknown,
        },
        "a copy that is not loaded": notLoaded,
        "a function that is missing": missing,
        "still before": "MORAINE_NATIVE_NOT_LOADED",
        it: loaded,
        again: loaded,
        "a copy that is loaded": {
          loaded: false,
          reason: "another copy of the library is in use already",
          details: [],
        },
        "missing, afterwards": missing,
        "after all": loaded,
      });
    });
  });
});
