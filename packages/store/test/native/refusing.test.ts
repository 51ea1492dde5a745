import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LoadAnswer } from "../../src/native/addon.js";
import { findAddon } from "../../src/native/find-addon.js";
import { compileSources, type CompiledSources } from "../compiled-sources.js";
import { nativeLoopsAvailable } from "../ordered/every-loops.js";
import { temporaryFolder } from "../ordered/helpers.js";
import { runToEnd } from "./child.js";
import { buildStub, findCompiler, type Functions } from "./stub-library.js";

const contractVersion = "ffi_slatedb_uniffi_uniffi_contract_version";
/** Functions whose signatures have checksums; those that count references have none. */
const signature = /^uniffi_slatedb_uniffi_fn_(?=method_|constructor_)/u;

const binding = fileURLToPath(import.meta.resolve("@slatedb/uniffi"));
const requireOfBinding = createRequire(binding);

/** What a function of the binding's own library gives. */
function ownValue(name: string): number {
  const koffi = requireOfBinding("koffi") as {
    load(path: string): { func(name: string, result: string, args: readonly string[]): () => number };
  };
  const library = join(dirname(binding), "prebuilds", `linux-${process.arch}-gnu`, "libslatedb_uniffi.so");
  return koffi.load(library).func(name, "uint16_t", [])();
}

const compiler = await findCompiler();
if (compiler === undefined) process.stderr.write("skipped: libraries that are refused (no C++ compiler)\n");
const available = nativeLoopsAvailable("libraries that are refused") && compiler !== undefined;

describe.skipIf(!available)("a library with another interface", () => {
  let sources: CompiledSources;
  beforeAll(() => {
    sources = compileSources(
      ["codec", "store"],
      ["choosing-process", "refusing-process"].map((name) => `store/test/native/${name}.ts`),
    );
  });
  afterAll(() => sources.remove());

  function addonPath(): string {
    const found = findAddon(process.env["MORAINE_NATIVE_ADDON"]);
    if (found.addon === undefined) throw new Error(found.reason);
    return found.path;
  }

  function stub(functions: Functions): Promise<string> {
    if (compiler === undefined) throw new Error("there is no compiler");
    return buildStub(compiler, functions);
  }

  /** What the addon answers for libraries of these functions. */
  async function answers(...libraries: readonly Functions[]): Promise<LoadAnswer[]> {
    const paths: string[] = [];
    for (const functions of libraries) paths.push(await stub(functions));
    const script = sources.path("store/test/native/refusing-process.ts");
    const ended = await runToEnd(script, [addonPath(), ...paths], { limitMs: 50_000 });
    expect(ended).toMatchObject({ code: 0, signal: null, stderr: "" });
    return JSON.parse(ended.stdout) as LoadAnswer[];
  }

  /** What the addon says that a library of these functions lacks or has otherwise. */
  async function refusedFor(functions: Functions, reason: string): Promise<readonly string[]> {
    const [answer] = await answers(functions);
    expect(answer).toMatchObject({ loaded: false, reason });
    return answer?.loaded === false ? answer.details : [];
  }

  test(
    "is refused by the name of what differs, and the store works with the plain binding",
    { timeout: 120_000 },
    async () => {
      const names = await refusedFor(new Map(), "the library lacks functions");
      expect(names).toContain(contractVersion);
      const functions = new Map(names.map((name) => [name, name === contractVersion ? 30 : 0]));
      const checksums = await refusedFor(functions, "methods of the library have changed");
      // Whatever is called is checked.
      expect([...checksums].sort()).toEqual(
        names
          .filter((name) => signature.test(name))
          .map((name) => name.replace(signature, "uniffi_slatedb_uniffi_checksum_"))
          .sort(),
      );

      const same = new Map([...functions, ...checksums.map((name) => [name, ownValue(name)] as const)]);
      const version = new Map(same).set(contractVersion, 29);
      const changed = checksums.map((name) => new Map(same).set(name, (same.get(name) ?? 0) ^ 1));
      const lacking = new Map(same);
      lacking.delete("uniffi_slatedb_uniffi_fn_method_db_shutdown");
      const found = await answers(version, lacking, ...changed.slice(0, 1), ...changed.slice(-1));
      const refused = { loaded: false };
      expect(found).toEqual([
        { ...refused, reason: "the library follows another contract version", details: ["29"] },
        {
          ...refused,
          reason: "the library lacks functions",
          details: ["uniffi_slatedb_uniffi_fn_method_db_shutdown"],
        },
        ...[checksums.at(0), checksums.at(-1)].map((name) => {
          return { ...refused, reason: "methods of the library have changed", details: [name] };
        }),
      ]);

      expect(await chosenWith(await stub(version))).toEqual({
        inUse: { name: "plain", reason: "the library follows another contract version, 29" },
        values: [[2], [2]],
        warnings: [expect.objectContaining({ code: "MORAINE_PLAIN_BINDING" })],
      });
    },
  );

  /** Which loops a process chooses whose addon finds this library. */
  async function chosenWith(library: string): Promise<unknown> {
    const addon = join(temporaryFolder(), "addon.cjs");
    const [koffi, path, found] = [requireOfBinding.resolve("koffi"), addonPath(), library].map((each) =>
      JSON.stringify(each),
    );
    writeFileSync(
      addon,
      `require(${koffi}).load(${found});\nconst addon = require(${path});\nmodule.exports = { ...addon, load: () => addon.load(${found}) };\n`,
    );
    const ended = await runToEnd(sources.path("store/test/native/choosing-process.ts"), [], {
      limitMs: 50_000,
      env: { ...process.env, MORAINE_NATIVE: "auto", MORAINE_NATIVE_ADDON: addon },
    });
    expect(ended).toMatchObject({ code: 0, signal: null });
    return JSON.parse(ended.stdout);
  }
});
