import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { compilerCandidates, compilerProblem, compilerVersion, runCompiler } from "../../native/compiler.mjs";
import { flagsOf } from "../../native/target.mjs";
import { temporaryFolder } from "../ordered/helpers.js";

type Compiler = ReturnType<typeof compilerCandidates>[number];

const { compile, link } = flagsOf({ release: false, sanitize: false, strict: false }, { staticRuntime: false });
const flags = [...compile, ...link];

/** The compiler with which the addon is built, if there is one. */
export async function findCompiler(): Promise<Compiler | undefined> {
  for (const compiler of compilerCandidates(process.env)) {
    if ((await compilerVersion(compiler)) === undefined) continue;
    if ((await compilerProblem(compiler, flags)) === undefined) return compiler;
  }
  return undefined;
}

/** What each function of a library gives. */
export type Functions = ReadonlyMap<string, number>;

/** Builds a library of functions without arguments that each give a number. */
export async function buildStub(compiler: Compiler, functions: Functions): Promise<string> {
  const folder = temporaryFolder();
  const source = join(folder, "stub.cc");
  const library = join(folder, "stub.so");
  const lines = Array.from(functions, ([name, value]) => {
    return `extern "C" __attribute__((visibility("default"))) unsigned ${name}() { return ${value}; }`;
  });
  writeFileSync(source, `${lines.join("\n")}\n`);
  const { ok, output } = await runCompiler(compiler, [...compile, source, ...link, "-o", library]);
  if (!ok) throw new Error(output);
  return library;
}
