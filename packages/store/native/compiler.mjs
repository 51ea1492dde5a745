// Finding a C++ compiler. Plain Node without dependencies: the set-up of the workspace asks here as well.
import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, isAbsolute, join } from "node:path";

/** A compiler that takes longer than this for one file hangs. */
const compilerLimitMs = 300_000;

/**
 * One command that may be a C++ compiler.
 * @typedef {object} Compiler
 * @property {string} name As the user would write it, for instance `g++` or `ccache clang++`.
 * @property {string} command
 * @property {readonly string[]} args Arguments that come before all others.
 */

/**
 * @typedef {object} CommandResult
 * @property {boolean} ok
 * @property {string} output stdout and stderr together.
 */

/** @typedef {Readonly<Record<string, string | undefined>>} Environment */

/**
 * What to try, in this order. CXX may hold arguments, as make allows.
 * @param {Environment} env
 * @returns {Compiler[]}
 */
export function compilerCandidates(env) {
  const names = [env["CXX"]?.trim() ?? "", "g++", "clang++", "c++"].filter((name) => name !== "");
  return [...new Set(names)].map((name) => {
    const [command = name, ...args] = name.split(/\s+/);
    return { name, command, args };
  });
}

/**
 * Which of the candidates are there, and which files they are: text that changes when a compiler comes, goes or is
 * replaced. Runs nothing, so that a set-up with nothing to do stays fast.
 * @param {Environment} env
 * @returns {string}
 */
export function compilersPresent(env) {
  const folders = (env["PATH"] ?? "").split(delimiter);
  return compilerCandidates(env)
    .map(({ name, command }) => {
      const paths = isAbsolute(command) ? [command] : folders.map((folder) => join(folder, command));
      for (const path of paths) {
        const found = statSync(path, { throwIfNoEntry: false });
        if (found?.isFile() === true) return `${name} ${path} ${found.size} ${found.mtimeMs}`;
      }
      return `${name} none`;
    })
    .join("\n");
}

/**
 * Runs a compiler to its end.
 * @param {Compiler} compiler
 * @param {readonly string[]} args
 * @returns {Promise<CommandResult>}
 */
export function runCompiler({ command, args: before }, args) {
  return new Promise((settle) => {
    const child = spawn(command, [...before, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      // Messages are searched and compared, so they must not follow the user's language.
      env: { ...process.env, LC_ALL: "C" },
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (/** @type {string} */ text) => {
        output += text;
      });
    }
    // Not the option of spawn: its timer goes on when the command is not there, and keeps the process alive.
    const limit = setTimeout(() => child.kill("SIGKILL"), compilerLimitMs);
    child.on("error", (error) => {
      clearTimeout(limit);
      settle({ ok: false, output: error.message });
    });
    child.on("close", (code) => {
      clearTimeout(limit);
      settle({ ok: code === 0, output });
    });
  });
}

/**
 * What a compiler says it is, or undefined when it cannot be started.
 * @param {Compiler} compiler
 * @returns {Promise<string | undefined>}
 */
export async function compilerVersion(compiler) {
  const { ok, output } = await runCompiler(compiler, ["--version"]);
  return ok ? output.trim() : undefined;
}

/** Needs C++17, its standard library, threads and a linker: a command that exists may lack any of them. */
const probeSource = `#include <atomic>
#include <string_view>
#include <thread>
template <typename T> constexpr int width(T) { if constexpr (sizeof(T) > 4) return 8; else return 4; }
extern "C" int probe() {
  std::atomic<int> sum{0};
  std::thread([&] { sum += width(1L) + int(std::string_view("probe").size()); }).join();
  return sum;
}
`;

/**
 * Why a compiler cannot make a shared library of C++17, or undefined when it can. Tries it with the flags to be used.
 * @param {Compiler} compiler
 * @param {readonly string[]} flags
 * @returns {Promise<string | undefined>}
 */
export async function compilerProblem(compiler, flags) {
  const folder = mkdtempSync(join(tmpdir(), "moraine-compiler-"));
  try {
    const source = join(folder, "probe.cc");
    writeFileSync(source, probeSource);
    const library = join(folder, "probe.node");
    const { ok, output } = await runCompiler(compiler, [...flags, source, "-o", library]);
    if (ok && existsSync(library)) return undefined;
    const lines = output.trim().split("\n");
    return (
      (lines.find((line) => /error|cannot|not found/i.test(line)) ?? lines[0] ?? "").slice(0, 200) || "makes nothing"
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
